"""Findings from their beginning to their end."""

from gputop.core.detection.timeline import Timeline
from gputop.core.model.finding import Finding, Stage, Subject


def finding(stage: Stage, code: str = "leak.process", label: str = "4711") -> Finding:
    subject = Subject(label=label)
    return Finding(
        code=code, stage=stage, subject=subject, summary=f"it is {stage.value}", since_s=0.0, stage_since_s=0.0
    )


def test_a_finding_is_followed_through_its_stages_and_keeps_the_gravest_words() -> None:
    timeline = Timeline()
    stages = [Stage.OBSERVATION, Stage.SUSPECT, Stage.SUSPECT, Stage.ALARM, Stage.SUSPECT]
    for second, stage in enumerate(stages):
        timeline.add(float(second), 100.0 + second, (finding(stage),))
    timeline.add(5.0, 105.0, ())
    (episode,) = timeline.episodes

    assert [(each.stage, each.at_s) for each in episode.passages] == [
        (Stage.OBSERVATION, 0.0), (Stage.SUSPECT, 1.0), (Stage.ALARM, 3.0), (Stage.SUSPECT, 4.0),
    ]  # fmt: skip
    assert episode.finding.summary == "it is alarm"
    assert (episode.end_at_s, episode.end_s) == (5.0, 105.0)


def test_what_is_there_to_the_last_has_no_end_and_what_comes_back_is_told_twice() -> None:
    timeline = Timeline()
    for second, found in enumerate([(finding(Stage.ALARM),), (), (finding(Stage.ALARM),)]):
        timeline.add(float(second), 100.0 + second, found)

    assert [(each.passages[0].at_s, each.end_at_s) for each in timeline.episodes] == [(0.0, 1.0), (2.0, None)]


def test_of_those_that_begin_together_the_gravest_comes_first() -> None:
    timeline = Timeline()
    timeline.add(0.0, 100.0, (finding(Stage.OBSERVATION, "a"), finding(Stage.ALARM, "b")))

    assert [each.finding.code for each in timeline.episodes] == ["b", "a"]
