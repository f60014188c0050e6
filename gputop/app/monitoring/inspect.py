"""Inspect: all that is known about one process."""

import time
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.choice import open_backend
from gputop.app.backend.operations.choice import open_operations
from gputop.app.errors import NONE, OK, UNKNOWN
from gputop.app.terminal import print_json, warn
from gputop.core.inspection.inspection import Inspection
from gputop.core.inspection.text import lines, uses
from gputop.core.model.process_id import ProcessId
from gputop.core.model.progress import Progress
from gputop.core.model.sample import Gpu, GpuProcess
from gputop.core.processes.gpu_use import uses_of
from gputop.core.protocol.command import Inspect
from gputop.machine.nvml.driver import NoDriverError


class InspectRequest(Struct, frozen=True, kw_only=True):
    """A process. ``reveal``: show secrets. ``wait_s``: between the two readings that rates need; 0: no rates."""

    demo: str | None = None
    pid: int
    reveal: bool
    wait_s: float
    is_json: bool


def inspect(request: InspectRequest) -> int:
    """Inspect a process, twice if it has rates; print it and return the exit status."""
    look = open_operations(BackendRequest(demo=request.demo)).inspect
    first = look(Inspect(id="", pid=request.pid, reveal=request.reveal))
    sampled = _sampled(ProcessId(first.pid, first.start_ticks), request)
    found = first
    if sampled.uses and request.wait_s and not first.problem:
        found = look(Inspect(id="", pid=first.pid, start_ticks=first.start_ticks, reveal=request.reveal))
    found = replace(found, gpus=sampled.uses, gpu_notes=sampled.notes, progress=sampled.progress)
    if request.is_json:
        print_json(found)
    elif found.problem:
        warn(_problem(found, sampled.gpus))
    else:
        print("\n".join(lines(found, first, sampled.gpus)))
    if not found.problem:
        return OK
    return NONE if found.has_ended else UNKNOWN


def _problem(found: Inspection, present: Sequence[Gpu]) -> str:
    """Return why nothing is known of the process, and what it holds if the driver lists its pid all the same."""
    rows = uses(found, present).rows if found.gpus else ()
    held = [f"{row.label}: {row.text}" if row.label else row.text for row in rows]
    return "\n  ".join([f"{found.pid}: {found.problem}", *held])


class _Sampled(Struct, frozen=True, kw_only=True):
    """What a sample says of the process: its uses of GPUs, what is not known of them, its progress; and all GPUs."""

    uses: tuple[GpuProcess, ...] = ()
    notes: tuple[str, ...] = ()
    progress: Progress | None = None
    gpus: tuple[Gpu, ...] = ()


def _sampled(process: ProcessId, request: InspectRequest) -> _Sampled:
    try:
        source = open_backend(BackendRequest(demo=request.demo)).source(is_once=True)
    except NoDriverError as error:
        return _Sampled(notes=(str(error),))
    sample = source.read()
    if request.wait_s and any(each.id == process for each in sample.processes):
        time.sleep(request.wait_s)
        sample = source.read()
    used, notes = uses_of(sample, process)
    progress = next((each.progress for each in sample.processes if each.id == process), None)
    return _Sampled(uses=used, notes=notes, progress=progress, gpus=sample.gpus)
