"""Who a process is."""

from msgspec import Struct


class ProcessId(Struct, frozen=True, gc=False):
    """Pid and start time in clock ticks since boot: cannot be confused with the pid's next owner."""

    pid: int
    start_ticks: int | None
