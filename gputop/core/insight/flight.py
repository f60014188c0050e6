"""The judgement of dumps of the Flight Recorder: which ranks never entered the collective that others wait in."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.insight.collectives import CollectiveGroup, Collectives, RankCount
from gputop.core.insight.explanation import ClaimKind, InsightClaim
from gputop.core.insight.flight_dump import FlightDump, FlightGroup
from gputop.core.insight.grouping import place_of
from gputop.core.insight.operation import operation_text

_MOST_GROUPS: Final = 32


class RankDump(Struct, frozen=True):
    """The dump of a member."""

    rank: int
    pid: int
    dump: FlightDump


def judge_flight(dumps: Sequence[RankDump], age_s: float) -> tuple[Collectives, tuple[InsightClaim, ...]]:
    """Return the groups, those with a rank behind first, and the claims. ``age_s``: of the newest dump."""
    groups: dict[str, dict[int, FlightGroup]] = {}
    for each in dumps:
        for group in each.dump.groups:
            groups.setdefault(group.name, {})[each.rank] = group
    pids = {each.rank: each.pid for each in dumps}
    found: list[CollectiveGroup] = []
    claims: list[InsightClaim] = []
    for name, by_rank in groups.items():
        first = min((group.completed + 1 for group in by_rank.values() if _waits(group)), default=None)
        behind = tuple(sorted(rank for rank, group in by_rank.items() if first is not None and group.entered < first))
        found.append(_listed(name, by_rank, pids, behind))
        if first is not None:
            claims += _claims(by_rank, pids, first, behind)
    found.sort(key=lambda group: (not group.behind, -group.size))
    return Collectives(groups=tuple(found[:_MOST_GROUPS]), age_s=age_s), tuple(dict.fromkeys(claims))


def _waits(group: FlightGroup) -> bool:
    return group.entered > group.completed


def _claims(
    by_rank: Mapping[int, FlightGroup], pids: Mapping[int, int], first: int, behind: Sequence[int]
) -> list[InsightClaim]:
    """Return the ranks that wait in the first unfinished collective, and those that have not entered it."""
    waiting = {rank: group for rank, group in by_rank.items() if _waits(group) and group.completed + 1 == first}
    operation = operation_text(next(group.operation for group in waiting.values()), first)
    places: dict[str, list[int]] = {}
    for rank, group in waiting.items():
        places.setdefault(place_of(group.frames), []).append(pids[rank])
    claims = [
        InsightClaim(kind=ClaimKind.WAITS, pids=tuple(sorted(there)), operation=operation, place=place)
        for place, there in places.items()
    ]
    if behind:
        late = tuple(sorted(pids[rank] for rank in behind))
        claims.insert(0, InsightClaim(kind=ClaimKind.BEHIND, pids=late, operation=operation))
    return claims


def _listed(
    name: str, by_rank: Mapping[int, FlightGroup], pids: Mapping[int, int], behind: tuple[int, ...]
) -> CollectiveGroup:
    ranks = tuple(
        RankCount(
            rank=rank, entered=group.entered, completed=group.completed, operation=group.operation, pid=pids[rank],
            status=group.state, frames=group.frames if _waits(group) else (),
        )
        for rank, group in sorted(by_rank.items())
    )  # fmt: skip
    known = max((group.ranks for group in by_rank.values()), key=len)
    return CollectiveGroup(name=name, size=max(len(known), len(ranks)), ranks=ranks, behind=behind)
