"""Buckets of memory over time: the lowest value, the highest value and the deepest fall of each interval."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array
from typing import Final

BUSY: Final = 0
LIGHT: Final = 1
IDLE: Final = 2
UNKNOWN: Final = 3
"""The most activity of the process on its GPU during an interval, the busiest first. Copies alone are `LIGHT`."""
_WIDTH: Final = 4  # start, low, high, fall


class Buckets:
    """The last ``most`` intervals, oldest first, in 17 bytes each. Times are seconds, memory is MiB.

    ``falls``: the deepest fall inside. ``work``: `IDLE` if the process never computed. An interval without samples has
    no bucket. All numbers are in one array: separate arrays would take more memory than the numbers.
    """

    __slots__ = ("_rows", "most", "work")

    def __init__(self, most: int) -> None:
        self.most = most
        self._rows: array[float] = array("f")
        self.work = bytearray()

    def __len__(self) -> int:
        return len(self.work)

    @property
    def starts(self) -> array[float]:
        """Return the start of each."""
        return self._rows[::_WIDTH]

    @property
    def lows(self) -> array[float]:
        """Return the lowest value of each."""
        return self._rows[1::_WIDTH]

    @property
    def highs(self) -> array[float]:
        """Return the highest value of each."""
        return self._rows[2::_WIDTH]

    @property
    def falls(self) -> array[float]:
        """Return the deepest fall in each."""
        return self._rows[3::_WIDTH]

    @property
    def last_start(self) -> float:
        """Return the start of the last; -1 if there is none."""
        return self._rows[-_WIDTH] if self.work else -1.0

    @property
    def last_low(self) -> float:
        """Return the lowest value of the last."""
        return self._rows[1 - _WIDTH]

    def add(self, start: float, low: float, high: float, fall: float, work: int) -> None:
        """Add a complete interval."""
        self._rows.extend((start, low, high, fall))
        self.work.append(work)

    def drop_oldest(self) -> None:
        """Drop the oldest intervals above the maximum."""
        more = len(self.work) - self.most
        if more > 0:
            del self._rows[: more * _WIDTH]
            del self.work[:more]

    def put(self, low: float, high: float, fall: float, work: int) -> None:
        """Extend the last interval by its next part."""
        rows = self._rows
        before = rows[-2]
        rows[-1] = max(rows[-1], fall, before - low)
        rows[-3] = min(rows[-3], low)
        if high > before:
            rows[-2] = high
        self.work[-1] = min(self.work[-1], work)

    def merged(self, width_s: float, most: int) -> Buckets:
        """Return the same series with intervals of this width, aligned to multiples of it."""
        wide = Buckets(most)
        last = -1.0
        for part in zip(self.starts, self.lows, self.highs, self.falls, self.work, strict=True):
            slot = part[0] // width_s
            if slot == last:
                wide.put(*part[1:])
            else:
                wide.add(*part)
            last = slot
        return wide
