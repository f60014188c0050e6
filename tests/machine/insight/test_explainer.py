"""The explainer: sources that hang, fail or lie, and processes that end while they are asked."""

import threading
from collections.abc import Callable, Sequence

from fake_proc import FakeProc, stat_line

from gputop.core.insight.explanation import ClaimKind, Explanation, InsightClaim, SourceReport, SourceState
from gputop.core.insight.kernel import KernelPlace, KernelPlaces
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource
from gputop.core.insight.stacks import StackFrame, StackGroup, Stacks
from gputop.core.protocol.command import Explain
from gputop.machine.insight.explainer import Explainer

MEMBERS = (Member(pid=10, start_ticks=100, rank=0), Member(pid=11, start_ticks=110, rank=1))
PATIENCE_S = 30.0


def proc() -> FakeProc:
    return FakeProc({"10/stat": stat_line(10, start=100), "11/stat": stat_line(11, start=110)})


def source(
    name: str, ask: Callable[[Sequence[Member], bool], SourceReport], limit_s: float = PATIENCE_S
) -> InsightSource:
    return InsightSource(name=name, title=name.title(), ask=ask, limit_s=limit_s)


def answer(name: str, *claims: InsightClaim, lines: tuple[str, ...] = ()) -> SourceReport:
    return SourceReport(name=name, title="", state=SourceState.ANSWERED, claims=claims, lines=lines)


def at(place: str, *pids: int) -> InsightClaim:
    return InsightClaim(kind=ClaimKind.AT, pids=pids, place=place)


def explained(
    sources: Sequence[InsightSource], at_proc: FakeProc, members: tuple[Member, ...] = MEMBERS
) -> list[Explanation]:
    sent: list[Explanation] = []
    Explainer(sources, at_proc).explain(Explain(id="q", members=members), sent.append)
    return sent


def test_only_the_last_explanation_is_complete_and_all_sources_are_asked_at_first() -> None:
    sent = explained((source("a", lambda *_: answer("a")), source("b", lambda *_: answer("b"))), proc())

    assert [each.is_complete for each in sent] == [False, False, True]
    assert [each.state for each in sent[0].sources] == [SourceState.ASKED] * 2
    assert [each.state for each in sent[-1].sources] == [SourceState.ANSWERED] * 2
    assert sent[0].verdict == ""


def test_a_source_that_hangs_holds_up_the_explanation_for_ever() -> None:
    go_on = threading.Event()

    def hang(*_: object) -> SourceReport:
        go_on.wait(PATIENCE_S)
        return answer("slow")

    last = explained((source("slow", hang, 0.01), source("good", lambda *_: answer("good", at("x", 10)))), proc())[-1]
    go_on.set()

    assert last.is_complete
    assert [each.state for each in last.sources] == [SourceState.UNAVAILABLE, SourceState.ANSWERED]
    assert last.sources[0].note == "no answer within 0s"


def test_a_source_that_fails_ends_the_others() -> None:
    def fail(*_: object) -> SourceReport:
        raise KeyError("\x1b[31mred")

    last = explained((source("bad", fail), source("good", lambda *_: answer("good", at("x at y:1", 10, 11)))), proc())[
        -1
    ]

    assert last.sources[0].state is SourceState.UNAVAILABLE
    assert "KeyError" in last.sources[0].note
    assert "\x1b" not in last.sources[0].note
    assert last.verdict == "all 2 ranks are in x at y:1."


def test_a_process_that_took_a_pid_is_asked_in_place_of_the_one_that_ended() -> None:
    asked: list[int] = []

    def ask(members: Sequence[Member], _: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
        asked.extend(member.pid for member in members)
        return answer("a", at("x", *asked))

    reused = proc()
    reused.files["11/stat"] = stat_line(11, start=999)
    last = explained((source("a", ask),), reused)[-1]

    assert asked == [10]
    assert last.ended == (11,)
    assert last.verdict.startswith("rank 1 has ended")


def test_what_was_read_of_a_pid_that_changed_hands_in_between_is_shown() -> None:
    changing = proc()

    def ask(*_: object) -> SourceReport:
        changing.files["11/stat"] = stat_line(11, start=999)
        groups = (StackGroup(pids=(10, 11), frames=(StackFrame("f", "a.py", 1),)),)
        return SourceReport(
            name="a", title="", state=SourceState.ANSWERED, claims=(at("x", 11), at("y", 10, 11)),
            details=Stacks(groups=groups),
        )  # fmt: skip

    def places(*_: object) -> SourceReport:
        held = KernelPlaces((KernelPlace(pid=10, state="S"), KernelPlace(pid=11, state="S")))
        return SourceReport(name="b", title="", state=SourceState.ANSWERED, details=held)

    last = explained((source("a", ask), source("b", places)), changing)[-1]
    stacks, kernel = last.sources[0].details, last.sources[1].details

    assert last.ended == (11,)
    assert last.sources[0].claims == (at("y", 10),)
    assert isinstance(stacks, Stacks)
    assert stacks.groups[0].pids == (10,)
    assert isinstance(kernel, KernelPlaces)
    assert [place.pid for place in kernel.places] == [10]


def test_without_a_living_process_sources_are_asked() -> None:
    def never(*_: object) -> SourceReport:
        raise AssertionError

    (only,) = explained((source("a", never),), FakeProc())

    assert only.is_complete
    assert only.sources == ()
    assert only.verdict == "ranks 0-1 have ended."


def test_a_process_without_a_known_start_time_is_asked() -> None:
    (only,) = explained((source("a", lambda *_: answer("a")),), proc(), (Member(pid=10, start_ticks=None),))

    assert only.ended == (10,)


def test_text_of_a_source_steers_the_terminal_or_floods_it() -> None:
    lines = tuple("\x1b[2J" + "x" * 10_000 for _ in range(10_000))
    last = explained((source("a", lambda *_: answer("other", at("\x1b[31mf", 10), lines=lines)),), proc())[-1]

    assert len(last.sources[0].lines) == 500
    assert {len(line) for line in last.sources[0].lines} == {500}
    assert all("\x1b" not in text for text in (*last.sources[0].lines, last.verdict))
    assert last.sources[0].name == "a"


def test_a_source_that_does_not_apply_appears() -> None:
    away = InsightSource(name="a", title="A", ask=lambda *_: answer("a"), applies_to=lambda _: False)
    (only,) = explained((away,), proc())

    assert only.is_complete
    assert only.sources == ()
    assert only.verdict == "no source could say where it hangs; each source below says why, and what would help."
