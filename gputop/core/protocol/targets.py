"""The targets of a change, in order: parents before their children."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from gputop.core.model.sample import HostProcess
from gputop.core.protocol.command import Target, target

_MOST_NAMED: Final = 6


def targets(processes: Iterable[HostProcess]) -> tuple[Target, ...]:
    """Return processes as targets, parents before their children, else in the order given."""
    return tuple(map(target, parents_first(processes)))


def parents_first(processes: Iterable[HostProcess]) -> tuple[HostProcess, ...]:
    """Return processes in the order given, but parents before their children."""
    held = tuple(processes)
    parents = {process.pid: process.parent_pid for process in held}
    return tuple(sorted(held, key=lambda process: _depth(process.pid, parents)))


def users_text(processes: Iterable[HostProcess]) -> str:
    """Return ``2 users: alice 2, bob 1``, the user with the most processes first; empty for a single user."""
    counts = Counter(process.user or "unknown" for process in processes).most_common()
    named = ", ".join(f"{user} {count}" for user, count in counts[:_MOST_NAMED])
    more = f", {len(counts) - _MOST_NAMED} more" if len(counts) > _MOST_NAMED else ""
    return f"{len(counts)} users: {named}{more}" if len(counts) > 1 else ""


def _depth(pid: int, parents: dict[int, int | None]) -> int:
    """Return the number of a process's ancestors in ``parents``."""
    seen: set[int] = set()
    parent = parents.get(pid)
    while parent is not None and parent in parents and parent not in seen:
        seen.add(parent)
        parent = parents[parent]
    return len(seen)
