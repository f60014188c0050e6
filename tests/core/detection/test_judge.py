"""Findings over time: they begin, stay, rise, end, come back; gaps and broken detectors do no harm."""

from collections.abc import Iterable

from examples import NOW, frame, gpu, process
from judging import at, judge_with, watch
from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context
from gputop.core.detection.judge import BROKEN, Judge
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Job, JobKind

HOLD_S = 10.0


class Seen:
    """A detector that sees a stage at some seconds, and writes down how it was asked."""

    def __init__(self, stages: dict[int, Stage]) -> None:
        self.stages = stages
        self.looks: list[Context] = []

    def detect(self, context: Context) -> Iterable[Claim]:
        self.looks.append(context)
        stage = self.stages.get(int(context.sample.time_s - NOW))
        if stage:
            yield Claim(code="it", stage=stage, subject=Subject(label="GPU 0", gpu="GPU-0"), summary=stage.value)


class Broken:
    """A detector that fails at its second look."""

    def __init__(self) -> None:
        self.asked = 0

    def detect(self, context: Context) -> Iterable[Claim]:
        self.asked += 1
        if context.now_s > 0:
            raise ValueError("no such thing")
        return ()


def stages(*seconds: int, stage: Stage = Stage.SUSPECT) -> dict[int, Stage]:
    return dict.fromkeys(seconds, stage)


def names(found: tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in found]


def test_a_finding_stays_for_its_hold_after_the_last_sign_and_then_ends() -> None:
    found = watch(judge_with(it=Seen(stages(0, 1, 2))), range(20))

    assert [bool(now) for now in found] == [second <= 2 + HOLD_S for second in range(20)]


def test_a_finding_says_since_when_and_since_when_it_is_as_grave() -> None:
    found = watch(judge_with(it=Seen(stages(1, 2) | stages(3, stage=Stage.ALARM))), range(4))[-1][0]

    assert (found.stage, found.since_s, found.stage_since_s) == (Stage.ALARM, NOW + 1, NOW + 3)


def test_the_graver_stage_stays_for_the_hold_when_only_lesser_signs_are_seen() -> None:
    seen = stages(0, stage=Stage.ALARM) | stages(*range(1, 20))

    found = watch(judge_with(it=Seen(seen)), range(20))

    assert [now[0].stage is Stage.ALARM for now in found] == [second < HOLD_S for second in range(20)]


def test_what_comes_back_within_the_cooldown_is_the_same_finding() -> None:
    found = watch(judge_with(it=Seen(stages(0, 100))), range(101))[-1][0]

    assert (found.since_s, found.returned) == (NOW, 1)


def test_what_comes_back_after_the_cooldown_is_new() -> None:
    found = watch(judge_with(it=Seen(stages(0, 400))), range(401))[-1][0]

    assert (found.since_s, found.returned) == (NOW + 400, 0)


def test_how_soon_a_finding_is_the_same_again_can_be_set() -> None:
    found = watch(Judge({"it": Seen(stages(0, 100))}, {"cooldown_s": 60.0}), range(101))[-1][0]

    assert (found.since_s, found.returned) == (NOW + 100, 0)


def test_for_how_long_findings_stay_can_be_set_for_all_detectors() -> None:
    found = watch(Judge({"it": Seen(stages(0))}, {"hold_s": 40.0}), range(60))

    assert [len(now) for now in found] == [1] * 41 + [0] * 19


def test_what_counts_as_a_gap_can_be_set() -> None:
    seen = Seen({})

    watch(Judge({"it": seen}, {"gap_s": 30.0}), [0, 20, 60])

    assert [context.is_gap for context in seen.looks] == [False, False, True]


def test_time_that_nobody_watched_is_not_counted_and_said_to_be_a_gap() -> None:
    seen = Seen({})
    judge = judge_with(it=seen)

    watch(judge, (0, 1, 3600, 3601, 5, 6))

    assert [context.now_s for context in seen.looks] == [0, 1, 1, 2, 2, 3]
    assert [context.is_gap for context in seen.looks] == [False, False, True, False, True, False]


def test_what_detectors_share_stays_with_their_judge_from_look_to_look() -> None:
    seen, other = Seen({}), Seen({})
    watch(judge_with(it=seen), range(2))
    watch(judge_with(it=other), range(1))

    assert seen.looks[0].shared is seen.looks[1].shared
    assert other.looks[0].shared is not seen.looks[0].shared


def test_a_broken_detector_is_a_finding_is_asked_no_more_and_stops_no_other() -> None:
    broken = Broken()

    found = watch(judge_with(bad=broken, it=Seen(stages(0, 1, 2, 3))), range(4))

    assert names(found[0]) == ["it"]
    assert sorted(names(found[3])) == [BROKEN, "it"]
    assert broken.asked == 2


def test_on_a_crowded_box_the_processes_take_turns_and_each_comes() -> None:
    seen = Seen({})
    crowd = frame(processes=tuple(process(pid) for pid in range(1, 2001)))
    judge = judge_with(it=seen)

    for second in range(14):
        judge.judge(at(crowd, second), ())

    assert all(100 < len(context.due) <= 150 for context in seen.looks)
    assert {one.pid for context in seen.looks for one in context.due} == set(range(1, 2001))


def test_of_two_that_are_equally_grave_the_newer_comes_first() -> None:
    late = Seen(stages(5))
    late.detect = lambda context: (replace(claim, code="late") for claim in Seen.detect(late, context))  # type: ignore[method-assign]

    found = watch(judge_with(one=Seen(stages(0, 1, 2, 3, 4, 5)), two=late), range(6))[-1]

    assert names(found) == ["late", "it"]


def test_the_gravest_comes_first() -> None:
    judge = judge_with(one=Seen(stages(0)), two=Two())

    found = watch(judge, [0])[0]

    assert names(found) == ["other", "it"]


class Two:
    """A detector that sees an alarm."""

    def detect(self, context: Context) -> Iterable[Claim]:
        del context
        return [Claim(code="other", stage=Stage.ALARM, subject=Subject(label="box"), summary="x")]


class Claims:
    """A detector that claims about a process once, or in each sample, and keeps the claim for a minute."""

    def __init__(self, subject: Subject, *, always: bool = False) -> None:
        self.subject, self.always = subject, always

    def detect(self, context: Context) -> Iterable[Claim]:
        if self.always or context.sample.time_s == NOW:
            yield Claim(code="it", stage=Stage.ALARM, subject=self.subject, summary="it leaks", hold_s=60.0)


def test_a_finding_does_not_outlive_its_process() -> None:
    one, other = process(4711), process(4712)
    judge = judge_with(it=Claims(Subject(label="4711", process=one.id)))

    found = watch(judge, range(3), lambda second: frame(processes=(one, other) if second < 2 else (other,)))

    assert [names(now) for now in found] == [["it"], ["it"], []]


def test_a_finding_does_not_outlive_its_process_because_the_detector_still_claims_it() -> None:
    one, other = process(4711), process(4712)
    judge = judge_with(it=Claims(Subject(label="4711", process=one.id), always=True))

    found = watch(judge, range(5), lambda second: frame(processes=(other,) if second in {2, 3} else (one, other)))

    assert [names(now) for now in found] == [["it"], ["it"], [], [], ["it"]]
    assert found[-1][0].returned == 1


def test_a_finding_about_a_job_lasts_until_its_last_process_has_exited() -> None:
    one, other = process(4711), process(4712)
    job = Job(key="j", kind=JobKind.TORCH, label="j", members=(one.id, other.id))
    judge = judge_with(it=Claims(Subject(label="job j", job="j")))
    left = [(one, other), (other,), ()]

    found = watch(judge, range(3), lambda second: frame(processes=left[second], jobs=(job,) if second == 0 else ()))

    assert [names(now) for now in found] == [["it"], ["it"], []]


def test_a_process_that_its_gpu_does_not_report_has_not_exited() -> None:
    one = process(4711)
    judge = judge_with(it=Claims(Subject(label="4711", process=one.id)))
    silent = replace(gpu(0), missing={"processes": Missing.FAULT})

    found = watch(judge, range(2), lambda second: frame((silent if second else gpu(0),), () if second else (one,)))

    assert [names(now) for now in found] == [["it"], ["it"]]
