"""The playback of a recording: position, speed, and the frames to show."""

from math import inf, isfinite
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Unit
from gputop.core.model.quantity import quantity
from gputop.core.model.sample import Frame

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, inf)
_DAY_S: Final = 86_400.0
PLACES: Final = "12:30, 1:02:03, 90s, 50%, +30s, -5m, or @14:05:33 for the time of day"


class Playing(Struct, frozen=True, kw_only=True):
    """The position of a playback. ``at_s``: since the start; ``number``: of the frame shown, from 0.

    ``speed``: inf is as fast as the file can be read. ``is_seeking``: it searches for a finding. ``note``: a message to
    the user.
    """

    at_s: float = 0.0
    length_s: float = 0.0
    number: int = 0
    frames: int = 0
    speed: float = 1.0
    is_playing: bool = False
    loops: bool = False
    is_seeking: bool = False
    note: str = ""

    @property
    def is_over(self) -> bool:
        """Say whether the last frame is shown."""
        return self.number + 1 >= self.frames


class Stretch(Struct, frozen=True):
    """A step of a playback. ``frames``: for the plots' history; ``shown``: the frame to show, if it changed.

    ``is_jump``: the frames do not follow the previous ones, whose history must be cleared. After a jump the frame to
    show comes first, and the frames before it follow.
    """

    playing: Playing
    frames: tuple[Frame, ...] = ()
    shown: Frame | None = None
    is_jump: bool = False


def speed_text(speed: float) -> str:
    """Return a speed as text: ``2x``."""
    return f"{speed:g}x" if isfinite(speed) else "full speed"


def place_text(at_s: float) -> str:
    """Return a position as text: ``12:30`` or ``1:02:03``."""
    whole = max(0, int(at_s))
    hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def place(text: str, playing: Playing, clock_s: float) -> float | None:
    """Parse a typed position to seconds since the start; None if invalid.

    ``clock_s``: the shown time of day, in seconds since midnight.
    """
    word = text.strip().lower()
    if word.startswith("@"):
        found = _colons(word[1:], has_hours=True)
        return None if found is None else _at_clock(found, playing, clock_s)
    if word.endswith("%"):
        share = quantity(word, Unit.PERCENT)
        return None if share is None else _within(playing.length_s * share / 100, playing)
    sign = {"+": 1.0, "-": -1.0}.get(word[:1], 0.0)
    amount = _colons(word.lstrip("+-")) if ":" in word else quantity(word.lstrip("+-"), Unit.SECONDS)
    if amount is None:
        return None
    return _within(playing.at_s + sign * amount if sign else amount, playing)


def _within(at_s: float, playing: Playing) -> float:
    return min(max(0.0, at_s), playing.length_s)


def _colons(word: str, *, has_hours: bool = False) -> float | None:
    """Return the seconds of 12:30 or 1:02:03; with ``has_hours``, 14:05 is hours and minutes."""
    parts = word.split(":")
    if not 2 <= len(parts) <= 3 or not all(part.isdecimal() and len(part) <= 4 for part in parts):
        return None
    if has_hours and len(parts) == 2:
        parts.append("0")
    total = 0.0
    for part in parts:
        total = total * 60 + int(part)
    return total


def _at_clock(wanted_s: float, playing: Playing, clock_s: float) -> float:
    """Return the position with this time of day, the nearest one of several."""
    ahead = playing.at_s + wanted_s - clock_s
    days = range(-1 - int(playing.length_s // _DAY_S), 2 + int(playing.length_s // _DAY_S))
    found = [ahead + day * _DAY_S for day in days if 0 <= ahead + day * _DAY_S <= playing.length_s]
    return min(found, key=lambda at: abs(at - playing.at_s)) if found else _within(ahead, playing)
