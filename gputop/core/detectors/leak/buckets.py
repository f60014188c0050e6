"""Memory over time in few numbers: the lowest, the highest and the deepest fall of each interval."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array
from typing import Final

BUSY: Final = 0
IDLE: Final = 1
UNKNOWN: Final = 2
"""What a process did on its GPU meanwhile."""
_WIDTH: Final = 4  # start, low, high, fall


class Buckets:
    """The last ``most`` intervals, oldest first, in 17 bytes each. Times are seconds, memory is MiB.

    ``falls``: the deepest fall inside. ``work``: `IDLE` if it computed nothing all the time. An interval in which
    nothing was seen has no bucket. All numbers are in one array: an array for each would take more than they do.
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
        """Return when each began."""
        return self._rows[::_WIDTH]

    @property
    def lows(self) -> array[float]:
        """Return the lowest of each."""
        return self._rows[1::_WIDTH]

    @property
    def highs(self) -> array[float]:
        """Return the highest of each."""
        return self._rows[2::_WIDTH]

    @property
    def falls(self) -> array[float]:
        """Return the deepest fall in each."""
        return self._rows[3::_WIDTH]

    @property
    def last_start(self) -> float:
        """Return when the last began; before all times where there is none."""
        return self._rows[-_WIDTH] if self.work else -1.0

    @property
    def last_low(self) -> float:
        """Return the lowest of the last."""
        return self._rows[1 - _WIDTH]

    def add(self, start: float, low: float, high: float, fall: float, work: int) -> None:
        """Add an interval that is over."""
        self._rows.extend((start, low, high, fall))
        self.work.append(work)

    def drop_oldest(self) -> None:
        """Forget what is more than the most."""
        more = len(self.work) - self.most
        if more > 0:
            del self._rows[: more * _WIDTH]
            del self.work[:more]

    def put(self, low: float, high: float, fall: float, work: int) -> None:
        """Widen the last interval by a part of it that comes later."""
        rows = self._rows
        before = rows[-2]
        rows[-1] = max(rows[-1], fall, before - low)
        rows[-3] = min(rows[-3], low)
        if high > before:
            rows[-2] = high
        self.work[-1] = both(self.work[-1], work)

    def merged(self, width_s: float, most: int) -> Buckets:
        """Return the same with intervals of this width, aligned to it."""
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


def both(one: int, other: int) -> int:
    """Return what was done in two intervals together: idle only if it was in all that is known."""
    return one if other in (one, UNKNOWN) else other if one == UNKNOWN else BUSY
