"""A thread that may hang: it does one thing on request, and nobody has to wait for it."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Worker(Generic[T]):
    """Runs ``work(now)`` in a daemon thread of its own, one call at a time.

    A driver call can block for ever in the kernel; such a thread can neither be ended nor replaced safely, so it is
    left alone: `is_busy` stays true, and the result is taken when it comes after all.
    """

    def __init__(self, work: Callable[[float], T], name: str) -> None:
        self._work = work
        self._asked = _closed()
        self._answered = _closed()
        self._result: T | None = None
        self._now = 0.0
        self._is_ending = False
        self.busy_since: float | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def ask(self, now: float) -> None:
        """Start the work, unless it is still under way. ``now``: monotonic seconds, handed to the work."""
        if self.busy_since is None:
            self._now = self.busy_since = now
            self._asked.release()

    def take(self, timeout_s: float) -> T | None:
        """Wait for the result; None if it does not come in time or nothing was asked."""
        if self.busy_since is None or not self._answered.acquire(timeout=max(0.0, timeout_s)):
            return None
        self.busy_since = None
        result, self._result = self._result, None
        return result

    def stop(self) -> None:
        """End the thread once it is idle."""
        self._is_ending = True
        if self.busy_since is None:
            self._asked.release()

    def _run(self) -> None:
        while True:
            self._asked.acquire()
            if self._is_ending:
                return
            self._result = self._work(self._now)
            self._answered.release()


def _closed() -> threading.Lock:
    """Return a lock that is taken: a gate that another thread opens for one passage."""
    gate = threading.Lock()
    gate.acquire()
    return gate
