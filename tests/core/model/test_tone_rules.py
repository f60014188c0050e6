"""Tones by the board's own limits."""

import pytest
from examples import GIB, gpu

from gputop.core.model.catalogue import (
    EVENT_REASONS,
    MEMORY_USED,
    POWER_AVERAGE,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.model.metric import Missing
from gputop.core.model.tone_rules import memory_tone, pressure_tone, temperature_tone, throttle
from gputop.core.model.units import share
from gputop.core.text.tone import Tone


@pytest.mark.parametrize(("degrees", "tone"), [(60, Tone.OK), (79, Tone.WARM), (86, Tone.HOT), (95, Tone.HOT)])
def test_temperature_is_judged_by_the_slowdown_threshold(degrees: int, tone: Tone) -> None:
    assert temperature_tone(gpu(values={TEMPERATURE: degrees, TEMPERATURE_SLOWDOWN: 89})) is tone


def test_the_margin_that_the_board_reports_counts_before_the_threshold() -> None:
    assert temperature_tone(gpu(values={TEMPERATURE: 60, TEMPERATURE_MARGIN: 2})) is Tone.HOT


def test_without_a_limit_no_temperature_is_judged() -> None:
    assert temperature_tone(gpu(values={TEMPERATURE: 95, TEMPERATURE_SLOWDOWN: Missing.UNSUPPORTED})) is Tone.OK


def test_no_temperature_has_no_tone() -> None:
    assert temperature_tone(gpu(values={TEMPERATURE: Missing.UNSUPPORTED})) is Tone.NONE


@pytest.mark.parametrize(("used", "tone"), [(40, Tone.OK), (73, Tone.WARM), (79, Tone.HOT)])
def test_memory_is_warm_above_90_and_hot_above_97_percent(used: int, tone: Tone) -> None:
    assert memory_tone(gpu(values={MEMORY_USED: used * GIB})) is tone


def test_a_power_cap_is_information() -> None:
    assert throttle(gpu(values={EVENT_REASONS: ("power cap",), POWER_AVERAGE: 700.0})) == ("power cap", Tone.OK)


def test_the_gravest_reason_is_named() -> None:
    assert throttle(gpu(values={EVENT_REASONS: ("power cap", "hardware thermal")})) == ("thermal", Tone.HOT)


def test_full_clocks_have_no_reason() -> None:
    assert throttle(gpu(values={EVENT_REASONS: ()})) == ("", Tone.OK)


def test_unknown_reasons_have_no_tone() -> None:
    assert throttle(gpu()) == ("", Tone.NONE)


def test_a_share_of_nothing_is_unknown() -> None:
    assert share(0, 0) is None


@pytest.mark.parametrize(("percent", "tone"), [(None, Tone.NONE), (1, Tone.OK), (12, Tone.WARM), (50, Tone.HOT)])
def test_pressure_is_judged_by_the_time_waited(percent: float | None, tone: Tone) -> None:
    assert pressure_tone(percent) is tone
