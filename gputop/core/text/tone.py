"""The tones themselves. `tone` chooses one by metrics; plugins name them before there is a catalogue of those."""

from enum import Enum


class Tone(str, Enum):
    """None: there is no value. Ok needs no attention, warm a look, hot an action."""

    NONE = "none"
    OK = "ok"
    WARM = "warm"
    HOT = "hot"
