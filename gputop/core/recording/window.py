"""The stretch of time that a plot shows, and values spread over the columns of the plot."""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from math import isnan, nan
from typing import Final

from msgspec import Struct

_PATIENCE: Final = 2.5  # intervals after which a missing sample is a gap


class Window(Struct, frozen=True):
    """A stretch of time, in seconds since the epoch."""

    start_s: float
    end_s: float

    @property
    def span_s(self) -> float:
        """The seconds from start to end."""
        return self.end_s - self.start_s


class Times:
    """The times of samples. Each sample covers the time since the one before, unless that is a gap.

    ``most``: number of samples that are kept.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._times: deque[float] = deque(maxlen=most)
        self._covered: deque[float] = deque(maxlen=most)

    def add(self, time_s: float, interval_s: float) -> None:
        """Add the time of a sample. ``interval_s``: expected between two samples."""
        step_s = time_s - self._times[-1] if self._times else interval_s
        self._times.append(time_s)
        self._covered.append(step_s if 0 < step_s <= _PATIENCE * interval_s else interval_s)

    def clear(self) -> None:
        """Remove all times."""
        self._times.clear()
        self._covered.clear()

    def __len__(self) -> int:
        return len(self._times)

    def window(self, count: int) -> Window | None:
        """Return the window over the last ``count`` samples; None without samples."""
        held = min(count, len(self._times))
        return Window(self._times[-held] - self._covered[-held], self._times[-1]) if held else None

    def spread(self, values: Sequence[float], window: Window, parts: int) -> list[float]:
        """Return the highest value in each of ``parts`` equal parts of a window; NaN marks a gap.

        ``values``: of the last samples. A value that covers several parts fills them all; between two samples that
        are far apart there is a gap.
        """
        found = [nan] * parts
        per_s = parts / window.span_s
        first = len(self._times) - len(values)
        covered = islice(self._covered, first, None)
        for end_s, covered_s, value in zip(islice(self._times, first, None), covered, values, strict=True):
            if isnan(value) or end_s <= window.start_s:
                continue
            start = int(max(0.0, (end_s - covered_s - window.start_s) * per_s) + 1e-6)
            if start >= parts:
                break
            end = min(parts, int((end_s - window.start_s) * per_s + 1e-6))
            for part in range(start, max(end, start + 1)):
                if not value <= found[part]:  # also replaces NaN
                    found[part] = value
        return found
