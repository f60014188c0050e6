"""The reader of a remote sampler's frames: how far it has read, and whether it still listens."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Beat
from gputop.core.protocol.remote import Echo
from gputop.wire.server import Lines

_MOST_UNDER_WAY: Final = 2  # frames; more would grow old in the buffers of a slow line


class Listener:
    """Keeps at most two frames under way, and notices a reader that has been silent for ``patience_s``.

    Without that, a broken connection would keep a sampler waiting in a write for hours.
    """

    def __init__(self, lines: Lines, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._patience_s = patience_s
        self._clock = clock
        self._heard_s = clock()
        self._made = self._read = 0
        self._gate = threading.Condition()

    def take(self, beat: Beat) -> None:
        """Take the report of the reader, and answer it."""
        with self._gate:
            self._heard_s = self._clock()
            self._read = max(self._read, beat.frames)
            self._gate.notify_all()
        with suppress(OSError):  # the pipe has closed
            self._lines.write(Echo(sent_s=beat.sent_s, time_s=time.time()))

    def paced(self, step: Callable[[], Frame]) -> Callable[[], Frame]:
        """Return a function that makes a frame when the reader has read all but one of those before."""

        def take_step() -> Frame:
            with self._gate:
                self._gate.wait_for(lambda: self._made - self._read < _MOST_UNDER_WAY)
                self._made += 1
            return step()

        return take_step

    def watch(self, end: Callable[[], object]) -> None:
        """Call ``end``, in a thread of its own, when the reader has been silent for too long."""
        self._heard_s = self._clock()
        threading.Thread(target=self._wait_for_silence, args=(end,), name="listener", daemon=True).start()

    def _wait_for_silence(self, end: Callable[[], object]) -> None:
        with self._gate:
            while (rest_s := self._heard_s + self._patience_s - self._clock()) > 0:
                self._gate.wait(rest_s)
        end()
