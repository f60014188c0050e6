"""Quantities as text: short, and of a width that does not jump."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.model.metric import Unit
from gputop.core.model.units import NOTHING, bytes_text, duration_text, number_text, percent_text, rate_text, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, NOTHING),
        (0, "0B"),
        (999, "999B"),
        (1000, "1.0KiB"),
        (1024, "1.0KiB"),
        (1536, "1.5KiB"),
        (99.9 * 1024, "99.9KiB"),
        (99.96 * 1024, "100KiB"),
        (999 * 1024, "999KiB"),
        (999.6 * 1024, "1.0MiB"),
        (80 * 1024**3, "80.0GiB"),
        (1024**4, "1.0TiB"),
        (3 * 1024**5, "3.0PiB"),
    ],
)
def test_bytes(value: float | None, text: str) -> None:
    assert bytes_text(value) == text


@given(st.integers(0, 999 * 1024**5))
def test_bytes_never_take_more_than_seven_cells_and_are_near_the_truth(value: int) -> None:
    text = bytes_text(value)

    number = text.rstrip("BiKMGTP")
    factor = 1024 ** ("BKMGTP".index(text[len(number)]))
    assert len(text) <= 7
    assert abs(float(number) * factor - value) <= max(0.06 * factor, 0.0051 * value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, NOTHING),
        (-5, "0s"),
        (0.9, "0s"),
        (59.9, "59s"),
        (60, "1m00"),
        (3599, "59m59"),
        (3600, "1h00"),
        (86_399, "23h59"),
        (86_400, "1d00h"),
        (86_400 * 999 + 3600 * 5, "999d05h"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text


def test_percent_rates_and_plain_numbers() -> None:
    assert (percent_text(86.6), percent_text(None)) == ("87%", NOTHING)
    assert (rate_text(3.2 * 1024**3), rate_text(None)) == ("3.2GiB/s", NOTHING)
    assert (number_text(12.4), number_text(0), number_text(None)) == ("12", "0", NOTHING)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, Unit.WATTS, NOTHING),
        (float("nan"), Unit.WATTS, NOTHING),
        (612.4, Unit.WATTS, "612W"),
        (60, Unit.CELSIUS, "60°C"),
        (87, Unit.PERCENT, "87%"),
        (1_980_000_000, Unit.HERTZ, "1980MHz"),
        (1024, Unit.BYTES, "1.0KiB"),
        (1024, Unit.BYTES_PER_S, "1.0KiB/s"),
        (3600, Unit.SECONDS, "1h00"),
        (500, Unit.JOULES, "500J"),
        (7_200_000, Unit.JOULES, "2.00kWh"),
        (4, Unit.COUNT, "4"),
        (0, Unit.COUNT, "0"),
        (True, Unit.NONE, "on"),
        (False, Unit.NONE, "off"),
        ("9.0", Unit.NONE, "9.0"),
        (("idle", "power cap"), Unit.NONE, "idle, power cap"),
        ((), Unit.NONE, "none"),
    ],
)
def test_values_with_their_unit(value: object, unit: Unit, text: str) -> None:
    assert value_text(value, unit) == text
