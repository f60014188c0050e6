"""Means over the last minutes."""

import pytest

from gputop.core.detectors.activity.board import Window


def test_values_are_weighed_by_the_time_for_which_they_stood() -> None:
    window = Window(1, 90.0)
    window.add(1.0, (10.0,))
    window.add(3.0, (50.0,))

    assert window.mean(0) == pytest.approx(40.0)
    assert window.passed_s == 4.0


def test_what_is_not_known_is_not_counted() -> None:
    window = Window(2, 90.0)
    window.add(5.0, (None, 7.0))
    window.add(1.0, (3.0, None))

    assert (window.mean(0), window.mean(1)) == (3.0, 7.0)


def test_of_what_was_never_known_there_is_no_mean() -> None:
    window = Window(1, 90.0)
    window.add(1.0, (None,))

    assert window.mean(0) is None


def test_what_is_older_than_two_blocks_falls_out() -> None:
    window = Window(1, 90.0)
    for value in (0.0, 50.0, 100.0):
        for _ in range(90):
            window.add(1.0, (value,))

    assert window.mean(0) == pytest.approx(75.0)
    assert window.passed_s == 180.0
