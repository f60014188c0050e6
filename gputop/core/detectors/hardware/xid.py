"""Xid errors that the driver reported: their meaning, their cause, and what to do."""

from collections.abc import Iterator, Mapping, Sequence

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu
from gputop.core.model.sample import Gpu, XidEvent


class _Seen:
    """The errors of a GPU, each with the time at which it was first seen."""

    def __init__(self) -> None:
        self.events: dict[XidEvent, float] = {}

    def take(self, events: Sequence[XidEvent], now_s: float) -> None:
        """Add the errors of a sample."""
        if len(events) != len(self.events) or (events and events[-1] not in self.events):
            self.events = {event: self.events.get(event, now_s) for event in events}


class XidWatch:
    """Remembers errors for a time: an Xid is an instant, its damage remains."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._grave_s, self._other_s, self._beside_s = dials["grave_xid_s"], dials["xid_s"], dials["beside_s"]
        self._seen = EachGpu(_Seen)

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU and gravity, about the latest error."""
        for gpu in context.sample.gpus:
            seen = self._seen.of(gpu.uuid, context.now_s)
            seen.take(gpu.xids, context.now_s)
            if seen.events:
                yield from self._claims(gpu, seen.events, context)
        self._seen.forget(context.now_s)

    def _claims(self, gpu: Gpu, events: Mapping[XidEvent, float], context: Context) -> Iterator[Claim]:
        # the table of Xids is imported once there is one: no snapshot of a healthy machine needs it
        from gputop.core.detectors.hardware.xid_claims import APPLICATION, GRAVE, NOTE, Limits, claims  # noqa: PLC0415

        lasts_s = {GRAVE: self._grave_s, APPLICATION: self._other_s, NOTE: self._other_s}
        return claims(gpu, events, context, Limits(lasts_s, self._beside_s))
