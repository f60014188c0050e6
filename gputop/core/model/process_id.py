"""The identity of a process: its pid, and the clock tick in which it started.

A pid has one owner at a time, and the kernel (since Linux 5.0) takes the start time of a process after it got its pid.
So two owners of a pid can have the same start tick (10 ms) only if the first one started and exited within that tick.
A process that started less than two ticks before the driver was asked, or later, therefore has no start tick in this
sample (`machine.processes.reader`): it has no identity, nothing can change it, and the next sample gives it one. An
identity with a start tick belongs to one process only, until the next boot, on every kernel, with pidfds or without.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_MOST_NAMED: Final = 5


class ProcessId(Struct, frozen=True, gc=False):
    """Pid and start time in clock ticks since boot; None as long as the pid may change its owner within the tick."""

    pid: int
    start_ticks: int | None


def pids_text(pids: Sequence[int]) -> str:
    """Return the first pids for a sentence, and how many more there are."""
    more = len(pids) - _MOST_NAMED
    return ", ".join(map(str, pids[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
