"""The publication: the last frame, and the totals of earlier frames, as series for all clients.

One thread publishes frames; others read. A reader waits for no driver: it gets the last frame, with its age.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from gputop import __version__
from gputop.core.model.sample import Frame
from gputop.core.usage.holders import Holders
from gputop.core.usage.ledger import Kept
from gputop.core.usage.past import Past
from gputop.report.prometheus.exporter import EXPORTER, Exporter
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group
from gputop.report.prometheus.table import exposition, of_frame

_STALE_S: Final = 60.0  # readings that are older than this are no longer served
_NONE: Final = Holders()


class Publication:
    """The last frame as series. ``past``: of the frames before; ``clock``: monotonic seconds."""

    def __init__(self, shape: Shape, past: Past, clock: Callable[[], float] = time.monotonic) -> None:
        self._shape = shape
        self._clock = clock
        self._gate = Lock()
        self._past = past
        self._frame: Frame | None = None
        self._taken_s = clock()
        self._count = 0
        self._duration_s = 0.0
        self._text = ""
        self._unread: dict[str, str] = {}
        self._is_read = False

    def publish(self, frame: Frame, duration_s: float, holders: Holders = _NONE) -> None:
        """Publish a frame, which took ``duration_s`` to make."""
        with self._gate:
            self._taken_s = self._clock()
            self._past.take(frame, self._taken_s)
            self._past.holders = holders
            self._frame, self._duration_s = frame, duration_s
            self._count += 1
            self._text = ""

    def note_unread(self, source: str, why: str) -> None:
        """Note in a word why a source could not be read; empty if it could."""
        with self._gate:
            self._unread[source] = why

    def kept(self) -> tuple[Kept, ...]:
        """Return the totals that survive a restart."""
        with self._gate:
            self._is_read = False
            return self._past.ledger.kept()

    @property
    def is_read(self) -> bool:
        """Return whether a client has read totals that are not kept yet."""
        return self._is_read

    @property
    def age_s(self) -> float | None:
        """Return the age of the last frame; None before the first."""
        return None if self._frame is None else self._clock() - self._taken_s

    @property
    def is_fresh(self) -> bool:
        """Return whether the last frame is new enough to be served."""
        age_s = self.age_s
        return self._frame is not None and age_s is not None and age_s <= max(_STALE_S, 5 * self._frame.interval_s)

    def text(self) -> str:
        """Return all series: without those of the frame, if it is too old."""
        with self._gate:
            self._is_read = True
            frame = self._frame
            if frame is not None and self.is_fresh and not self._text:
                self._text = of_frame(frame, self._shape, self._past)
            return (self._text if self.is_fresh else "") + self._about_itself(frame)

    def _about_itself(self, frame: Frame | None) -> str:
        if Group.GPUTOP not in self._shape.groups:
            return ""
        usage = self._past.usage
        unread = {source: why for source, why in (*self._past.holders.unread.items(), *self._unread.items()) if why}
        own = Exporter("", __version__, frame, usage, self.age_s, self._count, self._duration_s, unread)
        return exposition({Exporter: [own]}, EXPORTER)
