"""The growth of counters over the last minutes; after a decrease or a gap in sampling it starts again."""

from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from gputop.core.detection.detector import FORGET_S, Context
from gputop.core.model.sample import Gpu, GpuState

T = TypeVar("T")

_APART_S: Final = 5.0  # between two points
_MOST: Final = 700  # points, to bound the memory


class Growth:
    """The course of a counter, a point every 5 s or more. ``longest_s``: how far it reaches back. Memory is bounded."""

    __slots__ = ("_apart_s", "_last", "_longest_s", "_points")

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._apart_s = max(_APART_S, longest_s / _MOST)
        self._points: deque[tuple[float, float]] = deque(maxlen=_MOST + 2)
        self._last = (0.0, 0.0)

    def add(self, now_s: float, value: float | None) -> None:
        """Add a value of the counter; None if it is missing now."""
        if value is None:
            return
        points, before = self._points, self._last
        self._last = now = (now_s, value)
        if points:
            if value >= before[1] and now_s - points[-1][0] < self._apart_s:
                return
            if value < before[1]:
                points.clear()
        points.append(now)
        while len(points) > 1 and now_s - points[1][0] >= self._longest_s:
            points.popleft()

    def forget(self) -> None:
        """Start again."""
        self._points.clear()

    def over(self, span_s: float) -> tuple[float, float]:
        """Return the growth in the last ``span_s`` seconds, or since the first point, and the seconds that it took."""
        points, (now_s, value) = self._points, self._last
        if not points:
            return 0.0, 0.0
        first = points[0]
        if span_s < self._longest_s and first[1] != value:
            first = next((point for point in reversed(points) if now_s - point[0] >= span_s), first)
        return value - first[1], now_s - first[0]


class EachGpu(Generic[T]):
    """The memory of a detector about each GPU; it forgets a GPU that was absent for a minute."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: dict[str, tuple[T, float]] = {}

    def of(self, uuid: str, now_s: float) -> T:
        """Return the memory about a GPU that is present now."""
        found = self._kept.get(uuid)
        kept = found[0] if found else self._make()
        self._kept[uuid] = (kept, now_s)
        return kept

    def forget(self, now_s: float) -> None:
        """Forget the GPUs that have been absent for a minute."""
        absent = [uuid for uuid, (_, seen_s) in self._kept.items() if now_s - seen_s > FORGET_S]
        for uuid in absent:
            del self._kept[uuid]


def starts_again(gpu: Gpu, context: Context) -> bool:
    """Return whether counters and durations of a GPU start again: after a gap in sampling, or if it was lost."""
    return context.is_gap or gpu.state is GpuState.LOST
