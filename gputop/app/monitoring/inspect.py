"""Inspect: all known values of one process."""

import time
from typing import TextIO

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.choice import open_backend
from gputop.app.backend.operations.choice import open_operations
from gputop.core.inspection.inspection import Inspection
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Gpu, GpuProcess
from gputop.core.protocol.command import Inspect
from gputop.machine.nvml.driver import NoDriverError


class InspectRequest(Struct, frozen=True, kw_only=True):
    """A process. ``reveal``: show secrets. ``wait_s``: between the two readings that rates need; 0: no rates."""

    backend: BackendRequest
    pid: int
    reveal: bool = False
    wait_s: float = 1.0


class Inspected(Struct, frozen=True):
    """The newest inspection, the first one, and all GPUs of the box."""

    found: Inspection
    first: Inspection
    gpus: tuple[Gpu, ...] = ()


def inspect(request: InspectRequest) -> Inspected:
    """Inspect a process, twice if it has rates."""
    look = open_operations(request.backend).inspect
    first = look(Inspect(id="", pid=request.pid, reveal=request.reveal))
    gpus = _gpus(ProcessId(first.pid, first.start_ticks), request)
    found = first
    if gpus.uses and request.wait_s and not first.problem:
        found = look(Inspect(id="", pid=first.pid, start_ticks=first.start_ticks, reveal=request.reveal))
    return Inspected(replace(found, gpus=gpus.uses, gpu_notes=gpus.notes), first, gpus.present)


def problem(inspected: Inspected) -> str:
    """Return why there is no inspection, and the process's GPU memory if the driver still lists its pid."""
    from gputop.core.inspection.text import uses

    found = inspected.found
    rows = uses(found, inspected.gpus).rows if found.gpus else ()
    lines = [f"{row.label}: {row.text}" if row.label else row.text for row in rows]
    return "\n  ".join([f"{found.pid}: {found.problem}", *lines])


def encoded(inspected: Inspected) -> bytes:
    """Return the inspection as a line of JSON."""
    from gputop.wire.encoder import encode

    return encode(inspected.found)


def text(inspected: Inspected, out: TextIO) -> bytes:
    """Return the inspection as lines for ``out``."""
    from gputop.core.inspection.text import lines

    shown = "".join(f"{line}\n" for line in lines(inspected.found, inspected.first, inspected.gpus))
    return shown.encode(out.encoding or "utf-8", out.errors or "replace")


class _Gpus(Struct, frozen=True):
    """The GPU use of a process, the reasons of missing values, and all GPUs."""

    uses: tuple[GpuProcess, ...] = ()
    notes: tuple[str, ...] = ()
    present: tuple[Gpu, ...] = ()


def _gpus(process: ProcessId, request: InspectRequest) -> _Gpus:
    from gputop.core.processes.gpu_use import uses_of

    try:
        source = open_backend(request.backend).source(is_once=True)
    except NoDriverError as error:
        return _Gpus(notes=(str(error),))
    sample = source.read()
    if request.wait_s and any(each.id == process for each in sample.processes):
        time.sleep(request.wait_s)
        sample = source.read()
    uses, notes = uses_of(sample, process)
    return _Gpus(uses, notes, sample.gpus)
