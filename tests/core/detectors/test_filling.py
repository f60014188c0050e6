"""A GPU that will be full soon, whoever fills it."""

from collections.abc import Callable, Iterable

import pytest
from examples import GIB, NOW, frame, gpu, process
from judging import at, judge_of

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_FREE, MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Frame, GpuInstance, GpuProcess, MetricValue

TOTAL = 80.0
Used = Callable[[int], float]


def memory(used_gib: float) -> dict[Metric[int], int]:
    used = min(TOTAL, used_gib)
    return {MEMORY_USED: int(used * GIB), MEMORY_FREE: int((TOTAL - used) * GIB), MEMORY_TOTAL: int(TOTAL * GIB)}


def box(used_gib: float, busy: int = 90) -> Frame:
    return frame((gpu(0, {**memory(used_gib), GPU_UTILIZATION: busy}),), ())


def filled(used: Used, seconds: Iterable[int], busy: int = 90) -> list[tuple[Finding, ...]]:
    judge = judge_of("filling", filling={"known_s": 0.0})
    return [judge.judge(at(box(used(second), busy), second), ()) for second in seconds]


def gravest(found: list[tuple[Finding, ...]]) -> Stage | None:
    return max((one.stage for now in found for one in now), key=lambda stage: stage.rank, default=None)


def test_a_gpu_that_is_full_within_a_quarter_of_an_hour_is_an_alarm_after_ten_minutes() -> None:
    found = filled(lambda second: 28 + second / 25, range(700))

    first = next(n for n, now in enumerate(found) if now)
    assert 590 <= first <= 620
    assert [(one.code, one.stage) for one in found[first]] == [("memory.filling", Stage.ALARM)]
    assert "full in about 12 min" in found[first][0].summary
    assert found[first][0].summary.startswith("memory full in ")


def test_a_gpu_that_is_full_within_the_hour_is_a_suspect_after_ten_minutes() -> None:
    found = filled(lambda second: 40 + second / 60, range(700))

    first = next(n for n, now in enumerate(found) if now)
    assert 590 <= first <= 620
    assert gravest(found) is Stage.SUSPECT


def test_a_gpu_that_has_memory_for_hours_is_not_worth_a_line() -> None:
    assert gravest(filled(lambda second: 40 + second / 1024, range(1000))) is None


def test_a_slow_leak_beside_one_large_step_is_no_alarm() -> None:  # seen on an H100: 16 processes started
    used = lambda second: 13 + second / 1024 + (9.3 if second >= 200 else 0)  # noqa: E731 - a curve

    assert gravest(filled(used, range(1000))) is None


def test_growth_that_slows_down_and_ends_in_time_is_not_worth_a_line() -> None:
    assert gravest(filled(lambda second: 40 + 15 * (1 - 0.99**second), range(1000))) is None


def test_a_model_that_is_loaded_is_not_worth_a_line() -> None:
    assert gravest(filled(lambda second: second / 5, range(380), busy=0)) is None


def test_growth_of_a_process_that_has_just_started_looks_like_loading() -> None:
    judge = judge_of("filling", filling={"known_s": 0.0})
    young = process(4711, 0, started_s=NOW - 30)
    found = [judge.judge(at(frame((gpu(0, memory(20 + s / 25)),), (young,)), s), ()) for s in range(960)]

    assert gravest(found[:880]) is None
    assert gravest(found) is Stage.ALARM


def test_a_request_that_grows_for_minutes_is_no_alarm() -> None:
    request = lambda second: 40 + max(0, min(second - 300, 480)) / 15 if second < 790 else 40  # noqa: E731 - a curve

    assert gravest(filled(request, range(900))) is None


def test_the_process_that_grows_is_not_named() -> None:
    def box_at(second: int) -> Frame:
        still, grows = (
            process(pid, gpus=(GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=int(held * GIB)),))
            for pid, held in ((77, 10.0), (78, 18 + second / 25))
        )
        return frame((gpu(0, {**memory(28 + second / 25), GPU_UTILIZATION: 90}),), (still, grows))

    judge = judge_of("filling")
    found = [judge.judge(at(box_at(second), second), ()) for second in range(660)][-1]

    assert [one.subject.process and one.subject.process.pid for one in found] == [78]


def test_a_jump_and_a_small_rise_are_no_alarm() -> None:
    jump_then_rise = lambda second: 10.0 if second < 60 else 34.7 + second / 1800  # noqa: E731 - a curve

    assert gravest(filled(jump_then_rise, range(600))) is None


def test_a_model_that_is_loaded_quickly_is_not_worth_a_line() -> None:
    assert gravest(filled(lambda second: min(60, second), range(600), busy=0)) is None


def test_teeth_are_not_worth_a_line_once_one_was_seen() -> None:
    found = filled(lambda second: 40 + 30 * (second % 700) / 700, range(2800))

    assert gravest(found[:700]) is Stage.ALARM
    assert gravest(found[750:]) is None


def test_it_ends_when_memory_no_longer_grows() -> None:
    found = filled(lambda second: 40 + min(second, 700) / 20, range(800))

    assert found[699]
    assert found[-1] == ()


def test_time_that_nobody_watched_is_no_growth() -> None:
    assert gravest(filled(lambda second: 40 + second / 2000, [*range(60), *range(36_000, 36_060)])) is None


def test_an_instance_is_judged_by_its_own_memory() -> None:
    def split(second: int) -> Frame:
        values: dict[str, MetricValue] = {metric.key: value // 8 for metric, value in memory(40 + second / 25).items()}
        one, other = (GpuInstance(id=n, profile="1g.10gb", metrics=values if n == 3 else {}) for n in (3, 4))
        return frame((gpu(0, memory(10), instances=(one, other)),), ())

    judge = judge_of("filling", filling={"known_s": 0.0})
    found = [judge.judge(at(split(second), second), ()) for second in range(640)][-1]

    assert [(one.stage, one.subject.label, one.subject.gpu_instance) for one in found] == [
        (Stage.ALARM, "GPU 0 instance 3", 3)
    ]


@pytest.mark.parametrize(("alarm_s", "stage"), [(60.0, Stage.SUSPECT), (900.0, Stage.ALARM)])
def test_the_times_can_be_set(alarm_s: float, stage: Stage) -> None:
    judge = judge_of("filling", filling={"alarm_s": alarm_s, "known_s": 0.0})
    found = [judge.judge(at(box(40 + second / 25), second), ()) for second in range(700)]

    assert gravest(found) is stage


def test_the_first_rise_that_is_seen_may_be_a_wave() -> None:
    judge = judge_of("filling")

    assert not any(judge.judge(at(box(20 + second / 10), second), ()) for second in range(590))
