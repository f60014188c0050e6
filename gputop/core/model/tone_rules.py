"""The rules for tones, by the limits of the board. This module chooses a tone; the theme gives it a colour."""

from typing import Final

from gputop.core.model.catalogue import (
    EVENT_REASONS,
    MEMORY_TOTAL,
    MEMORY_USED,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.model.sample import Readings
from gputop.core.model.units import share
from gputop.core.text.tone import Tone

IDLE: Final = "idle clocks"
_WARM_MARGIN_C: Final = 10
_HOT_MARGIN_C: Final = 3
_WARM_SHARE: Final = 90.0
_HOT_SHARE: Final = 97.0

_HOT_REASONS: Final = {"hardware slowdown": "slowdown", "hardware thermal": "thermal", "power brake": "brake"}
_WARM_REASONS: Final = {"software thermal": "thermal", "reliability": "reliab.", "board limit": "board"}
_MILD_REASONS: Final = {
    "power cap": "power cap", "sync boost": "sync", "application clocks": "app clk", "display clocks": "display",
    "idle": IDLE,
}  # fmt: skip


def share_tone(percent: float | None) -> Tone:
    """Judge how full a store is: warm above 90 %, hot above 97 %."""
    if percent is None:
        return Tone.NONE
    if percent > _HOT_SHARE:
        return Tone.HOT
    return Tone.WARM if percent > _WARM_SHARE else Tone.OK


def memory_tone(readings: Readings) -> Tone:
    """Judge how full the frame buffer is."""
    return share_tone(share(readings[MEMORY_USED], readings[MEMORY_TOTAL]))


def temperature_tone(gpu: Readings) -> Tone:
    """Judge the chip by the margin that the board reports, else by its slowdown threshold; without both it is ok."""
    temperature = gpu[TEMPERATURE]
    if temperature is None:
        return Tone.NONE
    margin, slowdown = gpu[TEMPERATURE_MARGIN], gpu[TEMPERATURE_SLOWDOWN]
    if margin is not None:
        return _margin_tone(margin)
    return Tone.OK if slowdown is None else _margin_tone(slowdown - temperature)


def throttle(gpu: Readings) -> tuple[str, Tone]:
    """Return the gravest reason for lowered clocks in a word, and its tone. A power cap is information: ok."""
    reasons = gpu[EVENT_REASONS]
    if reasons is None:
        return "", Tone.NONE
    for table, tone in ((_HOT_REASONS, Tone.HOT), (_WARM_REASONS, Tone.WARM), (_MILD_REASONS, Tone.OK)):
        for reason, word in table.items():
            if reason in reasons:
                return word, tone
    return (reasons[0], Tone.OK) if reasons else ("", Tone.OK)


def pressure_tone(percent: float | None) -> Tone:
    """Judge pressure stall information: some waiting is normal, a tenth of the time is not."""
    if percent is None:
        return Tone.NONE
    if percent >= 40:
        return Tone.HOT
    return Tone.WARM if percent >= 10 else Tone.OK


def _margin_tone(margin_c: float) -> Tone:
    if margin_c <= _HOT_MARGIN_C:
        return Tone.HOT
    return Tone.WARM if margin_c <= _WARM_MARGIN_C else Tone.OK
