"""Tones, apart from their choice by metrics, because plugins use them before the catalogue is loaded."""

from enum import Enum


class Tone(str, Enum):
    """The urgency of a value. NONE: no value; OK: no attention; WARM: check it; HOT: act."""

    NONE = "none"
    OK = "ok"
    WARM = "warm"
    HOT = "hot"
