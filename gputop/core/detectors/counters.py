"""How much a counter grew over the last minutes; one that goes back, or that nobody watched, starts again."""

from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from gputop.core.detection.detector import FORGET_S, Context
from gputop.core.model.sample import Gpu, GpuState

T = TypeVar("T")

_APART_S: Final = 5.0  # between two points
_MOST: Final = 700  # points: a bound for memory


class Growth:
    """The course of a counter, a point every 5 s or more. ``longest_s``: how far back it is known; bounded memory."""

    __slots__ = ("_apart_s", "_last", "_longest_s", "_points")

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._apart_s = max(_APART_S, longest_s / _MOST)
        self._points: deque[tuple[float, float]] = deque(maxlen=_MOST + 2)
        self._last = (0.0, 0.0)

    def add(self, now_s: float, value: float | None) -> None:
        """Add what the counter says; None where it says nothing now."""
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
        """Return by how much it grew in the last ``span_s`` seconds, or since it is known, and in how many seconds."""
        points, (now_s, value) = self._points, self._last
        if not points:
            return 0.0, 0.0
        first = points[0]
        if span_s < self._longest_s and first[1] != value:
            first = next((point for point in reversed(points) if now_s - point[0] >= span_s), first)
        return value - first[1], now_s - first[0]


class EachGpu(Generic[T]):
    """What a detector remembers of each GPU; of one that is gone for a minute nothing."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._held: dict[str, tuple[T, float]] = {}

    def of(self, uuid: str, now_s: float) -> T:
        """Return what is remembered of a GPU that is there now."""
        found = self._held.get(uuid)
        held = found[0] if found else self._make()
        self._held[uuid] = (held, now_s)
        return held

    def forget(self, now_s: float) -> None:
        """Forget who is gone."""
        gone = [uuid for uuid, (_, seen_s) in self._held.items() if now_s - seen_s > FORGET_S]
        for uuid in gone:
            del self._held[uuid]


def starts_again(gpu: Gpu, context: Context) -> bool:
    """Say whether counters and durations of a GPU count from here: nobody watched, or it was lost."""
    return context.is_gap or gpu.state is GpuState.LOST
