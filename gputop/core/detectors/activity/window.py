"""Means over the last one and a half to three minutes, in two blocks: constant memory, and old values do fall out."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array


class Window:
    """Weighs values by the time for which they stood.

    ``width``: how many are added at a time. ``block_s``: means are of once to twice this time.

    Sums stand in an array, the seconds in which each value was known behind them: floats of their own take thrice as
    much.
    """

    __slots__ = ("_before", "_before_s", "_block_s", "_now", "_now_s", "_width")

    def __init__(self, width: int, block_s: float) -> None:
        self._width, self._block_s = width, block_s
        self._now: array[float] = array("d", bytes(16 * width))
        self._before: array[float] | None = None
        self._now_s = self._before_s = 0.0

    def add(self, step_s: float, values: tuple[float | None, ...]) -> None:
        """Count values that stood for so many seconds; None is not counted."""
        width = self._width
        if self._now_s >= self._block_s:
            self._before, self._before_s = self._now, self._now_s
            self._now, self._now_s = array("d", bytes(16 * width)), 0.0
        self._now_s += step_s
        held = self._now
        for at, value in enumerate(values):
            if value is not None:
                held[at] += value * step_s
                held[width + at] += step_s

    @property
    def passed_s(self) -> float:
        """Return how many seconds the means are of."""
        return self._now_s + self._before_s

    def mean(self, at: int) -> float | None:
        """Return the mean of one of the values; None where it was never known."""
        total, seconds = self._now[at], self._now[self._width + at]
        if self._before is not None:
            total, seconds = total + self._before[at], seconds + self._before[self._width + at]
        return total / seconds if seconds else None
