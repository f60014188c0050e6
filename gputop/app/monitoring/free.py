"""Free: the GPUs that are free."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import OK, UNKNOWN
from gputop.app.monitoring.frames import open_source
from gputop.app.monitoring.pick import require_all_processes
from gputop.app.terminal import print_json, warn
from gputop.core.model.sample import Frame
from gputop.core.model.units import bytes_text, percent_text
from gputop.core.monitor import Monitor
from gputop.core.query.free import Vacancies, summary, vacancies
from gputop.core.query.place import Candidate
from gputop.core.query.selection import NO_ANSWER, why_no_gpus
from gputop.core.text.text import clean
from gputop.report.grid import Cell, Layout, draw, look

_NONE_FREE: Final = 1
_TITLES: Final = ("GPU", "NAME", "FREE", "UTIL", "PROCESSES")


class FreeRequest(Struct, frozen=True, kw_only=True):
    """A question for the free GPUs. ``waits``: until one is free."""

    backend: BackendRequest
    waits: bool = False
    format: str = "table"


def free_gpus(request: FreeRequest) -> int:
    """Read twice, or until a GPU is free; print the free ones, and return the exit status."""
    backend = request.backend
    require_all_processes(backend, "free")
    step = Monitor(open_source(backend, is_once=True)).step
    found, problem = surveyed(step, lambda: time.sleep(backend.every_s), warn, waits=request.waits)
    if request.format == "json":
        print_json(found)
    elif found.free:
        print("\n".join(_table(found.free)))
    if found.free:
        warn(summary(found))
        return OK
    warn(_why_none(found, problem))
    return UNKNOWN if problem == NO_ANSWER else _NONE_FREE


def surveyed(
    step: Callable[[], Frame], pause: Callable[[], None], notify: Callable[[str], None], *, waits: bool
) -> tuple[Vacancies, str]:
    """Read twice; with ``waits`` until a GPU is free, and report once why none is. Return also why there is no GPU."""
    before = step()
    is_first = True
    while True:
        pause()
        now = step()
        found, problem = vacancies(before, now), "" if now.gpus else why_no_gpus(now)
        if found.free or not waits:
            return found, problem
        if is_first:
            notify(_why_none(found, problem))
            notify("waiting")
        is_first, before = False, now


def _why_none(found: Vacancies, problem: str) -> str:
    """Return that no GPU is free, and the reason for each."""
    reasons = [f"  GPU {one.place}: {one.reason}" for one in found.others]
    return "\n".join([f"no GPU is free: {problem}" if problem else summary(found), *reasons])


def _table(free: tuple[Candidate, ...]) -> list[str]:
    room, style = look(sys.stdout, os.environ)
    lines = [tuple(Cell(title) for title in _TITLES)]
    for one in free:
        texts = (
            one.place, clean(one.name), bytes_text(one.free_bytes), percent_text(one.utilization_percent),
            str(one.processes),
        )  # fmt: skip
        lines.append(tuple(Cell(text) for text in texts))
    return draw(lines, Layout(right=frozenset((2, 3, 4)), yields=1, room=room), style)
