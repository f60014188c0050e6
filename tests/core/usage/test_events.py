"""Events of GPUs: counts of the last five minutes."""

from examples import NOW, frame, gpu
from msgspec.structs import replace

from gputop.core.model.catalogue import EVENT_REASONS
from gputop.core.model.sample import XidEvent
from gputop.core.usage.events import WINDOW_S, EventCounts


def test_an_event_is_counted_for_five_minutes_and_not_longer() -> None:
    counts = EventCounts()
    xid = XidEvent(time_s=NOW, xid=31)
    moments = {0.0: "power cap", 1.0: "power cap", WINDOW_S / 2: "idle"}
    for after_s, reason in moments.items():
        seen = gpu(0, {EVENT_REASONS: (reason,)}, xids=(xid,))
        counts.take(replace(frame(gpus=(seen,)), time_s=NOW + after_s))
    before = counts.of(seen.uuid)
    counts.take(replace(frame(gpus=(gpu(0, xids=(xid,)),)), time_s=NOW + WINDOW_S + 0.5))
    after = counts.of(seen.uuid)

    assert (before.recent, before.lowered) == ({31: 1}, {"power cap": 2, "idle": 1})
    assert (after.recent, after.lowered) == ({}, {"power cap": 1, "idle": 1})
    assert after.last == 31
