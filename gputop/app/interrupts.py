"""Signals that end gputop: they interrupt an operation once, or ask a loop to end."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the first Ctrl-C, SIGTERM or SIGHUP into a KeyboardInterrupt, and ignore later ones during the roll-back.

    Under nohup, SIGHUP stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    if before[signal.SIGHUP] is signal.SIG_IGN:
        del before[signal.SIGHUP]

    def interrupt(_: int, __: FrameType | None) -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class StopRequest:
    """A signal's request to end a loop between two frames; a second signal ends the program at once.

    ``hurry``: wakes up the loop.
    """

    def __init__(self, hurry: Callable[[], None]) -> None:
        self.is_wanted = False
        self._hurry = hurry
        for number in _SIGNALS:
            signal.signal(number, self._end)

    def _end(self, number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        self.is_wanted = True
        self._hurry()


def interrupt_at_end_of_stdin() -> None:
    """Interrupt the main thread when stdin ends, from a thread of its own."""
    import threading

    def listen() -> None:
        import _thread

        while os.read(0, 4096):
            pass
        _thread.interrupt_main()

    threading.Thread(target=listen, name="control", daemon=True).start()
