"""Calls with a time limit: a call that is late stays in its thread, and its caller goes on."""

import errno
import os
from collections.abc import Callable, Hashable
from typing import Final, TypeVar

from gputop.machine.worker import NoThreadError, Worker

T = TypeVar("T")

_MOST_LATE: Final = 64  # threads that may hang at a time


class TimedCalls:
    """Makes one call at a time, in a thread, and remembers the late ones by key.

    A key whose call is late is not called again until that call has returned. Threads that hang cannot be ended, so
    ``most_late`` bounds them; beyond it no call is made.
    """

    def __init__(self, most_late: int = _MOST_LATE) -> None:
        self._most_late = most_late
        self._late: dict[Hashable, Worker[None]] = {}

    def make(self, key: Hashable, work: Callable[[], T], timeout_s: float) -> T:
        """Return the result of ``work``.

        Raises what ``work`` raises, TimeoutError if it is late, and BlockingIOError if too many others are late or no
        thread can be started.
        """
        if self.is_late(key):
            raise late()
        if not self._has_room():
            raise _no_room()
        results: list[T] = []
        errors: list[OSError] = []

        def run(_: float) -> None:
            try:
                results.append(work())
            except OSError as error:
                errors.append(error)

        worker = Worker(run)
        try:
            worker.ask(0.0)
        except NoThreadError:
            raise _no_room() from None
        if not _has_ended(worker, timeout_s):
            self._late[key] = worker
            raise late()
        if errors:
            raise errors[0]
        return results[0]

    def is_late(self, key: Hashable) -> bool:
        """Return whether an earlier call with this key still runs."""
        worker = self._late.get(key)
        if worker and _has_ended(worker, 0):
            del self._late[key]
            return False
        return worker is not None

    def _has_room(self) -> bool:
        if len(self._late) >= self._most_late:
            self._late = {key: worker for key, worker in self._late.items() if not _has_ended(worker, 0)}
        return len(self._late) < self._most_late


def _has_ended(worker: Worker[None], timeout_s: float) -> bool:
    worker.take(timeout_s)
    return worker.busy_since is None


def _no_room() -> BlockingIOError:
    return BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def late() -> TimeoutError:
    """Return the error of a late call."""
    return TimeoutError(errno.ETIMEDOUT, "no answer in time")
