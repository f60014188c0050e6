"""Who is slowed down, by what, and for how much of the time; and what is normal for a busy board."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from examples import frame, gpu
from judging import judge_of, watch

from gputop.core.model.catalogue import (
    CLOCK_SM,
    CLOCK_SM_MAX,
    EVENT_REASONS,
    GPU_UTILIZATION,
    POWER_LIMIT,
    POWER_LIMIT_DEFAULT,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    THROTTLED_HW_THERMAL,
    THROTTLED_POWER_BRAKE,
    THROTTLED_POWER_CAP,
    THROTTLED_SW_THERMAL,
)
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame, GpuState

Values = dict[Metric[Any], Any]
COUNTERS = (THROTTLED_SW_THERMAL, THROTTLED_HW_THERMAL, THROTTLED_POWER_BRAKE, THROTTLED_POWER_CAP)
STILL: Values = dict.fromkeys(COUNTERS, 5000.0) | {
    CLOCK_SM: 1_095_000_000, CLOCK_SM_MAX: 1_980_000_000, TEMPERATURE: 88, TEMPERATURE_MARGIN: 0, EVENT_REASONS: (),
    POWER_LIMIT: 700.0, POWER_LIMIT_DEFAULT: 700.0,
}  # fmt: skip
NONE: Values = STILL | dict.fromkeys(COUNTERS, Missing.UNSUPPORTED)


def growing(metric: Metric[Any], share: float, first: int = 0, **others: Any) -> Callable[[int], Frame]:
    """Return a GPU beside a cool one, with a counter that grows for this share of the time from a second on."""

    def made_at(second: int) -> Frame:
        value = 5000.0 + share * max(0, second - first)
        return frame((gpu(0, STILL | {metric: value}, **others), gpu(1, STILL | {TEMPERATURE: 61})))

    return made_at


def shown(made_at: Callable[[int], Frame], seconds: Iterable[int]) -> list[tuple[str, Stage]]:
    return [(found.code, found.stage) for found in last(made_at, seconds)]


def last(made_at: Callable[[int], Frame], seconds: Iterable[int]) -> tuple[Finding, ...]:
    return watch(judge_of("throttle"), seconds, made_at)[-1]


def test_counters_that_stand_still_say_nothing_however_high() -> None:
    assert shown(lambda _: frame((gpu(0, STILL),)), range(400)) == []


@pytest.mark.parametrize(
    ("metric", "share", "found"),
    [
        (THROTTLED_HW_THERMAL, 0.2, [("throttle.thermal", Stage.ALARM)]),
        (THROTTLED_POWER_BRAKE, 0.2, [("throttle.power_brake", Stage.ALARM)]),
        (THROTTLED_SW_THERMAL, 0.2, [("throttle.thermal", Stage.SUSPECT)]),
        (THROTTLED_SW_THERMAL, 0.04, []),
        (THROTTLED_HW_THERMAL, 0.005, []),
        (THROTTLED_POWER_CAP, 0.3, []),
        (THROTTLED_POWER_CAP, 0.9, [("throttle.power_cap", Stage.OBSERVATION)]),
    ],
)
def test_a_minute_of_it(metric: Metric[Any], share: float, found: list[tuple[str, Stage]]) -> None:
    assert shown(growing(metric, share), range(70)) == found


def test_heat_that_lasts_five_minutes_is_an_alarm() -> None:
    assert shown(growing(THROTTLED_SW_THERMAL, 0.4), range(290)) == [("throttle.thermal", Stage.SUSPECT)]
    assert shown(growing(THROTTLED_SW_THERMAL, 0.4), range(310)) == [("throttle.thermal", Stage.ALARM)]


def test_the_hardware_s_brake_is_told_within_seconds() -> None:
    first = next(
        second
        for second, found in enumerate(watch(judge_of("throttle"), range(60), growing(THROTTLED_POWER_BRAKE, 1.0, 20)))
        if found
    )

    assert first <= 22


def test_the_words_have_clock_share_temperature_and_neighbours() -> None:
    (found,) = last(growing(THROTTLED_SW_THERMAL, 0.64), range(310))

    assert found.summary == (
        "thermal slowdown for 64% of the last 5m00: SM clock at 1095 of 1980 MHz; 88°C "
        "(0°C below the hardware slowdown); "
        "the other GPUs are at 61°C"
    )
    normal = {one.name: (one.now_text, one.normal_text) for one in found.evidence if one.normal is not None}
    assert normal == {"temperature_c": ("88°C", "61°C"), "clock_sm_hz": ("1095MHz", "1980MHz")}


def test_it_ends_a_minute_after_the_last_of_it() -> None:
    def made_at(second: int) -> Frame:
        return growing(THROTTLED_HW_THERMAL, 0.5)(min(second, 60))

    ends = [bool(now) for now in watch(judge_of("throttle"), range(300), made_at)]

    assert ends[110]
    assert not ends[190]


def test_a_limit_that_somebody_lowered_makes_a_suspect_of_the_cap() -> None:
    def made_at(second: int) -> Frame:
        return frame((gpu(0, STILL | {THROTTLED_POWER_CAP: 0.9 * second, POWER_LIMIT: 400.0}),))

    (found,) = last(made_at, range(100))

    assert found.stage is Stage.SUSPECT
    assert "the limit is 400W instead of 700W" in found.summary
    assert [one.normal_text for one in found.evidence if one.name == "power_limit_w"] == ["700W"]
    assert "-pl 700" in found.remedy


def test_a_capped_board_far_slower_than_its_busy_siblings_is_a_suspect() -> None:
    def made_at(second: int) -> Frame:
        capped = {THROTTLED_POWER_CAP: 0.9 * second}
        others = [gpu(n, STILL | {CLOCK_SM: 1_900_000_000}) for n in (1, 2, 3)]
        return frame((gpu(0, STILL | capped), *others))

    (found,) = last(made_at, range(200))

    assert (found.code, found.stage, found.subject.label) == ("throttle.power_cap", Stage.SUSPECT, "GPU 0")


def test_idle_siblings_are_no_measure() -> None:
    def made_at(second: int) -> Frame:
        others = [gpu(n, STILL | {CLOCK_SM: 1_900_000_000, GPU_UTILIZATION: 0}) for n in (1, 2, 3)]
        return frame((gpu(0, STILL | {THROTTLED_POWER_CAP: 0.9 * second}), *others))

    assert shown(made_at, range(200)) == [("throttle.power_cap", Stage.OBSERVATION)]


# --- without counters ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("software thermal", [("throttle.thermal", Stage.SUSPECT)]),
        ("hardware thermal", [("throttle.thermal", Stage.ALARM)]),
        ("power brake", [("throttle.power_brake", Stage.ALARM)]),
        ("hardware slowdown", []),
        ("power cap", []),
        ("idle", []),
    ],
)
def test_reasons_count_after_ten_seconds(reason: str, found: list[tuple[str, Stage]]) -> None:
    def made_at(_: int) -> Frame:
        return frame((gpu(0, NONE | {EVENT_REASONS: (reason,)}),))

    assert shown(made_at, range(10)) == []
    assert shown(made_at, range(12)) == found


def test_what_is_lacking_is_named() -> None:
    (found,) = last(lambda _: frame((gpu(0, NONE | {EVENT_REASONS: ("power brake",)}),)), range(12))

    assert found.lacking == ("how long the clocks were reduced (the driver does not count it)",)


def test_a_reason_that_comes_and_goes_does_not_count_without_counters() -> None:
    def made_at(second: int) -> Frame:
        return frame((gpu(0, NONE | {EVENT_REASONS: ("software thermal",) if second % 10 < 8 else ()}),))

    assert shown(made_at, range(300)) == []


# --- gaps ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("metric", COUNTERS)
def test_what_grew_while_nobody_watched_says_nothing(metric: Metric[Any]) -> None:
    def made_at(second: int) -> Frame:
        return frame((gpu(0, STILL | {metric: 0.0 if second < 100 else 3000.0}),))

    assert shown(made_at, [*range(90), *range(4000, 4070)]) == []


@pytest.mark.parametrize("metric", COUNTERS)
def test_a_counter_that_was_reset_says_nothing(metric: Metric[Any]) -> None:
    def made_at(second: int) -> Frame:
        state = GpuState.LOST if 30 <= second < 40 else GpuState.OK
        lost: dict[str, Any] = {"metrics": {}, "missing": {}} if state is GpuState.LOST else {}
        return frame((gpu(0, STILL | {metric: 9e6 if second < 30 else 0.5}, state=state, **lost),))

    assert shown(made_at, range(120)) == []


def test_a_clock_that_goes_back_does_no_harm() -> None:
    assert shown(lambda _: frame((gpu(0, STILL),)), (0, 1, 2, -500, -499, -498)) == []
