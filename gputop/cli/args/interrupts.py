"""What is under way is interrupted once, goes back, and is left alone while it does."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the first Ctrl-C, SIGTERM or end of the terminal into a KeyboardInterrupt, and drop all later ones."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def interrupt(_: int, __: FrameType | None) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in _SIGNALS:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
