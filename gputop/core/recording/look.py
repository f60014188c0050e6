"""The part of a history that a page shows: its span, its end, a cursor in it, and the ticks of its axis."""

from math import ceil, floor, inf
from time import localtime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.recording.window import Window

SPANS: Final = (60.0, 300.0, 900.0, 3600.0, inf)
_STEPS: Final = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14_400,
    21_600,
    43_200,
    86_400,
    172_800,
    604_800,
)


class Look(Struct, frozen=True):
    """A choice of what to show. ``zoom``: of ``spans``. ``end_s``: of the window; None follows the last sample.

    ``cursor_s``: the time whose values are read; None: the last ones. ``spans``: those to zoom through.
    """

    zoom: int = 1
    end_s: float | None = None
    cursor_s: float | None = None
    spans: tuple[float, ...] = SPANS

    @classmethod
    def over(cls, whole: Window) -> "Look":
        """Return the closest look that shows everything, an hour at most."""
        return cls(next(zoom for zoom, span_s in enumerate(SPANS) if span_s >= min(whole.span_s, 3600.0)))

    def window(self, whole: Window, columns: int) -> Window:
        """Return the window to show. Following the last sample, it moves by whole columns, so that peaks stay."""
        span_s = self.span_s(whole)
        if self.end_s is not None:
            return Window(self.end_s - span_s, self.end_s)
        if self.zoom == len(self.spans) - 1:
            return whole
        column_s = span_s / columns
        end_s = ceil(whole.end_s / column_s - 1e-6) * column_s
        return Window(end_s - span_s, end_s)

    def span_s(self, whole: Window) -> float:
        """Return the seconds that the window spans."""
        return (
            min(self.spans[self.zoom], max(whole.span_s, 1.0))
            if self.zoom == len(self.spans) - 1
            else self.spans[self.zoom]
        )

    def zoomed(self, step: int, whole: Window) -> "Look":
        """Return a look at more or less time around the cursor, or else up to the same end."""
        look = replace(self, zoom=max(0, min(len(self.spans) - 1, self.zoom + step)))
        if self.cursor_s is None:
            return look if self.end_s is None else look.ending(self.end_s, whole)
        return look.ending(self.cursor_s + look.span_s(whole) / 2, whole)

    def panned(self, share: float, whole: Window) -> "Look":
        """Return a look at earlier or later time, by a share of the window; the cursor stays in it."""
        end_s = whole.end_s if self.end_s is None else self.end_s
        look = self.ending(end_s + share * self.span_s(whole), whole)
        if self.cursor_s is None:
            return look
        moved_s = (whole.end_s if look.end_s is None else look.end_s) - end_s
        return replace(look, cursor_s=max(whole.start_s, min(whole.end_s, self.cursor_s + moved_s)))

    def pointed(self, step: int, whole: Window, columns: int) -> "Look":
        """Return a look with the cursor some columns further; the window follows the cursor."""
        column_s = self.span_s(whole) / columns
        first = self.cursor_s is None
        last_s = whole.end_s if self.end_s is None else self.end_s
        at_s = last_s if self.cursor_s is None else self.cursor_s
        cursor_s = max(whole.start_s, min(whole.end_s, at_s + (min(0, step) if first else step) * column_s))
        look, window = replace(self, cursor_s=cursor_s), self.window(whole, columns)
        if cursor_s < window.start_s + column_s:
            return look.ending(cursor_s - column_s + window.span_s, whole)
        return look.ending(cursor_s, whole) if cursor_s > window.end_s else look

    def ending(self, end_s: float, whole: Window) -> "Look":
        """Return a look with the window up to a time, as far as there is history; at its end it follows."""
        first_s = whole.start_s + self.span_s(whole)
        end_s = max(first_s, end_s)
        return replace(self, end_s=None if end_s >= whole.end_s else end_s)


def column_of(time_s: float, window: Window, columns: int) -> int | None:
    """Return the column of a time; None outside of the window."""
    at = (time_s - window.start_s) * columns / window.span_s
    return min(columns - 1, max(0, ceil(at - 1e-6) - 1)) if -1e-6 <= at <= columns + 1e-6 else None


def ticks(window: Window, most: int) -> list[float]:
    """Return at most ``most`` round local times of day in a window."""
    step_s = next((step for step in _STEPS if window.span_s / step <= most), _STEPS[-1])
    offset_s = localtime(window.start_s).tm_gmtoff
    first = floor((window.start_s + offset_s) / step_s) + 1
    count = int((window.end_s + offset_s) / step_s - first) + 1
    return [(first + n) * step_s - offset_s for n in range(count)]
