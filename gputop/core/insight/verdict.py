"""The verdict: one sentence from the claims of all sources."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.insight.explanation import ClaimKind, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.names import Names, Who
from gputop.core.model.units import duration_text

_LAST: Final = "kernel"  # its places say less than a line of the program
_MOST_PLACES: Final = 3


def verdict(
    members: Sequence[Member],
    ended: Collection[int],
    reports: Sequence[SourceReport],
    lasted_s: float | None = None,
    *,
    is_complete: bool = True,
) -> str:
    """Return the verdict as a sentence; empty as long as nothing is known and answers are missing.

    ``ended``: pids of members that have ended. ``lasted_s``: how long a finding says that there was no progress.
    """
    case = _Case(members, ended, reports)
    text = case.progress() or case.culprit(lasted_s) or case.places(lasted_s) or case.stand(lasted_s)
    if not text and is_complete:
        text = case.nothing()
    return f"{text}." if text else ""


class _Places(Struct, frozen=True):
    """Members at the same place."""

    text: str
    who: Who


class _Case:
    """All claims, by their kinds."""

    def __init__(self, members: Sequence[Member], ended: Collection[int], reports: Sequence[SourceReport]) -> None:
        self._names = Names(members)
        self._is_alone = len(members) == 1
        self._ended = Who(tuple(member.pid for member in members if member.pid in ended))
        self._alive = Who(tuple(member.pid for member in members if member.pid not in ended))
        self._reports = reports
        answered = [report for report in reports if report.state is SourceState.ANSWERED]
        self._claims = [claim for report in answered for claim in report.claims]
        self._place_of: dict[int, str] = {}
        for report in sorted(answered, key=lambda report: report.name == _LAST):
            for claim in report.claims:
                if claim.kind is ClaimKind.AT and claim.place:
                    for pid in claim.pids:
                        self._place_of.setdefault(pid, claim.place)

    def progress(self) -> str:
        """Return that processes make progress, which refutes a hang; empty if it is not so."""
        moving = self._who(ClaimKind.MOVES)
        is_blocked = self._has(ClaimKind.STOPPED, ClaimKind.MISSING, ClaimKind.FAILED) or self._ended.count
        if is_blocked or not self._has(ClaimKind.MOVES):
            return ""
        operation = self._operation(ClaimKind.MOVES)
        how = (
            f"the count of {operation} grew between two readings"
            if operation
            else "its counts grew between two readings"
        )
        rest = self._alive.minus(moving)
        if moving.count and rest.count:
            return f"{self._names.of(moving)} {_make(moving)} progress: {how}"
        return f"it does not hang: {how}"

    def culprit(self, lasted_s: float | None) -> str:
        """Return which processes the others wait for; empty if no source knows it."""
        found = [
            (self._ended, "{} {have} ended"),
            (self._who(ClaimKind.FAILED), f"{{}} cannot work: {_literal(self._operation(ClaimKind.FAILED))}"),
            (self._who(ClaimKind.STOPPED), "{} {is} stopped"),
            (self._who(ClaimKind.MISSING), "{} {do} not answer"),
            (self._who(ClaimKind.BEHIND), self._behind_text()),
        ]
        named, clauses = Who(), []
        for who, text in found:
            new = who.minus(named)
            if new.count and not (self._is_alone and who is self._ended):
                clauses.append(self._clause(new, text))
                named = named.plus(new)
        behind = self._who(ClaimKind.BEHIND)
        is_all = self._alive.count > 1 and not self._alive.minus(behind).count
        if is_all and behind.count == named.count:
            return self._circle(lasted_s)
        if not clauses:
            return ""
        return "; ".join([*clauses[:_MOST_PLACES], *self._rest(named, lasted_s)])

    def places(self, lasted_s: float | None) -> str:
        """Return where the processes are, the odd ones first; empty if no place is known."""
        groups = self._groups(self._alive)
        if not groups:
            return ""
        known = sum(group.who.count for group in groups)
        if len(groups) == 1:
            return self._one_place(groups[0], lasted_s)
        if 2 * groups[-1].who.count > known:
            odd, most = groups[:-1], groups[-1]
            texts = [self._at(group.who, group.text) for group in odd[:_MOST_PLACES]]
            left = len(odd) - len(texts)
            more = [f"{left} more {'place' if left == 1 else 'places'}"] if left else []
            return "; ".join([*texts, *more, f"the other {most.who.count} are in {most.text}"]) + _lasting(lasted_s)
        texts = [self._at(group.who, group.text) for group in groups[:_MOST_PLACES]]
        more = [f"the others are in {len(groups) - _MOST_PLACES} more places"] if len(groups) > _MOST_PLACES else []
        return "; ".join([*texts, *more]) + _lasting(lasted_s)

    def stand(self, lasted_s: float | None) -> str:
        """Return that no process is behind, although none makes progress; empty if no source says so."""
        if not self._alive.count or not self._has(ClaimKind.STANDS, ClaimKind.WAITS):
            return ""
        return f"{self._everybody()} wait, and none is behind: look at the network and the GPUs{_lasting(lasted_s)}"

    def nothing(self) -> str:
        """Return that nothing is known."""
        if not self._alive.count:
            return f"{self._names.of(self._ended)} {_words(self._ended)['have']} ended"
        return "no source could say where it hangs; each source below says why, and what would help"

    def _one_place(self, group: _Places, lasted_s: float | None) -> str:
        rest = self._alive.minus(group.who).count
        if group.who.count == 1 and not rest:
            return self._at(group.who, group.text) + _lasting(lasted_s)
        who = f"all {group.who.count} {self._plural()}" if not rest else self._names.of(group.who)
        unknown = f"; the place of the other {rest} is not known" if rest else ""
        stand = "; none is behind, so look at the network and the GPUs" if self._has(ClaimKind.STANDS) else ""
        be = "are" if group.who.count > 1 else "is"
        return f"{who} {be} in {group.text}{unknown}{stand}{_lasting(lasted_s)}"

    def _circle(self, lasted_s: float | None) -> str:
        return f"{self._everybody()} are behind in an operation: they may wait for each other{_lasting(lasted_s)}"

    def _clause(self, who: Who, text: str) -> str:
        clause = text.format(self._names.of(who), **_words(who))
        groups = self._groups(who)
        if not groups:
            return clause
        it = "it is" if who.count == 1 else "they are"
        if len(groups) == 1:
            return f"{clause}: {it} in {groups[0].text}"
        return f"{clause}: {', '.join(self._at(group.who, group.text) for group in groups[:_MOST_PLACES])}"

    def _rest(self, named: Who, lasted_s: float | None) -> list[str]:
        """Return the clause about the processes that wait."""
        rest = self._alive.plus(self._who(ClaimKind.WAITS)).minus(named)
        lasting = _lasting(lasted_s)
        if not rest.count:
            return [f"there was no progress for {duration_text(lasted_s)}"] if lasting else []
        others = "the other" if rest.count == 1 else f"the other {rest.count}"
        who = self._names.of(rest) if rest.count == 1 else others
        it = "it" if named.count == 1 else "them"
        if self._has(ClaimKind.BEHIND, ClaimKind.WAITS):
            if lasted_s is None:
                return [f"{who} {'waits' if rest.count == 1 else 'wait'} for {it}"]
            return [f"{who} {'has' if rest.count == 1 else 'have'} waited {duration_text(lasted_s)} for {it}"]
        groups = self._groups(rest)
        if len(groups) == 1 and groups[0].who.count == rest.count:
            return [f"{who} {'is' if rest.count == 1 else 'are'} in {groups[0].text}{lasting}"]
        return [f"there was no progress for {duration_text(lasted_s)}"] if lasting else []

    def _behind_text(self) -> str:
        operation = self._operation(ClaimKind.BEHIND)
        return f"{{}} never entered {_literal(operation)}" if operation else "{} {is} behind the others"

    def _groups(self, who: Who) -> list[_Places]:
        """Return the known places of processes, the rarest first."""
        found: dict[str, list[int]] = {}
        for pid in who.pids:
            if pid in self._place_of:
                found.setdefault(self._place_of[pid], []).append(pid)
        return sorted((_Places(text, Who(tuple(pids))) for text, pids in found.items()), key=lambda one: one.who.count)

    def _at(self, who: Who, place: str) -> str:
        return f"{self._names.of(who)} {_words(who)['is']} in {place}"

    def _who(self, kind: ClaimKind) -> Who:
        found = Who()
        for claim in self._claims:
            if claim.kind is kind:
                found = found.plus(_subject(claim))
        return found.minus(self._ended)

    def _has(self, *kinds: ClaimKind) -> bool:
        return any(claim.kind in kinds for claim in self._claims)

    def _operation(self, kind: ClaimKind) -> str:
        return next((claim.operation for claim in self._claims if claim.kind is kind and claim.operation), "")

    def _everybody(self) -> str:
        return f"all {self._alive.count} {self._plural()}" if self._alive.count > 1 else self._names.of(self._alive)

    def _plural(self) -> str:
        return "ranks" if self._names.noun == "rank" else "processes"


def _subject(claim: InsightClaim) -> Who:
    hosts = (*claim.hosts, *("" for _ in claim.ranks[len(claim.hosts) :]))
    return Who(claim.pids, tuple(zip(claim.ranks, hosts, strict=False)))


def _words(who: Who) -> dict[str, str]:
    one = who.count == 1
    return {"is": "is" if one else "are", "have": "has" if one else "have", "do": "does" if one else "do"}


def _make(who: Who) -> str:
    return "makes" if who.count == 1 else "make"


def _lasting(lasted_s: float | None) -> str:
    return "" if lasted_s is None else f"; there was no progress for {duration_text(lasted_s)}"


def _literal(text: str) -> str:
    """Return a text from outside for `str.format`."""
    return text.replace("{", "{{").replace("}", "}}")
