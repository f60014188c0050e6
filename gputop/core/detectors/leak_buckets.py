"""Memory over time in few numbers: the lowest, the highest and the deepest fall of each interval."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array
from typing import Final

BUSY: Final = 0
IDLE: Final = 1
UNKNOWN: Final = 2
"""What a process did on its GPU meanwhile."""


class Buckets:
    """The last ``most`` intervals, oldest first, in 17 bytes each. Times are seconds, memory is MiB.

    ``falls``: the deepest fall inside. ``work``: `IDLE` if it computed nothing all the time. An interval in which
    nothing was seen has no bucket.
    """

    __slots__ = ("falls", "highs", "lows", "most", "starts", "work")

    def __init__(self, most: int) -> None:
        self.most = most
        self.starts: array[float] = array("f")
        self.lows: array[float] = array("f")
        self.highs: array[float] = array("f")
        self.falls: array[float] = array("f")
        self.work = bytearray()

    def __len__(self) -> int:
        return len(self.work)

    @property
    def span_s(self) -> float:
        """Return the time from the first start to the last."""
        return self.starts[-1] - self.starts[0] if self.work else 0.0

    def add(self, start: float, low: float, high: float, fall: float, work: int) -> None:
        """Add an interval that is over."""
        self.starts.append(start)
        self.lows.append(low)
        self.highs.append(high)
        self.falls.append(fall)
        self.work.append(work)

    def drop_oldest(self) -> None:
        """Forget what is more than the most."""
        more = len(self.work) - self.most
        if more > 0:
            for values in (self.starts, self.lows, self.highs, self.falls):
                del values[:more]
            del self.work[:more]

    def put(self, low: float, high: float, fall: float, work: int) -> None:
        """Widen the last interval by a part of it that comes later."""
        self.falls[-1] = max(self.falls[-1], fall, self.highs[-1] - low)
        self.lows[-1] = min(self.lows[-1], low)
        self.highs[-1] = max(self.highs[-1], high)
        self.work[-1] = both(self.work[-1], work)

    def merged(self, width_s: float) -> Buckets:
        """Return the same with intervals of this width, aligned to it."""
        wide = Buckets(self.most)
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
