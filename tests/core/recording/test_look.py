"""What part of a history is shown: zoom, pan and cursor never leave it, and the axis has round times."""

import time
from collections.abc import Iterator
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.recording.look import SPANS, Look, column_of, ticks
from gputop.core.recording.window import Window

HOUR = Window(1_800_000_000.0, 1_800_003_600.0)
MINUTE, FIVE, ALL = 0, 1, len(SPANS) - 1


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_look_follows_the_last_sample_by_whole_columns() -> None:
    early = Look(FIVE).window(Window(0, 1001), 100)
    late = Look(FIVE).window(Window(0, 1002), 100)

    assert early == Window(702, 1002)
    assert late == early


def test_all_is_all() -> None:
    assert Look(ALL).window(HOUR, 100) == HOUR


def test_zooming_in_keeps_the_cursor_in_the_middle() -> None:
    look = Look(FIVE, cursor_s=HOUR.start_s + 1000).zoomed(-1, HOUR)

    assert look.window(HOUR, 60) == Window(HOUR.start_s + 970, HOUR.start_s + 1030)


def test_zooming_out_of_the_past_does_not_show_time_before_the_first_sample() -> None:
    look = Look(MINUTE, end_s=HOUR.start_s + 70).zoomed(1, HOUR)

    assert look.window(HOUR, 60) == Window(HOUR.start_s, HOUR.start_s + 300)


def test_panning_goes_back_by_a_share_and_stops_at_the_first_sample() -> None:
    look = Look(FIVE).panned(-0.5, HOUR)
    assert look.end_s == HOUR.end_s - 150

    for _ in range(100):
        look = look.panned(-0.5, HOUR)

    assert look.window(HOUR, 60).start_s == HOUR.start_s


def test_panning_to_the_end_follows_again() -> None:
    assert Look(FIVE).panned(-0.5, HOUR).panned(1.0, HOUR).end_s is None


def test_in_the_past_the_cursor_begins_at_the_right_edge() -> None:
    look = Look(MINUTE).panned(-2, HOUR).pointed(-1, HOUR, 60)

    assert look.cursor_s == HOUR.end_s - 121
    assert look.end_s == HOUR.end_s - 120


def test_the_cursor_begins_at_the_last_sample_and_the_window_follows_it_back() -> None:
    look = Look(MINUTE).pointed(0, HOUR, 60)
    assert look.cursor_s == HOUR.end_s

    look = look.pointed(-100, HOUR, 60)

    assert look.cursor_s == HOUR.end_s - 100
    window = look.window(HOUR, 60)
    assert window.start_s < HOUR.end_s - 100 <= window.end_s


@given(
    st.lists(st.tuples(st.sampled_from(["zoomed", "panned", "pointed"]), st.integers(-9, 9)), max_size=20),
    st.integers(1, 20_000), st.integers(1, 200),
)  # fmt: skip
def test_window_and_cursor_stay_in_the_history(steps: list[tuple[str, int]], seconds: int, columns: int) -> None:
    whole = Window(HOUR.start_s, HOUR.start_s + seconds)
    look = Look()
    for name, step in steps:
        match name:
            case "zoomed":
                look = look.zoomed(step, whole)
            case "panned":
                look = look.panned(step / 3, whole)
            case _:
                look = look.pointed(step, whole, columns)
    window = look.window(whole, columns)

    assert window.span_s > 0
    assert window.span_s < inf
    assert whole.start_s <= window.end_s <= whole.end_s + window.span_s / columns + 0.001
    if look.cursor_s is not None:
        assert whole.start_s <= look.cursor_s <= whole.end_s


def test_a_time_at_the_right_edge_is_in_the_last_column() -> None:
    window = Window(0, 60)

    assert [column_of(at, window, 60) for at in (0.5, 1, 60, 61)] == [0, 0, 59, None]


@pytest.mark.parametrize(
    ("span_s", "most", "step_s"), [(60, 4, 15), (60, 6, 10), (300, 6, 60), (3600, 6, 600), (14_400, 5, 3600)]
)
def test_ticks_are_round_times_of_day(span_s: float, most: int, step_s: float) -> None:
    found = ticks(Window(HOUR.start_s + 7, HOUR.start_s + 7 + span_s), most)

    assert 1 <= len(found) <= most
    assert all(at % step_s == 0 for at in found)
    assert {b - a for a, b in pairwise(found)} <= {step_s}
