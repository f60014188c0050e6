"""The clock of a remote host, compared with ours by the answers to beats."""

from collections import deque
from typing import Final

from gputop.core.protocol.remote import Echo

_KEPT: Final = 8


class RemoteClock:
    """The difference of two clocks: that of the fastest of the last round trips, which is the most certain."""

    def __init__(self) -> None:
        self._trips: deque[tuple[float, float]] = deque(maxlen=_KEPT)  # round trip, and how far the host is ahead

    def take(self, echo: Echo, now_s: float) -> None:
        """Take the answer to a beat, whose ``sent_s`` is of our clock."""
        round_trip_s = now_s - echo.sent_s
        if round_trip_s >= 0:
            self._trips.append((round_trip_s, echo.time_s - (echo.sent_s + now_s) / 2))

    @property
    def round_trip_s(self) -> float | None:
        """Return the last round trip; None before the first."""
        return self._trips[-1][0] if self._trips else None

    def age_s(self, time_s: float, now_s: float) -> float:
        """Return the age of something that happened at ``time_s`` by the clock of the host."""
        ahead_s = min(self._trips)[1] if self._trips else 0.0
        return max(0.0, now_s + ahead_s - time_s)
