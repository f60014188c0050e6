"""The past: what the frames so far add up to."""

from gputop.core.model.sample import Frame
from gputop.core.usage.events import EventCounts
from gputop.core.usage.holders import Holders
from gputop.core.usage.ledger import Ledger, Usage


class Past:
    """Events and use up to the last frame. ``holders``: of the GPUs now."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.events = EventCounts()
        self.usage = Usage()
        self.holders = Holders()

    def take(self, frame: Frame, now_s: float) -> None:
        """Take a frame. ``now_s``: monotonic seconds."""
        self.events.take(frame)
        self.usage = self.ledger.take(frame, now_s)


def past_of(frame: Frame) -> Past:
    """Return the past of a single frame, which has no totals."""
    past = Past(Ledger(counts=False))
    past.take(frame, 0.0)
    return past
