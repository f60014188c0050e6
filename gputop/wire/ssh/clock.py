"""The clock of a remote host, compared with ours by the answers to beats."""

from collections import deque
from typing import Final

from gputop.core.protocol.remote import Echo

_KEPT: Final = 8


class RemoteClock:
    """The difference of two clocks, from the last round trips.

    A host answered at an unknown moment of the round trip. The age assumes the first moment, so it is never too low.
    """

    def __init__(self) -> None:
        self._ahead_s: deque[float] = deque(maxlen=_KEPT)  # of each round trip: how far the host is ahead, at most
        self.round_trip_s: float | None = None

    def take(self, echo: Echo, now_s: float) -> None:
        """Take the answer to a beat, whose ``sent_s`` is of our clock."""
        round_trip_s = now_s - echo.sent_s
        if round_trip_s >= 0:
            self.round_trip_s = round_trip_s
            self._ahead_s.append(echo.time_s - echo.sent_s)

    def age_s(self, time_s: float, now_s: float) -> float:
        """Return the age of something that happened at ``time_s`` by the clock of the host, or a little more."""
        return max(0.0, now_s + min(self._ahead_s, default=0.0) - time_s)
