"""The findings of a recording as text."""

from gputop.core.detection.timeline import Episode, Passage
from gputop.core.model.finding import Evidence, Finding, Stage, Subject, further_evidence
from gputop.report.timeline import timeline


def test_the_remedy_follows_the_verdict_and_no_evidence_repeats_the_summary() -> None:
    finding = Finding(
        code="idle.holder",
        stage=Stage.SUSPECT,
        subject=Subject(label="GPU 0"),
        summary="idle for 15m07: 21.3GiB held",
        evidence=(
            Evidence("idle_s", 907.0, "idle for 15m07"),
            Evidence("power_w", 98.0, "98 W"),
            Evidence("processes", 3, "3 processes"),
        ),
        remedy="Ask ann.",
        lacking=("its age", "its power draw"),
        since_s=0.0,
        stage_since_s=0.0,
    )
    episode = Episode(finding=finding, passages=(Passage(at_s=65.0, time_s=65.0, stage=Stage.SUSPECT),))

    assert timeline([episode]).splitlines() == [
        "suspect  seen from 1:05 to the end  idle.holder  GPU 0",
        "  idle for 15m07: 21.3GiB held",
        "  to do: Ask ann.",
        "  evidence: 98 W",
        "            3 processes",
        "  not known: its age; its power draw",
    ]


def test_a_normal_value_that_the_summary_lacks_stands_beside_the_evidence() -> None:
    finding = Finding(
        code="straggler.host",
        stage=Stage.SUSPECT,
        subject=Subject(label="pid 4711"),
        summary="rank 2 keeps its GPU busy for 40% of the time",
        evidence=(
            Evidence("gpu_utilization_percent", 40.0, "GPU utilization of this rank: 40%", 97.0),
            Evidence("pcie_width", 40, "40%", "40%"),
        ),
        since_s=0.0,
        stage_since_s=0.0,
    )

    assert further_evidence(finding) == ["GPU utilization of this rank: 40%, normally 97%"]
