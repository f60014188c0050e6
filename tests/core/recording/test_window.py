"""Values spread over the columns of a plot: peaks stay, gaps stay."""

from collections.abc import Sequence
from math import isnan, nan

from hypothesis import given
from hypothesis import strategies as st

from gputop.core.recording.window import Times, Window


def seconds(*times_s: float, interval_s: float = 1.0) -> Times:
    times = Times(1000)
    for time_s in times_s:
        times.add(time_s, interval_s)
    return times


def known(values: Sequence[float]) -> list[float | None]:
    return [None if isnan(value) else value for value in values]


def test_a_young_history_fills_the_whole_width() -> None:
    times = seconds(1, 2)

    assert times.spread([10, 20], Window(0, 2), 6) == [10, 10, 10, 20, 20, 20]


def test_a_peak_of_a_second_is_not_averaged_away() -> None:
    times = seconds(*range(1, 101))
    values = [0.0] * 100
    values[41] = 97.0

    assert times.spread(values, Window(0, 100), 10) == [0, 0, 0, 0, 97, 0, 0, 0, 0, 0]


@given(st.lists(st.integers(0, 100), min_size=1, max_size=200), st.integers(1, 50))
def test_the_highest_value_is_always_shown(values: list[int], parts: int) -> None:
    times = seconds(*(n + 1.0 for n in range(len(values))))

    spread = times.spread(values, Window(0, len(values)), parts)

    assert max(spread) == max(values)
    assert not any(map(isnan, spread))


def test_time_without_samples_is_a_gap_and_never_zero_or_the_last_value() -> None:
    times = seconds(1, 2, 8, 9)

    assert known(times.spread([5, 5, 7, 7], Window(0, 9), 9)) == [5, 5, None, None, None, None, None, 7, 7]


def test_a_missing_value_is_a_gap() -> None:
    assert known(seconds(1, 2, 3).spread([5, nan, 0], Window(0, 3), 3)) == [5, None, 0]


def test_a_longer_interval_is_no_gap() -> None:
    assert seconds(10, 20, interval_s=10).spread([1, 2], Window(0, 20), 4) == [1, 1, 2, 2]


def test_a_series_that_began_later_ends_at_the_same_time() -> None:
    assert known(seconds(1, 2, 3).spread([4], Window(0, 3), 3)) == [None, None, 4]


def test_a_window_in_the_past_shows_only_its_own_samples() -> None:
    times = seconds(*range(1, 11))

    assert times.spread(list(range(10)), Window(2, 5), 3) == [2, 3, 4]


def test_a_time_before_the_first_sample_is_empty() -> None:
    assert known(seconds(5).spread([1], Window(0, 5), 5)) == [None, None, None, None, 1]
