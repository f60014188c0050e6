"""The process whose memory grows on a GPU, by what each held when the growth began."""

from collections.abc import Iterator

from gputop.core.detection.detector import Context
from gputop.core.model.sample import GpuProcess, HostProcess

Where = tuple[str, int | None]  # a GPU, and one of its instances


class Growers:
    """The memory that each process held on a GPU or instance at one time."""

    def __init__(self, where: Where, context: Context) -> None:
        self._where = where
        self._held = {process.id: use.memory_bytes or 0 for process, use in _users(where, context)}

    def most(self, context: Context) -> tuple[HostProcess, GpuProcess] | None:
        """Return the process with more than half of the growth since then; None if no process has so much."""
        grown = [
            ((use.memory_bytes or 0) - self._held.get(process.id, 0), process, use)
            for process, use in _users(self._where, context)
        ]
        rises = [one for one in grown if one[0] > 0]
        if not rises:
            return None
        rise, process, use = max(rises, key=lambda one: one[0])
        return (process, use) if 2 * rise > sum(one[0] for one in rises) else None


def _users(where: Where, context: Context) -> Iterator[tuple[HostProcess, GpuProcess]]:
    for process in context.sample.processes:
        for use in process.gpus:
            if (use.gpu, use.gpu_instance) == where:
                yield process, use
