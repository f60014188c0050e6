"""A sampler's own loop: a frame a line on stdout every interval, commands a line on stdin."""

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

from gputop.core.command import ReadNow, SetInterval
from gputop.core.monitor import Source
from gputop.core.sample import Frame
from gputop.wire import codec

LEAST_INTERVAL_S = 0.1


class Rhythm:
    """When to step next. The control thread changes it while the loop waits."""

    def __init__(self, source: Source, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._due = clock()
        self._gate = threading.Condition()

    def wait(self) -> None:
        """Wait until the next step is due. After a stall the rhythm resumes; it does not catch up."""
        with self._gate:
            self._due = max(self._due + self._source.interval_s, self._clock())
            while (rest := self._due - self._clock()) > 0:
                self._gate.wait(rest)

    def hurry(self) -> None:
        """Step at once."""
        with self._gate:
            self._due = self._clock()
            self._gate.notify()

    def change(self, interval_s: float) -> None:
        """Step at once, and from then on at this interval."""
        self._source.interval_s = max(LEAST_INTERVAL_S, interval_s)
        self.hurry()


def serve(step: Callable[[], Frame], out: BinaryIO, rhythm: Rhythm, count: int | None = None) -> None:
    """Write frames until ``count`` are written; for ever if None. Raises BrokenPipeError when nobody reads any more."""
    while count is None or count > 0:
        out.write(codec.encode(step()))
        out.flush()
        count = None if count is None else count - 1
        if count != 0:
            rhythm.wait()


def obey(commands: BinaryIO, rhythm: Rhythm) -> None:
    """Carry out commands in a thread of its own; end the process when their pipe closes.

    It ends at once: a thread that hangs in the driver must not keep a sampler alive that nobody listens to.
    """

    def listen() -> None:
        for line in commands:
            match codec.command(line):
                case SetInterval(interval_s=interval_s):
                    rhythm.change(interval_s)
                case ReadNow():
                    rhythm.hurry()
                case codec.Problem(text=text):
                    print(f"gputop: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the log of a sampler
        os._exit(0)

    threading.Thread(target=listen, name="control", daemon=True).start()
