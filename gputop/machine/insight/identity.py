"""Whether processes are still the same ones: their start times in /proc."""

from collections.abc import Iterable

from gputop.core.insight.member import Member
from gputop.machine.proc.procfs import GONE, Reader
from gputop.machine.proc.stat import ProcessStat, parse_stat


def stat_of(proc: Reader, member: Member) -> ProcessStat | None:
    """Return the state of a process; None if it has ended, or if its pid belongs to another one. Raises OSError."""
    try:
        stat = parse_stat(proc.read(f"{member.pid}/stat"))
    except GONE:
        return None
    return stat if stat is not None and stat.start_ticks == member.start_ticks else None


def ended(proc: Reader, members: Iterable[Member]) -> frozenset[int]:
    """Return the pids of processes that have ended. A process without a known start time counts as ended."""
    return frozenset(member.pid for member in members if not is_same(proc, member))


def is_same(proc: Reader, member: Member) -> bool:
    """Return whether the pid still belongs to the member."""
    try:
        return stat_of(proc, member) is not None
    except OSError:
        return False  # a process that cannot be identified is not asked
