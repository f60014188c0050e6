"""The single clock of a simulated box: seconds since its boot. All other values depend on it."""

import time
from collections.abc import Callable


class BoxClock:
    """Counts from the boot of the box, ``uptime_s`` before the simulation starts.

    ``starts_in_s``: the time until it starts; until then `running` is below 0. ``wall``: the time of the start.
    """

    def __init__(
        self,
        uptime_s: float,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        starts_in_s: float = 0.0,
    ) -> None:
        self._clock = clock
        self._began = clock() + starts_in_s
        self.uptime_s = uptime_s
        self.boot_s = int(wall() - uptime_s)  # the kernel's btime has whole seconds too
        self.sleep = sleep

    def now(self) -> float:
        """Return the seconds since boot."""
        return self.uptime_s + self.running()

    def running(self) -> float:
        """Return the seconds since the simulation began."""
        return self._clock() - self._began

    def microseconds(self, time_s: float) -> int:
        """Return an instant after boot in the driver's unit: microseconds since the epoch."""
        return int((self.boot_s + time_s) * 1_000_000)
