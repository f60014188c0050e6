"""Cost and speed of a screen: CPU, memory, bytes, the first full frame, and a key press."""

import random
import re
import sys
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

import processes
import pyte
from msgspec import Struct
from terminal import COLUMNS, ROWS, EndedError, Terminal

_UP: Final = b"A"
_DOWN: Final = b"B"
_HEADER: Final = re.compile(r"\bcommand\b", re.IGNORECASE)
# a GPU's temperature; nvtop's degree sign is the f of the line-drawing set, which the emulator shows as that letter
_GPU_LINE: Final = re.compile(r"\d ?°C|\d\df?C\b")
_ENOUGH: Final = 5  # unanswered presses in a row after which it stops


class Running(Struct, frozen=True):
    """The cost of a running screen. ``cpu_percent``: of one core."""

    cpu_percent: float
    pss_bytes: int
    written_bytes_per_s: float


class Keys(Struct, frozen=True):
    """From a key press to the first bytes of the repaint. ``unanswered``: presses without a repaint."""

    median_ms: float | None
    p95_ms: float | None
    most_ms: float | None
    presses: int
    unanswered: int


def first_frame_s(command: Sequence[str], pids: Collection[int], limit_s: float) -> float | None:
    """Return the time from exec until the screen has the process table's header, a GPU, and one of the processes.

    The output is recorded for ``limit_s`` and shown on an emulated screen afterwards, so that the emulation costs no
    time in the measurement. None if the screen was never complete.
    """
    terminal = Terminal(command)
    try:
        terminal.run(limit_s)
    except EndedError as error:
        print(f"bench: {command[0]}: {error}", file=sys.stderr)
    finally:
        terminal.close()
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    for time_s, data in terminal.chunks:
        stream.feed(data)
        if is_full("\n".join(screen.display), pids):
            return time_s - terminal.started_s
    return None


def is_full(text: str, pids: Collection[int]) -> bool:
    """Return whether a screen shows its header, a GPU and a process."""
    numbers = {int(word) for word in text.split() if word.isdecimal()}
    has_process = not pids or not numbers.isdisjoint(pids)
    return has_process and bool(_HEADER.search(text)) and bool(_GPU_LINE.search(text))


def running(terminal: Terminal, seconds: float) -> Running:
    """Measure a program that has warmed up."""
    before_s, before_bytes, started_s = processes.cpu_s(terminal.pid), terminal.written, time.monotonic()
    terminal.run(seconds)
    length_s = time.monotonic() - started_s
    return Running(
        cpu_percent=(processes.cpu_s(terminal.pid) - before_s) / length_s * 100,
        pss_bytes=processes.pss_bytes(terminal.pid),
        written_bytes_per_s=(terminal.written - before_bytes) / length_s,
    )


def keys(terminal: Terminal, presses: int, rows: int, no_answer_s: float = 2.0) -> Keys:
    """Press Down, and Up again at the end of ``rows``, 50 to 200 ms after the last repaint, for all programs."""
    chance = random.Random(1)  # noqa: S311 - the same for all programs
    next_key = _zigzag(rows)
    for _ in range(2):  # the first press may only show the cursor
        terminal.press_arrow(_DOWN)
        terminal.run(0.2)
    delays_ms: list[float] = []
    unanswered = in_a_row = 0
    while len(delays_ms) + unanswered < presses and in_a_row < _ENOUGH:
        terminal.run(chance.uniform(0.05, 0.2))
        pressed_s = terminal.press_arrow(next_key())
        answered_s = terminal.wait(no_answer_s)
        if answered_s is None:
            unanswered, in_a_row = unanswered + 1, in_a_row + 1
        else:
            delays_ms.append((answered_s - pressed_s) * 1000)
            in_a_row = 0
    return _summary(sorted(delays_ms), unanswered)


def _summary(delays_ms: Sequence[float], unanswered: int) -> Keys:
    count = len(delays_ms)
    return Keys(
        median_ms=delays_ms[count // 2] if count else None,
        p95_ms=delays_ms[min(count - 1, int(count * 0.95))] if count else None,
        most_ms=delays_ms[-1] if count else None,
        presses=count + unanswered,
        unanswered=unanswered,
    )


def _zigzag(rows: int) -> Callable[[], bytes]:
    """Return a function that gives the next key: a cursor at an end does not move, and nothing is painted."""
    length = max(1, min(rows - 3, 10))  # the list of signals has 16 lines below its first one
    count = 0

    def key() -> bytes:
        nonlocal count
        count += 1
        return _DOWN if (count - 1) // length % 2 == 0 else _UP

    return key
