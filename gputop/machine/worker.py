"""Workers: threads for calls that may hang, so that the caller never waits for ever.

They use `_thread`: to import `threading` and to start its threads would take at least a hundredth of a snapshot's time.
"""

import _thread
from collections.abc import Callable
from errno import EMFILE
from typing import Generic, TypeVar

T = TypeVar("T")


class NoThreadError(RuntimeError):
    """The limit of processes of this user is reached."""


class Worker(Generic[T]):
    """Runs ``work(now)`` on request, one call at a time, in a free thread.

    A driver call can block for ever in the kernel. Its thread can neither be ended nor freed, so it is abandoned:
    ``busy_since`` stays set, and the result is taken if it arrives after all.
    """

    def __init__(self, work: Callable[[float], T]) -> None:
        self._work = work
        self._answered = _closed()
        self._result: T | None = None
        self._error: NoThreadError | MemoryError | OSError | None = None
        self.busy_since: float | None = None

    def ask(self, now: float) -> None:
        """Start the work, unless it is still running. ``now``: monotonic seconds, passed to the work.

        Raises NoThreadError.
        """
        if self.busy_since is None:
            thread = _Thread.free()
            self.busy_since = now
            thread.do(lambda: self._do(now), self._answered.release)

    def take(self, timeout_s: float) -> T | None:
        """Wait for the result; None if it does not arrive in time or no work was started.

        Raises the NoThreadError of workers that the work uses, MemoryError, and OSError if it could open no more files.
        """
        if self.busy_since is None or not self._answered.acquire(timeout=max(0.0, timeout_s)):
            return None
        self.busy_since = None
        result, self._result = self._result, None
        error, self._error = self._error, None
        if error is not None:
            raise error
        return result

    def _do(self, now: float) -> None:
        try:
            self._result = self._work(now)
        except (NoThreadError, MemoryError) as error:
            self._error = error
        except OSError as error:
            if error.errno != EMFILE:
                raise
            self._error = error


class _Thread:
    """A daemon thread that all workers share; there are as many as ever ran at once."""

    _free: "list[_Thread]" = []  # noqa: RUF012 - one for the process; its methods are atomic

    def __init__(self) -> None:
        self._gate = _closed()
        self._work: Callable[[], None] = _nothing
        self._done: Callable[[], None] = _nothing
        try:
            _thread.start_new_thread(self._run, ())
        except RuntimeError as error:
            raise NoThreadError(str(error)) from None

    @classmethod
    def free(cls) -> "_Thread":
        """Return an idle thread, or a new one if all are busy."""
        try:
            return cls._free.pop()
        except IndexError:
            return cls()

    def do(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """Do the work, then call ``done``."""
        self._work, self._done = work, done
        self._gate.release()

    def _run(self) -> None:
        while True:
            self._gate.acquire()
            done = self._done
            try:
                self._work()
                self._free.append(self)  # before done(), or the caller might start another thread
            finally:
                done()  # after a failure too, which ends this thread: the caller may try again


def _closed() -> _thread.LockType:
    """Return a lock that is held: a gate that another thread opens for one passage."""
    gate = _thread.allocate_lock()
    gate.acquire()
    return gate


def _nothing() -> None:
    pass
