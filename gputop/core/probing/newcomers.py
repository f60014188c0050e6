"""Users of a GPU that prevent or interrupt its test."""

from collections.abc import Collection, Iterator
from typing import Final

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Gpu, GpuProcess, HostProcess, Presence, Readings, Sample
from gputop.core.model.units import bytes_text
from gputop.core.text.text import clean

_USED_BYTES: Final = 500 << 20
_USED_SHARE: Final = 0.02
_BUSY_PERCENT: Final = 5


def users(sample: Sample, gpu: Gpu, own: Collection[int], instance: int | None = None) -> tuple[str, ...]:
    """Return the users of a GPU, or of one GPU instance, one line each.

    In a container the driver may list no processes; then memory in use and utilization reveal a user.
    """
    uses = _uses(sample, gpu, instance)
    found = tuple(_line(process, memory) for process, memory in uses if process.pid not in own)
    part = gpu.part(instance)
    return found or tuple(_traces(part) if part is not None else ())


def newcomers(
    sample: Sample, gpu: Gpu, own: Collection[int], known: Collection[ProcessId], instance: int | None = None
) -> tuple[str, ...]:
    """Return the new users of a GPU, one line each. ``own``: pids of gputop and its workers, excluded with children.

    Processes outside of this PID namespace are left out: they may be our workers under another pid.
    """
    return tuple(
        _line(process, memory)
        for process, memory in _uses(sample, gpu, instance)
        if process.presence is Presence.ALIVE
        and process.id not in known
        and not {process.pid, process.parent_pid} & set(own)
    )


def _uses(sample: Sample, gpu: Gpu, instance: int | None) -> Iterator[tuple[HostProcess, int]]:
    """Yield the processes on a GPU, or on an instance of it, with their memory there."""
    for process in sample.processes:
        uses = [use for use in process.gpus if use.gpu == gpu.uuid and _is_on(use, instance)]
        if uses:
            yield process, sum(use.memory_bytes or 0 for use in uses)


def _is_on(use: GpuProcess, instance: int | None) -> bool:
    """Say whether a process may be on an instance; without a reported instance it may be on any."""
    return instance is None or use.gpu_instance in (None, instance)


def _line(process: HostProcess, memory: int) -> str:
    who = clean(process.user or "unknown user")
    what = clean(process.command or process.presence.text)[:60]
    return f"pid {process.pid}, {who}, {bytes_text(memory)}, {what}"


def _traces(gpu: Readings) -> Iterator[str]:
    used, total, busy = gpu[MEMORY_USED], gpu[MEMORY_TOTAL], gpu[GPU_UTILIZATION]
    if used is not None and used > _USED_BYTES + _USED_SHARE * (total or 0):
        yield f"{bytes_text(used)} of its memory are in use by no listed process"
    if busy is not None and busy > _BUSY_PERCENT:
        yield f"its utilization is {busy} % without any listed process"
