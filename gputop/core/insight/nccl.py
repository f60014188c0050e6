"""The judgement of two answers of NCCL's RAS service: which ranks move, are behind or missing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.insight.collectives import CollectiveGroup, Collectives, RankCount
from gputop.core.insight.explanation import ClaimKind, InsightClaim
from gputop.core.insight.operation import operation_text
from gputop.core.insight.ras_answer import RasAnswer, RasCommunicator, RasRank, host_text
from gputop.core.text.text import excerpt

_POINT_TO_POINT: Final = frozenset({"Send", "Recv"})  # ranks need not have the same number of these
_MOST_GROUPS: Final = 32
_MOST_RANKS: Final = 1024
_MOST_CLAIMS: Final = 64


class RasJudgement(Struct, frozen=True):
    """The groups and claims. ``is_of_members``: whether an answer is about a member at all."""

    collectives: Collectives
    claims: tuple[InsightClaim, ...]
    is_of_members: bool


class _Behind(Struct, frozen=True):
    """The ranks that have not entered an operation, and those that wait in it. ``counted``: its name in the counts."""

    counted: str
    operation: str
    behind: tuple[RasRank, ...]
    waiting: tuple[RasRank, ...]


def judge_ras(first: RasAnswer, last: RasAnswer, members: Mapping[int, int]) -> RasJudgement:
    """Judge two answers, some seconds apart. ``members``: their pids by the pid in their own PID namespace.

    A communicator that moves, or whose processes move elsewhere, has no ranks behind: their counts differ by chance.
    """
    people = _People(last, members)
    before = {each.key: each for each in first.communicators}
    moves = {each.key: _is_moving(before.get(each.key), each) for each in last.communicators}
    everyone = {rank.process for each in last.communicators for rank in each.ranks}
    moving = {rank.process for each in last.communicators if moves[each.key] for rank in each.ranks}
    groups: list[CollectiveGroup] = []
    claims = people.of(ClaimKind.MOVES, moving) + people.of(ClaimKind.STANDS, everyone - moving)
    for communicator in last.communicators:
        is_still = moves[communicator.key] is False and not any(rank.process in moving for rank in communicator.ranks)
        gap = _behind(communicator.ranks) if is_still else None
        groups.append(_group(communicator, gap, is_moving=moves[communicator.key]))
        claims += people.claims(ClaimKind.MISSING, communicator.missing_ranks)
        if gap:
            claims += people.claims(ClaimKind.BEHIND, gap.behind, gap.operation)
            claims += people.claims(ClaimKind.WAITS, gap.waiting, gap.operation)
    groups.sort(key=lambda group: (not group.missing, not group.behind, -group.size))
    return RasJudgement(Collectives(groups=tuple(groups[:_MOST_GROUPS])), _distinct(claims), people.is_of_members)


class _People:
    """The ranks as members, or as ranks of the whole job for other hosts."""

    def __init__(self, answer: RasAnswer, members: Mapping[int, int]) -> None:
        world = max(answer.communicators, key=lambda each: each.size, default=RasCommunicator())
        self._world = {rank.process: rank.rank for rank in (*world.ranks, *world.missing_ranks) if rank.pid > 0}
        self._unnamed = {(rank.rank, rank.host) for rank in (*world.ranks, *world.missing_ranks) if rank.pid <= 0}
        processes = {rank.process for each in answer.communicators for rank in (*each.ranks, *each.missing_ranks)}
        hosts = [host for host, pid in processes if pid in members]
        here = max(sorted(set(hosts)), key=hosts.count, default=None)
        self._pids = {
            process: members[process[1]] for process in processes if process[0] == here if process[1] in members
        }
        self.is_of_members = bool(self._pids)

    def of(self, kind: ClaimKind, processes: Iterable[tuple[str, int]]) -> list[InsightClaim]:
        """Return a claim about processes."""
        return self.claims(
            kind, [RasRank(rank=self._world.get(each, -1), host=each[0], pid=each[1]) for each in processes]
        )

    def claims(self, kind: ClaimKind, ranks: Sequence[RasRank], operation: str = "") -> list[InsightClaim]:
        """Return a claim about ranks of a communicator, or nothing if there are none.

        A rank of a smaller communicator is not the rank of the job, so that of the largest one is taken.
        """
        pids = sorted({self._pids[rank.process] for rank in ranks if rank.process in self._pids})
        others = sorted(
            {
                (number, host_text(rank))
                for rank in ranks
                if rank.process not in self._pids
                if (number := self._rank(rank)) >= 0
            }
        )[:_MOST_RANKS]
        if not pids and not others:
            return []
        numbers, hosts = tuple(number for number, _ in others), tuple(host for _, host in others)
        return [InsightClaim(kind=kind, pids=tuple(pids), ranks=numbers, hosts=hosts, operation=operation)]

    def _rank(self, rank: RasRank) -> int:
        if rank.pid <= 0:
            return rank.rank if (rank.rank, rank.host) in self._unnamed else -1
        return self._world.get(rank.process, -1)


def _is_moving(before: RasCommunicator | None, now: RasCommunicator) -> bool | None:
    if before is None:
        return None
    counts = {rank.rank: rank.total for rank in before.ranks}
    return any(rank.total != counts.get(rank.rank, rank.total) for rank in now.ranks)


def _behind(ranks: Sequence[RasRank]) -> _Behind | None:
    """Return the gap in the operation whose counts differ most; None if all ranks have entered the same ones."""
    names = {name for rank in ranks for name in rank.collective_counts} - _POINT_TO_POINT
    widest: tuple[int, str] = (0, "")
    for name in sorted(names):
        counts = [rank.collective_counts.get(name, 0) for rank in ranks]
        widest = max(widest, (max(counts) - min(counts), name))
    gap, name = widest
    if not gap:
        return None
    most = max(rank.collective_counts.get(name, 0) for rank in ranks)
    late = tuple(rank for rank in ranks if rank.collective_counts.get(name, 0) < most)
    least = min(rank.collective_counts.get(name, 0) for rank in late)
    waiting = tuple(rank for rank in ranks if rank.collective_counts.get(name, 0) == most)
    return _Behind(name, operation_text(name, least + 1), late, waiting)


def _group(communicator: RasCommunicator, gap: _Behind | None, *, is_moving: bool | None) -> CollectiveGroup:
    counted = gap.counted if gap else ""
    return CollectiveGroup(
        name=excerpt(str(communicator.hash), 40),
        size=communicator.size,
        ranks=tuple(_count(rank, counted) for rank in communicator.ranks[:_MOST_RANKS]),
        missing=tuple(_count(rank) for rank in communicator.missing_ranks[:_MOST_RANKS]),
        behind=tuple(rank.rank for rank in gap.behind[:_MOST_RANKS]) if gap else (),
        is_moving=is_moving,
    )


def _count(rank: RasRank, counted: str = "") -> RankCount:
    """Return how many operations a rank has entered. ``counted``: only those with this name, as others may differ."""
    entered = rank.collective_counts.get(counted, 0) if counted else rank.total
    return RankCount(
        rank=rank.rank,
        entered=entered if rank.collective_counts else None,
        operation=operation_text(counted),
        host=host_text(rank),
        pid=rank.pid if rank.pid > 0 else None,
        status=rank.status.text,
    )


def _distinct(claims: Iterable[InsightClaim]) -> tuple[InsightClaim, ...]:
    """Return the claims without repetitions: a process may be missing in many communicators."""
    return tuple(dict.fromkeys(claims))[:_MOST_CLAIMS]
