"""The identity of a process."""

from msgspec import Struct


class ProcessId(Struct, frozen=True, gc=False):
    """Pid and start time in clock ticks since boot: a later process of the same pid has another one."""

    pid: int
    start_ticks: int | None
