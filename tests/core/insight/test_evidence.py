"""Answers of sources as evidence for findings."""

import pytest
from examples import frame

from gputop.core.insight.evidence import with_answers
from gputop.core.insight.explanation import ClaimKind, Explanation, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame

NOW_S = 1000.0


def framed(code: str = "stuck.collective") -> Frame:
    subject = Subject(label="rank 5", process=ProcessId(10, 100))
    hang = Finding(
        code=code,
        stage=Stage.ALARM,
        subject=subject,
        summary="hung",
        confidence=0.7,
        since_s=900.0,
        stage_since_s=950.0,
    )
    other = Finding(
        code="leak.process", stage=Stage.SUSPECT, subject=subject, summary="leaks", since_s=1.0, stage_since_s=1.0
    )
    return frame(time_s=NOW_S, findings=(hang, other))


def explained(kind: ClaimKind, *, pid: int = 10, time_s: float = 990.0) -> Explanation:
    report = SourceReport(
        name="nccl", title="NCCL RAS", state=SourceState.ANSWERED, claims=(InsightClaim(kind=kind, pids=(pid,)),)
    )
    members = (Member(pid=pid, start_ticks=100),)
    return Explanation(id="q", members=members, time_s=time_s, sources=(report,), verdict="it is so.", is_complete=True)


def test_a_hang_stays_an_alarm_although_its_counts_move() -> None:
    leak, hang = with_answers(framed(), [explained(ClaimKind.MOVES)]).findings

    assert (leak.code, hang.code) == ("leak.process", "stuck.collective")
    assert hang.stage is Stage.OBSERVATION
    assert hang.evidence[-1].text == "NCCL RAS: its counts grew between two readings, so it is no hang"


def test_counts_that_do_not_move_leave_the_confidence_as_it_was() -> None:
    hang = with_answers(framed(), [explained(ClaimKind.STANDS)]).findings[0]

    assert hang.stage is Stage.ALARM
    assert hang.confidence == pytest.approx(0.94)
    assert hang.evidence[-1].text == "NCCL RAS: it is so"


@pytest.mark.parametrize(
    "explanation",
    [
        explained(ClaimKind.MOVES, pid=11),
        explained(ClaimKind.MOVES, time_s=899.0),
        Explanation(id="q", members=()),
        explained(ClaimKind.AT),
    ],
)
def test_an_answer_about_others_or_before_the_hang_changes_the_finding(explanation: Explanation) -> None:
    assert with_answers(framed(), [explanation]) == framed()


def test_other_findings_than_hangs_are_changed() -> None:
    assert with_answers(framed("idle.holder"), [explained(ClaimKind.MOVES)]) == framed("idle.holder")
