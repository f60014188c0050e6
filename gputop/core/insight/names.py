"""Names of processes in an explanation: by rank, or by pid if they have none."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.insight.member import Member
from gputop.core.text.ranges import ranges

_MOST_NAMED: Final = 4


class Who(Struct, frozen=True):
    """Processes of a job. ``pids``: members; ``far``: ranks that are no members, with their hosts if known."""

    pids: tuple[int, ...] = ()
    far: tuple[tuple[int, str], ...] = ()

    @property
    def count(self) -> int:
        """The number of processes."""
        return len(self.pids) + len(self.far)

    def minus(self, other: "Who") -> "Who":
        """Return those that are not in another set."""
        return Who(
            tuple(pid for pid in self.pids if pid not in other.pids),
            tuple(rank for rank in self.far if rank not in other.far),
        )

    def plus(self, other: "Who") -> "Who":
        """Return the processes of both, each once."""
        rest = other.minus(self)
        return Who((*self.pids, *rest.pids), (*self.far, *rest.far))


class Names:
    """The names of members. A rank that several members have names none of them. ``most``: numbers or ranges."""

    def __init__(self, members: Sequence[Member], most: int | None = _MOST_NAMED) -> None:
        self._most = most
        shared = Counter(member.rank for member in members)
        self._ranks = {member.pid: member.rank for member in members if shared[member.rank] == 1}
        self.are_ranks = len(members) > 0 and all(self._ranks.get(member.pid) is not None for member in members)

    @property
    def noun(self) -> str:
        """Return ``rank``, or ``process`` if a member has no rank."""
        return "rank" if self.are_ranks else "process"

    def of(self, who: Who) -> str:
        """Return ``rank 5``, ``ranks 0-4, 7 and 2 more``, ``pid 4711``, ``rank 12 on node3``."""
        near = sorted(rank for pid in who.pids if (rank := self._ranks.get(pid)) is not None)
        pids = sorted(pid for pid in who.pids if self._ranks.get(pid) is None)
        far = sorted(who.far)
        hosts = {host for _, host in far}
        if near and far and hosts == {""}:
            near, far = sorted({*near, *(rank for rank, _ in far)}), []
        parts = [ranks_text(near, self._most), _listed("pid", pids, pids, self._most)]
        for host in sorted(hosts if far else ()):
            text = ranks_text([rank for rank, there in far if there == host], self._most)
            parts.append(f"{text} on {host}" if host else text)
        return _joined([part for part in parts if part])


def ranks_text(ranks: Sequence[int], most: int | None = None) -> str:
    """Return ``rank 5``, ``ranks 0-4 and 7``; empty without ranks. ``ranks``: sorted; ``most``: parts to name."""
    return _listed("rank", ranks, ranges(ranks, " ").split(), most)


def _listed(noun: str, numbers: Sequence[int], parts: Sequence[object], most: int | None) -> str:
    if not numbers:
        return ""
    named = [str(part) for part in parts[:most]]
    more = sum(number > int(named[-1].rpartition("-")[2]) for number in numbers)
    return f"{noun}{'' if len(numbers) == 1 else 's'} {_joined([*named, *([f'{more} more'] if more else [])])}"


def _joined(parts: Iterable[str]) -> str:
    *first, last = (*parts,) or ("",)
    return f"{', '.join(first)} and {last}" if first else last
