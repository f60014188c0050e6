"""What errors has the driver reported? Their meaning, who is to blame, and what to do."""

from collections.abc import Iterator, Mapping, Sequence

from gputop.core.detection.detector import Look, Sign
from gputop.core.detectors.counters import EachGpu
from gputop.core.model.sample import Gpu, XidEvent


class _Seen:
    """The errors of a GPU: each with the second in which it was seen first."""

    def __init__(self) -> None:
        self.events: dict[XidEvent, float] = {}

    def take(self, events: Sequence[XidEvent], now_s: float) -> None:
        """Take what the sample has."""
        if len(events) != len(self.events) or (events and events[-1] not in self.events):
            self.events = {event: self.events.get(event, now_s) for event in events}


class XidWatch:
    """Remembers errors for a while: an Xid is an instant, its damage stays."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._grave_s, self._other_s, self._beside_s = dials["grave_xid_s"], dials["xid_s"], dials["beside_s"]
        self._seen = EachGpu(_Seen)

    def look(self, look: Look) -> Iterator[Sign]:
        """Return a sign for each GPU and gravity, about the latest error."""
        for gpu in look.sample.gpus:
            seen = self._seen.of(gpu.uuid, look.now_s)
            seen.take(gpu.xids, look.now_s)
            if seen.events:
                yield from self._signs(gpu, seen.events, look)
        self._seen.forget(look.now_s)

    def _signs(self, gpu: Gpu, events: Mapping[XidEvent, float], look: Look) -> Iterator[Sign]:
        from gputop.core.detectors.hardware.xid_wording import APPLICATION, GRAVE, NOTE, Limits, signs  # noqa: PLC0415

        lasts_s = {GRAVE: self._grave_s, APPLICATION: self._other_s, NOTE: self._other_s}
        return signs(gpu, events, look, Limits(lasts_s, self._beside_s))
