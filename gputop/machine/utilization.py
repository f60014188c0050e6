"""What each process did on a GPU, from the driver's samples: about 7 a second, each charged to one process."""

from collections import deque
from typing import Final

from gputop.core.metric import Missing
from gputop.machine.binding import UtilizationEntry
from gputop.machine.nvml import LASTING, Driver, Handle

_MOST: Final = 100  # percent; the driver also has entries of 37100
_NEWEST_US: Final = 2**53  # in 2255: a later timestamp is garbage, and would hide all that follow
_OLDEST_US: Final = 10_000_000  # the driver's ring holds 10 s
_WINDOW_S: Final = 10.0

Shares = tuple[float, float, float, float]  # SM, memory, encoder, decoder; percent


class UtilizationReader:
    """Means over the last 10 s, or of the last interval where only one process was active: then they are exact."""

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._since_us = 0
        self._has_begun = False
        self._refusal: Missing | None = None
        self._ticks: deque[tuple[float, float, dict[int, UtilizationEntry]]] = deque()
        self._sums: dict[int, list[float]] = {}  # by pid: shares times seconds, and in how many intervals it was
        self._before: float | None = None

    def read(self, pids: set[int], now: float) -> Missing | tuple[float, dict[int, Shares]]:
        """Return the window in seconds and the shares of the processes that did anything; the others did nothing."""
        if self._refusal is not None:
            return self._refusal
        answer = self._driver.ask("nvmlDeviceGetProcessUtilization", self._handle, self._since_us)
        if isinstance(answer, Missing):
            self._refusal = answer if answer in LASTING else None
            return answer
        entries = self._accepted(answer, pids)
        before, self._before = self._before, now
        if before is None:
            return Missing.NOT_YET  # the first answer averages over whatever the driver's buffer holds
        self._ticks.append((now, now - before, entries))
        self._weigh(entries, now - before, 1)
        while self._ticks[0][0] <= now - _WINDOW_S:
            _, length, old = self._ticks.popleft()
            self._weigh(old, length, -1)
        return self._shares()

    def _accepted(self, answer: list[UtilizationEntry], pids: set[int]) -> dict[int, UtilizationEntry]:
        answer = [entry for entry in answer if entry[1] < _NEWEST_US]
        newest = max((entry[1] for entry in answer), default=0)
        entries = {
            entry[0]: entry
            for entry in sorted(answer, key=lambda entry: entry[1])
            if entry[0] in pids and max(entry[2:]) <= _MOST and entry[1] > max(self._since_us, newest - _OLDEST_US)
        }
        self._since_us = max(self._since_us, *(entry[1] for entry in entries.values()), 0)
        return entries

    def _shares(self) -> tuple[float, dict[int, Shares]]:
        if len(self._sums) <= 1:
            _, length, entries = self._ticks[-1]
            return length, {pid: _percent(entry) for pid, entry in entries.items()}
        window = sum([length for _, length, _ in self._ticks])
        return window, {pid: _mean(held, window) for pid, held in self._sums.items()}

    def _weigh(self, entries: dict[int, UtilizationEntry], length: float, sign: int) -> None:
        """Add what an interval of ``length`` seconds saw to the sums, or take it out; who is in none is dropped."""
        for pid, (_, _, sm, memory, encoder, decoder) in entries.items():
            held = self._sums.get(pid)
            if held is None:
                held = self._sums[pid] = [0.0, 0.0, 0.0, 0.0, 0]
            weight = length * sign
            held[0] += sm * weight
            held[1] += memory * weight
            held[2] += encoder * weight
            held[3] += decoder * weight
            held[4] += sign
            if not held[4]:
                del self._sums[pid]


def _mean(held: list[float], window: float) -> Shares:
    """Return percent; rounded, as sums that are added to and taken from leave crumbs."""
    sm, memory, encoder, decoder, _ = held
    return (
        round(abs(sm) / window, 3),
        round(abs(memory) / window, 3),
        round(abs(encoder) / window, 3),
        round(abs(decoder) / window, 3),
    )


def _percent(entry: UtilizationEntry) -> Shares:
    return float(entry[2]), float(entry[3]), float(entry[4]), float(entry[5])
