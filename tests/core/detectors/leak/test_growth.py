"""Each reason why a window of time does not look like a leak, by the least trace that has it; waves, odds, trends."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import log, sin

import pytest

from gputop.core.detectors.leak.buckets import BUSY, IDLE, UNKNOWN
from gputop.core.detectors.leak.growth import Growth, Why, Window, fall_backs, growth
from gputop.core.detectors.leak.likelihood import odds
from gputop.core.detectors.leak.trend import slopes, trend
from gputop.core.detectors.leak.waves import without_waves

BUCKETS = 40
WIDTH_S = 30.0


def window(lows: Sequence[float], work: Sequence[int] = (), falls: Sequence[float] = ()) -> Window:
    """Return buckets of half a minute; what they are highest at is what they are lowest at."""
    count = len(lows)
    starts = [WIDTH_S * at for at in range(count)]
    return Window(starts, list(lows), list(lows), falls or [0.0] * count, work or [BUSY] * count)


def found(lows: Sequence[float], work: Sequence[int] = (), least_span_s: float = 900.0) -> Growth | Why:
    return growth(window(lows, work), least_span_s, 64.0)


def made(value_at: Callable[[int], float], count: int = BUCKETS) -> list[float]:
    return [value_at(at) for at in range(count)]


STEADY = made(lambda at: 1000.0 + 30 * at)


def test_steady_growth_passes_with_its_rate_and_its_range() -> None:
    one = found(STEADY)

    assert isinstance(one, Growth)
    assert (one.rate, one.slow, one.fast, one.even) == pytest.approx((1.0, 1.0, 1.0, 1.0))
    assert (one.grown, one.low_mib, one.segments, one.of, one.cycles) == (30.0 * (BUCKETS - 1), 1000.0, 8, 8, 0)


@pytest.mark.parametrize(
    ("lows", "why"),
    [
        pytest.param(STEADY[:11], Why.SHORT, id="eleven buckets"),
        pytest.param(STEADY[:30], Why.SHORT, id="less than the span"),
        pytest.param(made(lambda at: 1000 + at), Why.NOT_RETAINED, id="little"),
        pytest.param([*STEADY[:20], *made(lambda _: 1010, 20)], Why.CAME_BACK, id="came back once"),
        pytest.param(made(lambda at: 1000 + 50 * (at % 8)), Why.TROUGHS, id="teeth"),
        pytest.param(made(lambda at: 1000 + 300 * (at // 10)), Why.FEW_STEPS, id="four steps"),
        pytest.param(made(lambda at: 1000 + 100 * max(0, (at - 24) // 2)), Why.NOT_SPREAD, id="only at the end"),
        pytest.param(made(lambda at: 1000 + at + 60 * max(0, min(12, at - 15))), Why.ONE_BURST, id="a ramp"),
        pytest.param(made(lambda at: 1000 + 600 * (1 - 0.95**at)), Why.SLOWING, id="saturating"),
        pytest.param(made(lambda at: 1000 + min(at, 32) ** 2), Why.STOPPED, id="stopped"),
    ],
)
def test_what_is_no_leak_has_its_reason(lows: list[float], why: Why) -> None:
    assert found(lows) is why


def test_growth_while_the_gpu_is_idle_is_loading() -> None:
    assert found(STEADY, [IDLE] * BUCKETS) is Why.LOADING
    assert isinstance(found(STEADY, [IDLE] * 20 + [BUSY] * 20), Growth)


def test_growth_of_which_nobody_knows_whether_the_gpu_worked_says_so() -> None:
    one = found(STEADY, [UNKNOWN] * BUCKETS)

    assert isinstance(one, Growth)
    assert not one.is_work_known


def test_noise_needs_a_quarter_of_an_hour() -> None:
    noisy = made(lambda at: 1000 + 9 * at + (60 if at % 2 else 0), 22)

    assert growth(window(noisy), 300, 64) is Why.NOISY


def test_one_large_step_does_not_make_growth_nor_hide_it() -> None:
    def with_step(value: float, at: int) -> float:
        return value + (3000 if at > 20 else 0)

    assert isinstance(found([with_step(value, at) for at, value in enumerate(STEADY)]), Growth)
    assert found([with_step(1000 + at / 10, at) for at in range(BUCKETS)]) in {Why.ONE_BURST, Why.NO_TREND}


def test_rising_troughs_of_teeth_pass_and_the_unfinished_tooth_is_not_counted() -> None:
    one = found(made(lambda at: 1000 + 20 * at + 100 * (at % 5), 48))

    assert isinstance(one, Growth)
    assert one.cycles == 9
    assert one.grown == 20.0 * 45


def test_a_fall_inside_a_bucket_is_a_come_back() -> None:
    falls = [0.0] * BUCKETS
    falls[10] = 200.0

    assert fall_backs(window(made(lambda _: 1000), falls=falls)) == [10]
    assert fall_backs(window(made(lambda _: 1000))) == []


def test_a_descent_of_several_buckets_is_one_come_back_at_its_end() -> None:
    assert fall_backs(window([1000, 1500, 2000, 1700, 1400, 1100, 1050, 1200])) == [6]


def test_a_come_back_long_ago_is_forgotten() -> None:
    one = found([1000, 3000, *made(lambda at: 1000 + 30 * at)])

    assert isinstance(one, Growth)
    assert one.cycles == 0


def test_what_is_small_beside_the_rise_is_no_come_back() -> None:
    dips = made(lambda at: 1000 + 60 * at - (100 if at == 30 else 0))

    assert fall_backs(window(dips)) == []


# --- waves ---------------------------------------------------------------------------------------------------------
def test_below_a_regular_wave_growth_is_seen() -> None:
    wave = made(lambda at: 5000 + 2000 * sin(at / 2) + 15 * at, 90)
    calm = without_waves(window(wave))

    assert calm is not None
    one = growth(calm[0], 600, 64)
    assert isinstance(one, Growth)
    assert one.rate == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize(
    "value_at",
    [
        lambda at: 5000 + 2000 * sin(at / 2),
        lambda at: 5000 + 15 * at,
        lambda at: 5000 + (at % 12 >= 6) * 20 * at,
    ],
    ids=["a wave alone", "growth alone", "growing peaks over a constant floor"],
)
def test_where_the_troughs_of_a_wave_do_not_rise_nothing_is_taken_out(value_at: Callable[[int], float]) -> None:
    assert without_waves(window(made(value_at, 90))) is None


# --- steady against fading -------------------------------------------------------------------------------------------
def test_a_steady_rate_is_likelier_than_one_that_fades() -> None:
    assert odds(window(STEADY), 0.0) > 3


def test_logarithmic_growth_is_not() -> None:
    assert odds(window(made(lambda at: 1000 + 400 * log(1 + at))), 0.0) < 1


def test_of_an_old_process_the_same_growth_says_less() -> None:
    assert odds(window(STEADY), 36_000.0) < odds(window(STEADY), 0.0)


def test_growth_that_begins_late_is_steady_from_then_on() -> None:
    assert odds(window([*made(lambda _: 1000), *STEADY]), 0.0) > 3


def test_a_lone_large_step_early_on_changes_little() -> None:
    steps = [500.0 if at == 2 else 30.0 for at in range(BUCKETS)]

    assert odds(window(list(accumulate(steps))), 0.0) > 3


# --- trend -----------------------------------------------------------------------------------------------------------
def test_a_trend_is_told_from_noise_and_from_none() -> None:
    assert trend(list(range(12))) > 3
    assert abs(trend([1, 2] * 10)) < 3
    assert trend([5.0] * 20) == 0


def test_slopes_are_those_of_most_pairs_and_one_step_does_not_move_the_middle() -> None:
    times = [float(at) for at in range(20)]

    assert slopes(times, [2 * at for at in times]) == (2.0, 2.0, 2.0)
    assert slopes(times, [0.0] * 19 + [1000.0])[1] == 0
    assert slopes([1.0], [1.0]) == (0.0, 0.0, 0.0)
