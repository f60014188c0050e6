"""GPU utilization per process, from the driver's samples: 5 per second on an H100, each charged to one process."""

from array import array
from collections import deque
from operator import itemgetter
from typing import Final

from gputop.core.model.metric import Missing
from gputop.machine.nvml.binding import UtilizationEntry
from gputop.machine.nvml.driver import LASTING, Driver, Handle

_MOST: Final = 100  # percent; the driver also has entries of 37100
_NEWEST_US: Final = 2**53  # the year 2255: a later timestamp is garbage, and would hide all entries that follow
_OLDEST_US: Final = 10_000_000  # the driver's ring holds 10 s
_WINDOW_S: Final = 10.0
_SHORTEST_S: Final = 0.45  # in a shorter time the driver may take no sample, and a busy process would seem idle
_CROWD: Final = 50  # processes: with more of them each gets a sample in 10 s or so, and every other reading is enough
_CROWDED_S: Final = 1.45

Shares = tuple[float, float, float, float]  # SM, memory, encoder, decoder; percent


class UtilizationReader:
    """Means over the last 10 s, or over the last interval if only one process was active: then they are exact."""

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._since_us = 0
        self._has_begun = False
        self._refusal: Missing | None = None
        self._ticks: deque[tuple[float, int, array[int]]] = deque()  # time, length in ms, and the packed entries
        self._sums: dict[int, list[int]] = {}  # by pid: percent times milliseconds, and the number of intervals
        self._before: float | None = None
        self._last: Missing | tuple[float, dict[int, Shares]] = Missing.NOT_YET

    def read(self, pids: set[int], now: float) -> Missing | tuple[float, dict[int, Shares]]:
        """Return the window in seconds and the shares of the active processes; all others were idle.

        A call that comes too early for new samples returns the previous answer; with many processes, every other one.
        """
        if self._refusal is not None:
            return self._refusal
        if self._before is not None and now - self._before < (_CROWDED_S if len(pids) > _CROWD else _SHORTEST_S):
            return self._last
        answer = self._driver.ask("nvmlDeviceGetProcessUtilization", self._handle, self._since_us)
        if isinstance(answer, Missing):
            self._refusal = answer if answer in LASTING else None
            return answer
        entries = self._accepted(answer, pids)
        before, self._before = self._before, now
        if before is None:
            return Missing.NOT_YET  # the first answer averages over the whole buffer of the driver
        length_ms = round((now - before) * 1000) or 1
        self._ticks.append((now, length_ms, entries))
        self._weigh(entries, length_ms, 1)
        while self._ticks[0][0] <= now - _WINDOW_S:
            _, length_ms, old = self._ticks.popleft()
            self._weigh(old, length_ms, -1)
        self._last = self._shares()
        return self._last

    def _accepted(self, answer: list[UtilizationEntry], pids: set[int]) -> "array[int]":
        in_order = sorted([entry for entry in answer if entry[1] < _NEWEST_US], key=itemgetter(1))
        oldest = max(self._since_us, in_order[-1][1] - _OLDEST_US if in_order else 0)
        entries: dict[int, int] = {}
        for pid, time_us, sm, memory, encoder, decoder in in_order:
            if pid in pids and time_us > oldest and sm <= _MOST and max(memory, encoder, decoder) <= _MOST:
                self._since_us = time_us
                entries[pid] = _packed(pid, sm, memory, encoder, decoder)
        return array("Q", entries.values())

    def _shares(self) -> tuple[float, dict[int, Shares]]:
        if len(self._sums) <= 1:
            _, length_ms, entries = self._ticks[-1]
            return length_ms / 1000, {entry >> 32: _percent(entry) for entry in entries}
        window_ms = sum([length_ms for _, length_ms, _ in self._ticks])
        return window_ms / 1000, {pid: _mean(held, window_ms) for pid, held in self._sums.items()}

    def _weigh(self, entries: "array[int]", length_ms: int, sign: int) -> None:
        """Add the values of an interval to the sums, or subtract them; drop a process without intervals."""
        sums, weight = self._sums, length_ms * sign
        for entry in entries:
            pid = entry >> 32
            held = sums.get(pid)
            if held is None:
                held = sums[pid] = [0, 0, 0, 0, 0]
            held[0] += (entry >> 24 & 0xFF) * weight
            if entry & 0xFFFFFF:
                held[1] += (entry >> 16 & 0xFF) * weight
                held[2] += (entry >> 8 & 0xFF) * weight
                held[3] += (entry & 0xFF) * weight
            held[4] += sign
            if not held[4]:
                del sums[pid]


def _packed(pid: int, sm: int, memory: int, encoder: int, decoder: int) -> int:
    """Return an entry as one number, because the last 10 s of up to 2,000 processes are kept."""
    return pid << 32 | sm << 24 | memory << 16 | encoder << 8 | decoder


def _mean(held: list[int], window_ms: int) -> Shares:
    sm, memory, encoder, decoder, _ = held
    half = window_ms // 2  # takes half as long as `round`
    if not (memory or encoder or decoder):
        return (sm * 1000 + half) // window_ms / 1000, 0.0, 0.0, 0.0
    return (
        (sm * 1000 + half) // window_ms / 1000,
        (memory * 1000 + half) // window_ms / 1000,
        (encoder * 1000 + half) // window_ms / 1000,
        (decoder * 1000 + half) // window_ms / 1000,
    )


def _percent(entry: int) -> Shares:
    return float(entry >> 24 & 0xFF), float(entry >> 16 & 0xFF), float(entry >> 8 & 0xFF), float(entry & 0xFF)
