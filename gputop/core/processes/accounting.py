"""The GPU time and energy of processes since gputop first saw them.

The energy is an estimate: processes share the energy above idle by the time in which their kernels ran.
"""

from collections.abc import Collection
from typing import Final, TypeAlias

from gputop.core.model.catalogue import ENERGY, GPU_UTILIZATION, POWER_AVERAGE, POWER_LIMIT
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Readings

_LONGEST_S: Final = 10.0  # between two readings: the use in a longer gap is unknown
_IDLE_SHARE: Final = 0.30  # of the limit: the highest idle power to assume for a GPU that was never idle

Holder: TypeAlias = tuple[int, int | None, int | None]  # pid, GPU instance, compute instance
Total: TypeAlias = tuple[float | None, float | None]  # seconds, joules

_NOTHING: Final[Total] = (None, None)


class Meter:
    """Adds up time and energy on one GPU. It forgets a process for which a reading did not call `total`."""

    def __init__(self) -> None:
        self._totals: dict[Holder, Total] = {}
        self._before: dict[Holder, Total] = {}
        self._read_s: float | None = None
        self._energy_j: float | None = None
        self._idle_w: float | None = None
        self._seconds = 0.0
        self._is_known = False
        self._per_percent = 0.0, 0.0  # seconds and joules of a process, by its utilization
        self.joules: float | Missing = Missing.NOT_YET
        """The energy above idle since the previous reading; a reason if the GPU does not report it."""

    def advance(self, gpu: Readings, now: float, sm_percent: float) -> None:
        """Begin a reading. ``now``: monotonic seconds; ``sm_percent``: of the processes together."""
        self._before, self._totals = self._totals, {}
        seconds = 0.0 if self._read_s is None else now - self._read_s
        self._read_s, self._seconds = now, seconds if seconds <= _LONGEST_S else 0.0
        busy = gpu[GPU_UTILIZATION]
        used = sm_percent if busy is None else max(sm_percent, busy)
        self.joules = joules = self._spent(gpu)
        self._is_known = type(joules) is not Missing  # `isinstance` is slow for an enum, and so many processes ask
        self._per_percent = self._seconds / 100, joules / used if used and not isinstance(joules, Missing) else 0.0

    def total(self, holder: Holder, sm_percent: float | None) -> Total:
        """Return the use of a process up to this reading; unknown until its utilization was known once."""
        seconds, joules = old = self._before.get(holder, _NOTHING)
        if sm_percent is None or (sm_percent == 0.0 and seconds is not None and joules is not None):
            self._totals[holder] = old
            return old
        more_s, more_j = self._per_percent
        if self._is_known:
            joules = int(((joules or 0.0) + sm_percent * more_j) * 1000 + 0.5) / 1000  # takes half as long as `round`
        self._totals[holder] = new = (int(((seconds or 0.0) + sm_percent * more_s) * 1000 + 0.5) / 1000, joules)
        return new

    def forget(self, pids: Collection[int]) -> None:
        """Forget these pids: they now belong to other processes."""
        self._totals = {holder: total for holder, total in self._totals.items() if holder[0] not in pids}

    def _spent(self, gpu: Readings) -> float | Missing:
        power, energy, before = gpu[POWER_AVERAGE], gpu[ENERGY], self._energy_j
        self._energy_j = energy
        if power is None:
            return gpu.why(POWER_AVERAGE) or Missing.NOT_YET
        self._idle_w = min(self._idle_w or power, power, _IDLE_SHARE * (gpu[POWER_LIMIT] or power / _IDLE_SHARE))
        joules = power * self._seconds
        if energy is not None and before is not None and energy >= before:
            joules = energy - before
        return max(0.0, joules - self._idle_w * self._seconds) if self._seconds else 0.0
