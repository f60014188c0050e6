"""Insight into hangs that become alarms, in a watch."""

from collections.abc import Callable
from threading import Event

from examples import NOW, frame, process
from msgspec.structs import replace

from gputop.app.monitoring.hang_insight import HangInsight
from gputop.core.insight.explanation import ClaimKind, Explanation, InsightClaim, SourceReport, SourceState
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Explain

PID = 4711


def hung(stage: Stage = Stage.ALARM) -> Frame:
    subject = Subject(label="process 4711", process=process(PID).id)
    finding = Finding(
        code="stuck.process", stage=stage, subject=subject, summary="hung", since_s=NOW - 60, stage_since_s=NOW
    )
    return frame(1, (process(PID, 0),), findings=(finding,), time_s=NOW)


class Sources:
    """Sources that answer when the test lets them."""

    def __init__(self) -> None:
        self.asked: list[Explain] = []
        self.send: Callable[[Explanation], None] | None = None
        self.is_asked = Event()

    def explain(self, question: Explain, send: Callable[[Explanation], None]) -> None:
        self.asked.append(question)
        self.send = send
        self.is_asked.set()

    def answer(self, kind: ClaimKind) -> None:
        assert self.is_asked.wait(30)
        claim = InsightClaim(kind=kind, pids=(PID,))
        report = SourceReport(name="nccl", title="NCCL RAS", state=SourceState.ANSWERED, claims=(claim,))
        question, send = self.asked[-1], self.send
        assert send is not None
        found = Explanation(
            id=question.id, members=question.members, time_s=NOW, sources=(report,), verdict="it is so.",
        )  # fmt: skip
        send(found)  # not complete yet
        send(replace(found, is_complete=True))


def test_a_hang_whose_counts_move_stays_an_alarm() -> None:
    sources = Sources()
    insight = HangInsight(sources.explain)

    assert insight.weighed(hung()).findings[0].stage is Stage.ALARM
    assert insight.is_waiting
    sources.answer(ClaimKind.MOVES)
    assert insight.weighed(hung()).findings[0].stage is Stage.OBSERVATION
    assert not insight.is_waiting


def test_a_hang_is_asked_about_in_each_frame_or_before_it_is_an_alarm() -> None:
    sources = Sources()
    insight = HangInsight(sources.explain)
    insight.weighed(hung(Stage.SUSPECT))
    assert not insight.is_waiting

    for _ in range(3):
        insight.weighed(hung())
    sources.answer(ClaimKind.STANDS)
    insight.weighed(hung())

    assert len(sources.asked) == 1


def test_sources_that_never_answer_keep_a_watch_waiting_for_ever() -> None:
    now = 0.0
    insight = HangInsight(lambda *_: None, lambda: now)
    insight.weighed(hung())
    assert insight.is_waiting

    now = 61.0
    assert not insight.is_waiting
