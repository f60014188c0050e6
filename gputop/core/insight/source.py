"""A source of insight: where to ask about processes that make no progress."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.insight.collectives import Collectives
from gputop.core.insight.explanation import Details, InsightClaim, SourceReport, SourceState
from gputop.core.insight.kernel import KernelPlaces
from gputop.core.insight.member import Member
from gputop.core.insight.mps import MpsServers
from gputop.core.insight.stacks import Stacks

_MOST_NAMED: Final = 16


class InsightSource(Struct, frozen=True, kw_only=True):
    """A source as a row. ``name``: stable, such as ``stacks``; ``title``: for people.

    ``ask`` answers about processes; its second argument is whether to include frames of C and C++. It runs in a thread
    of its own and may take ``limit_s``; it may raise. ``applies_to``: whether the source can know anything about
    these processes; otherwise it does not appear.
    """

    name: str
    title: str
    ask: Callable[[Sequence[Member], bool], SourceReport]
    applies_to: Callable[[Sequence[Member]], bool] = lambda _: True
    limit_s: float = 12.0

    def asked(self) -> SourceReport:
        """Return the report before its answer."""
        return SourceReport(name=self.name, title=self.title, state=SourceState.ASKED)

    def unavailable(self, note: str, remedy: str = "") -> SourceReport:
        """Return the report of a source that has no answer."""
        return SourceReport(name=self.name, title=self.title, state=SourceState.UNAVAILABLE, note=note, remedy=remedy)


def as_root(pids: Sequence[int]) -> str:
    """Return the command that asks about processes as root; empty without processes."""
    return f"sudo gputop explain {' '.join(map(str, pids[:_MOST_NAMED]))}" if pids else ""


def without(report: SourceReport, pids: frozenset[int]) -> SourceReport:
    """Return a report without what it says about processes that have ended."""
    if not pids:
        return report
    claims = tuple(kept for claim in report.claims if (kept := _claim(claim, pids)))
    return replace(report, claims=claims, details=_details(report.details, pids))


def _claim(claim: InsightClaim, pids: frozenset[int]) -> InsightClaim | None:
    if pids.isdisjoint(claim.pids):
        return claim
    left = tuple(pid for pid in claim.pids if pid not in pids)
    return replace(claim, pids=left) if left or claim.ranks else None


def _details(details: Details | None, pids: frozenset[int]) -> Details | None:
    match details:
        case Stacks(groups=groups, unread=unread):
            left = ((group, tuple(pid for pid in group.pids if pid not in pids)) for group in groups)
            return replace(
                details,
                groups=tuple(replace(group, pids=kept) for group, kept in left if kept),
                unread=tuple(each for each in unread if each.pid not in pids),
            )
        case KernelPlaces(places=places):
            return KernelPlaces(tuple(place for place in places if place.pid not in pids))
        case Collectives() | MpsServers() | None:
            return details  # it counts ranks, which may be on other hosts, or clients of other jobs
