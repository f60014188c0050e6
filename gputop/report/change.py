"""The targets and outcome of a change as lines of text."""

from collections.abc import Iterator, Sequence

from gputop.core.model.sample import HostProcess, Presence
from gputop.core.model.units import NOTHING, bytes_text, duration_text
from gputop.core.protocol.outcome import Outcome, Status
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, Style, cut, draw, paint

_TITLES = ("PID", "USER", "AGE", "GPU", "GPU-MEM", "COMMAND")
_LEFT = frozenset({1, 3, 5})


def plan(what: str, processes: Sequence[HostProcess], time_s: float, room: int | None, style: Style) -> list[str]:
    """Return the targets: a summary line, then one line per process. ``time_s``: of the frame, for ages."""
    lines = [tuple(Cell(title, Tone.NONE) for title in _TITLES)]
    lines += [_cells(process, time_s) for process in processes]
    right = frozenset(range(len(_TITLES))) - _LEFT
    drawn = draw(lines, Layout(right=right, yields=len(_TITLES) - 1, room=room), style)
    return [cut(_head(what, processes), room), *(drawn if processes else [])]


def ended(outcome: Outcome, style: Style) -> Iterator[str]:
    """Return the outcome: one line per process, notes on all of them, and the totals."""
    for result in outcome.results:
        tone = Tone.OK if result.status is Status.DONE else Tone.HOT
        yield paint(clean(f"{result.subject}: {result.text}"), tone, style)
    if outcome.note:
        yield paint(clean(outcome.note), Tone.WARM, style)
    yield clean(outcome.summary)


def counted(count: int) -> str:
    """Return ``1 process``, ``2 processes``."""
    return f"{count} process{'' if count == 1 else 'es'}"


def _head(what: str, processes: Sequence[HostProcess]) -> str:
    users = sorted({clean(process.user or NOTHING) for process in processes})
    held = bytes_text(sum(_memory(process) or 0 for process in processes))
    who = f" of {', '.join(users)}, {held} of GPU memory" if processes else ""
    return f"{what}: {counted(len(processes))}{who}"


def _cells(process: HostProcess, time_s: float) -> tuple[Cell, ...]:
    age = None if process.started_s is None else max(0.0, time_s - process.started_s)
    gpus = ",".join(str(index) for index in sorted({use.gpu_index for use in process.gpus}))
    command = process.command if process.presence is Presence.ALIVE else process.presence.text
    texts = (process.pid, process.user or NOTHING, duration_text(age), gpus, bytes_text(_memory(process)), command)
    return tuple(Cell(clean(str(text))) for text in texts)


def _memory(process: HostProcess) -> int | None:
    """Return the GPU memory of a process on all GPUs; None if unknown on all."""
    known = [use.memory_bytes for use in process.gpus if use.memory_bytes is not None]
    return sum(known) if known else None
