"""The sums of what several processes use."""

from collections.abc import Iterable

from msgspec import Struct

from gputop.core.model.sample import GpuProcess, HostProcess


class Sums(Struct, frozen=True, kw_only=True):
    """Sums over the known values; None if none is known. ``sm_percent``: of one GPU, so 8 busy ones are 800."""

    processes: int = 0
    gpus: int = 0
    gpu_memory_bytes: int | None = None
    sm_percent: float | None = None
    cpu_percent: float | None = None
    memory_bytes: int | None = None
    gpu_seconds: float | None = None
    energy_j: float | None = None


def sums(parts: Iterable[tuple[HostProcess, GpuProcess | None]]) -> Sums:
    """Add up processes and their uses of GPUs. A process that occurs several times counts once."""
    pairs = list(parts)
    processes = {(process.pid, process.start_ticks): process for process, _ in pairs}.values()
    uses = [use for _, use in pairs if use]
    return Sums(
        processes=len(processes),
        gpus=len({use.gpu for use in uses}),
        gpu_memory_bytes=_whole(use.memory_bytes for use in uses),
        sm_percent=_sum(use.sm_percent for use in uses),
        cpu_percent=_sum(process.cpu_percent for process in processes),
        memory_bytes=_whole(process.memory_bytes for process in processes),
        gpu_seconds=_sum(use.gpu_seconds for use in uses),
        energy_j=_sum(use.energy_j for use in uses),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known), 3) if known else None


def _whole(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
