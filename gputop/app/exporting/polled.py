"""Polled sources: what is read again and again in a thread of its own, because its reading may hang."""

import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from gputop.machine.worker import Worker

T = TypeVar("T")

_FIRST_S: Final = 0.1  # the first sample waits that long, so that it has labels if all is well
_LATE_S: Final = 10.0


class Polled(Generic[T]):
    """The last result of ``read``, which must not raise; ``late`` if it has been reading for too long."""

    def __init__(
        self, read: Callable[[], T], late: T, every_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._late = late
        self._every_s = every_s
        self._clock = clock
        self._worker: Worker[T] = Worker(lambda _: read())
        self._last: T | None = None
        self._due_s = clock()

    def latest(self) -> T | None:
        """Return the last result, None before the first, and begin to read again if it is time to."""
        now_s = self._clock()
        if now_s >= self._due_s and self._worker.busy_since is None:
            self._worker.ask(now_s)
            self._due_s = now_s + self._every_s
        began_s = self._worker.busy_since
        found = self._worker.take(_FIRST_S if self._last is None else 0.0)
        if found is not None:
            self._last = found
        elif began_s is not None and now_s - began_s > _LATE_S:
            self._last = self._late
        return self._last
