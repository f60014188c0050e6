"""A process to explain."""

from gputop.core.model.process_id import ProcessId


class Member(ProcessId, frozen=True, kw_only=True, omit_defaults=True):
    """A process to explain. ``rank``: of its job, if it is known; ``gpus``: the indices of its GPUs."""

    rank: int | None = None
    gpus: tuple[int, ...] = ()
    name: str = ""
    user: str | None = None

    @property
    def label(self) -> str:
        """Return ``rank 5``, or ``pid 4711`` for a process without a rank."""
        return f"pid {self.pid}" if self.rank is None else f"rank {self.rank}"
