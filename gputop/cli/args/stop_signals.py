"""What goes on for a while ends at the first signal, and at once at the second."""

import signal
from collections.abc import Callable


class Ending:
    """Takes the signals that end gputop, so that none comes within a frame. ``hurry``: wakes up whoever waits."""

    def __init__(self, hurry: Callable[[], None]) -> None:
        self.is_wanted = False
        self._hurry = hurry
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)

    def _end(self, number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        self.is_wanted = True
        self._hurry()
