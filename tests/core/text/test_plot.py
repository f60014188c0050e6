"""Plots on a fixed scale: what a reader may conclude from the dots."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.text.plot import area, bar, samples_shown


def test_a_plot_has_the_size_that_was_asked_for() -> None:
    rows = area([50.0] * 100, 100.0, (12, 3), count=100)

    assert [len(row) for row in rows] == [12, 12, 12]


def test_a_steady_value_is_a_flat_line_whatever_its_height() -> None:
    rows = area([97.0, 98.0, 97.0, 98.0] * 10, 100.0, (10, 2), count=40)

    assert len(set(rows[0])) == 1


def test_a_gap_is_blank_and_a_true_zero_is_a_dot() -> None:
    assert area([nan, nan, 0.0, 0.0], 100.0, (2, 1), count=4) == [" ⣀"]


@pytest.mark.parametrize(("samples", "cells"), [(1, 8), (2, 16), (3, 24), (5, 20), (8, 32), (9, 18), (33, 17)])
def test_a_young_plot_is_no_stub_at_the_edge_of_nothing(samples: int, cells: int) -> None:
    drawn = area([100.0] * samples, 100.0, (32, 1), count=samples)[0]

    assert len(drawn.rstrip()) == cells


def test_the_time_that_a_plot_covers_is_never_shorter_than_what_is_known() -> None:
    assert [samples_shown(32, held) for held in (0, 1, 4, 5, 32, 33, 64)] == [4, 4, 4, 8, 32, 64, 64]


def test_a_value_above_the_scale_stays_inside() -> None:
    assert area([900.0, 900.0], 100.0, (1, 2), count=2) == area([100.0, 100.0], 100.0, (1, 2), count=2)


def test_the_highest_dot_stays_free_so_that_stacked_plots_do_not_touch() -> None:
    assert area([100.0, 100.0], 100.0, (1, 1), count=2) == ["⣶"]


def test_an_unknown_scale_draws_nothing() -> None:
    assert area([5.0, 5.0], 0.0, (1, 1), count=2) == [" "]


def test_with_one_more_sample_only_the_last_cell_changes() -> None:
    values = [float(n % 90) for n in range(41)]

    before = area(values[:40], 100.0, (10, 2), count=40)
    odd = area(values[:41], 100.0, (10, 2), count=41)
    even = area([*values[:41], 7.0], 100.0, (10, 2), count=42)

    assert [row[:-1] for row in odd] == [row[1:] for row in before]
    assert [row[:-1] for row in even] == [row[:-1] for row in odd]


def test_plain_ascii_has_a_plot_too() -> None:
    rows = area([100.0, 100.0, 30.0, 30.0], 100.0, (2, 2), count=4, is_ascii=True)

    assert "".join(rows).isascii()
    assert rows[0] == "| "


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=False, width=32), max_size=40),
    st.integers(0, 20),
    st.integers(0, 4),
    st.integers(0, 100),
)
def test_any_values_fit_the_size(values: list[float], width: int, height: int, count: int) -> None:
    rows = area(values, 100.0, (width, height), count=count)

    assert [len(row) for row in rows] == [width] * height


@pytest.mark.parametrize(
    ("percent", "filled"), [(0, ""), (50, "━━━━━"), (55, "━━━━━╸"), (100, "━" * 10), (140, "━" * 10)]
)
def test_a_bar_is_filled_in_half_cells(percent: float, filled: str) -> None:
    assert bar(percent, 10) == (filled, "─" * (10 - len(filled)))


def test_a_little_is_not_nothing() -> None:
    assert bar(0.1, 10)[0] == "╸"


def test_an_unknown_value_is_an_empty_bar() -> None:
    assert bar(None, 4) == ("", "────")
