"""The environment and identity of a member, as far as the sources need them."""

from collections.abc import Collection

from gputop.core.insight.member import Member
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.stat import parse_stat


def variables(proc: Proc, pid: int, names: Collection[str]) -> dict[str, str]:
    """Return variables from the environment with which a process was started. Raises OSError.

    A program that sets them later does not change /proc/PID/environ.
    """
    pairs = (
        entry.decode("utf-8", "surrogateescape").partition("=") for entry in proc.read(f"{pid}/environ").split(b"\0")
    )
    return {name: value for name, equals, value in pairs if equals and name in names}


def is_same(proc: Proc, member: Member) -> bool:
    """Return whether the pid still belongs to the member."""
    try:
        stat = parse_stat(proc.read(f"{member.pid}/stat"))
    except OSError:
        return False
    return stat is not None and member.start_ticks in {None, stat.start_ticks}
