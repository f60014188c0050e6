"""The parts of the benchmark: each measures all programs and returns a table and its values."""

import argparse
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, Final, TypeVar

import screen
import snapshot
from msgspec import Struct
from terminal import COLUMNS, ROWS, EndedError, Terminal

T = TypeVar("T")
HANGS: Final = ", a driver call hangs"


class Program(Struct, frozen=True):
    """A program and the arguments that make it print once, or show a screen once a second; None if it cannot."""

    name: str
    once: tuple[str, ...] | None
    screen: tuple[str, ...] | None
    path: str = ""


class Box(Struct, frozen=True):
    """The host to measure on. ``pids``: of the processes on its GPUs."""

    gpus: tuple[str, ...]
    driver: str
    pids: frozenset[int]


class Measured(Struct, frozen=True):
    """A table for people and its values for programs."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    values: dict[str, Any]


def snapshots(options: argparse.Namespace, _: Box, programs: Sequence[Program]) -> Measured:
    """Measure the cost of a snapshot."""
    commands = {"python -c pass": (sys.executable, "-c", "pass"), "bare pynvml script": options.bare}
    commands |= {p.name: (p.path, *p.once) for p in programs if p.once is not None}
    values = snapshot.measure(commands, options.rounds, options.once_limit)
    if options.hang:
        del commands["python -c pass"]
        with _hanging(options):
            hung = snapshot.measure(commands, 1, options.once_limit, uncounted=0)
        values |= {name + HANGS: value for name, value in hung.items()}
    ours = values.get("gputop")
    rows = [
        (
            name,
            f"{v.cpu_ms:.1f}",
            f"{v.least_ms:.1f} to {v.most_ms:.1f}",
            f"{v.wall_ms:.0f}",
            _ratio(ours.cpu_ms if ours and not name.endswith(HANGS) else None, v.cpu_ms),
        )
        if not v.status
        else (f"{name}: {_failure(v.status)}", "", "", "", "")
        for name, v in values.items()
    ]
    header = ("once", "CPU ms", "range", "wall ms", "gputop ÷ this")
    return Measured(f"Snapshot: median of {options.rounds} interleaved runs", header, rows, values)


def screens(options: argparse.Namespace, _: Box, programs: Sequence[Program]) -> Measured:
    """Measure the cost of a screen."""

    def watch(terminal: Terminal) -> screen.Running:
        return screen.running(terminal, options.seconds)

    values = _warmed_up(options, programs, watch)
    ours = values.get("gputop")
    rows = [
        (
            name,
            f"{v.cpu_percent:.2f}",
            f"{v.pss_bytes / 2**20:.1f}",
            f"{v.written_bytes_per_s:.0f}",
            _ratio(ours.cpu_percent if ours else None, v.cpu_percent),
            _ratio(ours.pss_bytes if ours else None, v.pss_bytes),
        )
        for name, v in values.items()
    ]
    title = f"Screen: {options.seconds:g} s after {options.warm_up:g} s, {COLUMNS}x{ROWS}, every {options.interval:g} s"
    header = ("screen", "CPU % of a core", "PSS MiB", "bytes/s", "CPU: gputop ÷ this", "PSS: gputop ÷ this")
    return Measured(title, header, rows, values)


def first_frames(options: argparse.Namespace, box: Box, programs: Sequence[Program]) -> Measured:
    """Measure the time to the first complete screen."""
    held: dict[str, list[float | None]] = {p.name: [] for p in programs if p.screen is not None}
    for _ in range(options.first_rounds):
        for p in programs:
            if p.screen is not None:
                held[p.name].append(screen.first_frame_s((p.path, *p.screen), box.pids, options.first_limit))
    for p in programs if options.hang else ():
        if p.screen is not None:
            with _hanging(options):
                time_s = screen.first_frame_s((p.path, *p.screen), box.pids, options.first_limit)
            held[p.name + HANGS] = [time_s]
    rows = []
    for name, times in held.items():
        known = sorted(time_s * 1000 for time_s in times if time_s is not None)
        text = (f"{median(known):.0f}", f"{known[0]:.0f} to {known[-1]:.0f}") if known else ("never", "")
        rows.append((name, *text, f"{len(known)} of {len(times)}"))
    title = "First full frame: from exec until the table's header, a GPU and a process are on the screen"
    return Measured(title, ("screen", "median ms", "range", "seen in"), rows, held)


def key_presses(options: argparse.Namespace, box: Box, programs: Sequence[Program]) -> Measured:
    """Measure the response time to a key; with ``hang``, once more while a driver call hangs."""

    def press(terminal: Terminal) -> screen.Keys:
        terminal.type(options.open)
        return screen.keys(terminal, options.presses, len(box.pids))

    def press_while_hung(terminal: Terminal) -> screen.Keys:
        with _hanging(options):
            terminal.run(options.warm_up)
            return press(terminal)

    values = _warmed_up(options, programs, press)
    if options.hang:
        hung = _warmed_up(options, programs, press_while_hung)
        values |= {name + HANGS: value for name, value in hung.items()}
    rows = [
        (name, *map(_number, (v.median_ms, v.p95_ms, v.most_ms)), f"{v.unanswered} of {v.presses}")
        for name, v in values.items()
    ]
    title = "Key press to repaint: Down and Up, 50 to 200 ms apart"
    return Measured(title, ("screen", "median ms", "p95 ms", "most ms", "unanswered"), rows, values)


PARTS: Final[dict[str, Callable[[argparse.Namespace, Box, Sequence[Program]], Measured]]] = {
    "snapshot": snapshots,
    "screen": screens,
    "first": first_frames,
    "keys": key_presses,
}


def _warmed_up(
    options: argparse.Namespace, programs: Sequence[Program], measure: Callable[[Terminal], T]
) -> dict[str, T]:
    """Measure each program in a terminal of its own, one after the other; one that ends early is left out."""
    values = {}
    for program in programs:
        if program.screen is None:
            continue
        terminal = Terminal((program.path, *program.screen))
        try:
            terminal.run(options.warm_up)
            values[program.name] = measure(terminal)
        except EndedError as error:
            print(f"bench: {program.name}: {error}", file=sys.stderr)
        finally:
            terminal.close()
    return values


@contextmanager
def _hanging(options: argparse.Namespace) -> Iterator[None]:
    """Make a driver call hang for this long."""
    subprocess.run(["/bin/sh", "-c", options.hang], check=True)
    try:
        yield
    finally:
        if options.heal:
            subprocess.run(["/bin/sh", "-c", options.heal], check=True)


def _failure(status: int) -> str:
    return "no end, killed" if status == -signal.SIGKILL else f"failed, status {status}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _ratio(ours: float | None, theirs: float) -> str:
    return f"{ours / theirs:.2f}" if ours and theirs else ""
