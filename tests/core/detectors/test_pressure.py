"""Memory nearly full, temperature near the board's own limit."""

from typing import Any

import pytest
from examples import GIB, frame, gpu, process
from judging import judge_of, watch

from gputop.core.model.catalogue import MEMORY_TOTAL, MEMORY_USED, TEMPERATURE, TEMPERATURE_MARGIN, TEMPERATURE_SLOWDOWN
from gputop.core.model.finding import Finding, Stage, further_evidence
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame, GpuInstance


def full(used: int) -> Frame:
    return frame((gpu(0, {MEMORY_USED: used}),))


def found(values: dict[Metric[Any], Any], **dials: dict[str, float]) -> tuple[Finding, ...]:
    return watch(judge_of("pressure", **dials), [0], lambda _: frame((gpu(0, values),)))[0]


@pytest.mark.parametrize(("used", "stage"), [(40, None), (75, Stage.OBSERVATION), (79, Stage.SUSPECT)])
def test_memory_is_worth_a_line_above_90_percent_and_a_look_above_97(used: int, stage: Stage | None) -> None:
    assert [one.stage for one in found({MEMORY_USED: used * GIB})] == ([stage] if stage else [])


def test_a_threshold_can_be_set() -> None:
    assert found({MEMORY_USED: 41 * GIB}, pressure={"memory_percent": 50.0})[0].code == "memory.full"


def test_the_margin_that_the_board_reports_wins_over_its_threshold() -> None:
    near = {TEMPERATURE: 60, TEMPERATURE_SLOWDOWN: 89, TEMPERATURE_MARGIN: 3}

    assert [(one.code, one.stage) for one in found(near)] == [("temperature.gpu", Stage.SUSPECT)]


def test_a_temperature_around_the_threshold_does_not_flicker() -> None:
    found = watch(
        judge_of("pressure"), range(200), lambda second: frame((gpu(0, {TEMPERATURE: 84 - second // 20 % 2}),))
    )

    assert all(len(now) == 1 and now[0].returned == 0 for now in found)


def test_at_the_limit_is_an_alarm() -> None:
    assert found({TEMPERATURE: 90})[0].stage is Stage.ALARM


def test_without_a_limit_nothing_is_said() -> None:
    assert found({TEMPERATURE: 95, TEMPERATURE_SLOWDOWN: Missing.UNSUPPORTED}) == ()


def test_memory_that_stays_the_same_for_long_is_a_pool_and_no_suspect() -> None:
    stages = [now[0].stage for now in watch(judge_of("pressure"), range(700), lambda _: full(79 * GIB))]

    assert stages[0] is Stage.SUSPECT
    assert stages[-1] is Stage.OBSERVATION


def test_memory_that_grows_stays_a_suspect() -> None:
    stages = [
        now[0].stage
        for now in watch(judge_of("pressure"), range(700), lambda second: full(78 * GIB + second * GIB // 500))
    ]

    assert set(stages) == {Stage.SUSPECT}


def test_time_that_nobody_watched_makes_no_pool() -> None:
    stages = [now[0].stage for now in watch(judge_of("pressure"), (0, 1, 5000, 5001), lambda _: full(79 * GIB))]

    assert stages[-1] is Stage.SUSPECT


def test_memory_around_the_threshold_does_not_flicker() -> None:
    def swinging(second: int) -> Frame:
        return full(72 * GIB + (GIB // 2 if second % 40 < 20 else -GIB // 2))

    found = watch(judge_of("pressure"), range(200), swinging)

    assert all(len(now) == 1 and now[0].returned == 0 for now in found)


def test_who_holds_most_of_it_is_named() -> None:
    crowd = frame((gpu(0, {MEMORY_USED: 75 * GIB}),), processes=(process(1), process(2)))
    (one,) = watch(judge_of("pressure"), [0], lambda _: crowd)[0]

    assert "largest: pid 2 (10.0GiB), pid 1 (10.0GiB)" in one.summary


def test_who_holds_most_of_it_is_asked_again_after_a_gap() -> None:
    def held(second: int) -> Frame:
        return frame((gpu(0, {MEMORY_USED: 75 * GIB}),), processes=(process(1 if second == 0 else 2),))

    found = watch(judge_of("pressure"), [0, 3600], held)

    assert "largest: pid 1 (10.0GiB)" in found[0][0].summary
    assert "largest: pid 2 (10.0GiB)" in found[1][0].summary


def test_a_gpu_instance_that_is_full_is_named() -> None:
    part = GpuInstance(id=7, profile="1g.10gb", metrics={MEMORY_USED.key: 19 * GIB, MEMORY_TOTAL.key: 20 * GIB})
    (one,) = watch(judge_of("pressure"), [0], lambda _: frame((gpu(0, instances=(part,)),)))[0]

    assert (one.subject.label, one.subject.gpu_instance) == ("GPU 0:7", 7)


def test_the_evidence_of_a_temperature_does_not_repeat_the_summary() -> None:
    hot = found({TEMPERATURE: 90, TEMPERATURE_SLOWDOWN: 92})[0]

    assert hot.summary == "GPU hot: 90°C, 2°C below its limit"
    assert further_evidence(hot) == ["GPU at 90°C, normally below 87°C"]


def test_an_old_margin_does_not_move_the_limit_of_the_board() -> None:
    def made_at(second: int) -> Frame:
        celsius = 84 + second  # the margin is read every 5 s
        return frame((gpu(0, {TEMPERATURE: celsius, TEMPERATURE_MARGIN: 92 - 84 - second // 5 * 5}),))

    shown = [found[0].summary for found in watch(judge_of("pressure"), range(8), made_at) if found]

    assert shown == [f"GPU hot: {92 - left}°C, {left}°C below its limit" for left in (5, 4, 3, 2, 1)]
