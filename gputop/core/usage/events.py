"""The events of each GPU since gputop started: Xids, and how often the clocks were lowered in the last minutes."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from gputop.core.model.catalogue import EVENT_REASONS
from gputop.core.model.sample import Frame, Gpu, XidEvent

K = TypeVar("K", int, str)

WINDOW_S: Final = 300.0
_MOST_KINDS: Final = 64  # of Xids of one GPU; later kinds are not counted
_MOST_SAMPLES: Final = 3000  # of a window, at the shortest interval


class XidCount(Struct, frozen=True):
    """How often an Xid was reported, and when for the last time, in seconds since the epoch."""

    count: int
    last_s: float


class GpuEvents(Struct, frozen=True):
    """The events of a GPU. ``last``: the last Xid. ``recent`` and ``lowered`` are counts of the last `WINDOW_S`."""

    xids: Mapping[int, XidCount] = {}
    last: int | None = None
    recent: Mapping[int, int] = {}
    lowered: Mapping[str, int] = {}


class EventCounts:
    """Counts the events of frames. A GPU that is no longer present is forgotten."""

    def __init__(self) -> None:
        self._gpus: dict[str, _Counts] = {}

    def take(self, frame: Frame) -> None:
        """Count the new events of a frame."""
        self._gpus = {gpu.uuid: self._gpus.get(gpu.uuid) or _Counts() for gpu in frame.gpus}
        for gpu in frame.gpus:
            self._gpus[gpu.uuid].take(gpu, frame.time_s)

    def of(self, uuid: str) -> GpuEvents:
        """Return the events of a GPU."""
        counts = self._gpus.get(uuid)
        return counts.events() if counts else GpuEvents()


class _Counts:
    def __init__(self) -> None:
        self._before: Counter[XidEvent] = Counter()
        self._xids: dict[int, XidCount] = {}
        self._last: int | None = None
        self._recent: _Window[int] = _Window()
        self._lowered: _Window[str] = _Window()

    def take(self, gpu: Gpu, now_s: float) -> None:
        present = Counter(gpu.xids)
        for event in (present - self._before).elements():
            self._count(event, now_s)
        self._before = present
        reasons = gpu[EVENT_REASONS]
        if reasons is not None:
            self._lowered.add(reasons, now_s)
        self._recent.end(now_s)
        self._lowered.end(now_s)

    def events(self) -> GpuEvents:
        return GpuEvents(dict(self._xids), self._last, dict(self._recent.counts), dict(self._lowered.counts))

    def _count(self, event: XidEvent, now_s: float) -> None:
        self._last = event.xid
        self._recent.add((event.xid,), now_s)
        known = self._xids.get(event.xid, XidCount(0, 0.0))
        if known.count or len(self._xids) < _MOST_KINDS:
            self._xids[event.xid] = XidCount(known.count + 1, event.time_s)


class _Window(Generic[K]):
    """Counts of the last `WINDOW_S`, kept up to date: a scrape must not count thousands of samples."""

    def __init__(self) -> None:
        self.counts: dict[K, int] = {}
        self._samples: deque[tuple[float, Sequence[K]]] = deque()

    def add(self, keys: Sequence[K], now_s: float) -> None:
        self._samples.append((now_s, keys))
        for key in keys:
            self.counts[key] = self.counts.get(key, 0) + 1
        if len(self._samples) > _MOST_SAMPLES:
            self._drop()

    def end(self, now_s: float) -> None:
        while self._samples and not 0 <= now_s - self._samples[0][0] < WINDOW_S:
            self._drop()

    def _drop(self) -> None:
        for key in self._samples.popleft()[1]:
            self.counts[key] -= 1
            if not self.counts[key]:
                del self.counts[key]
