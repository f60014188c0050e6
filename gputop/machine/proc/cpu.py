"""CPU utilization of the cores between two readings of /proc/stat."""

from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Reasons

SHORTEST_S: Final = 0.05  # the kernel counts in ticks of 10 ms: a shorter time is too inexact
_TIMES: Final = 9  # the name, then user nice system idle iowait irq softirq steal; user contains the guest time
_IDLE: Final = slice(3, 5)  # idle and iowait

Times = tuple[int, int]  # all ticks, and the idle ones


class CpuUse(Struct, frozen=True):
    """Percent of all cores together and of each."""

    percent: float | None
    cores_percent: tuple[float, ...]
    missing: Reasons


_NOT_YET: Final = CpuUse(None, (), dict.fromkeys(("cpu_percent", "cores_percent"), Missing.NOT_YET))


class CpuMeter:
    """Remembers the previous reading."""

    def __init__(self) -> None:
        self._at = 0.0
        self._before: dict[bytes, Times] = {}
        self._use = _NOT_YET

    def read(self, raw: bytes, now: float) -> CpuUse:
        """Return the use since the previous reading; the same again if that was a moment ago.

        If a core was switched on or off in between, the cores have no values once. Raises ValueError and IndexError for
        a malformed text.
        """
        if self._before and now - self._at < SHORTEST_S:
            return self._use
        before, held = self._before, _times(raw)
        self._at, self._before = now, held
        self._use = _use(before, held) if before else _NOT_YET
        return self._use


def _use(before: dict[bytes, Times], held: dict[bytes, Times]) -> CpuUse:
    percent = _busy_percent(before[b"cpu"], held[b"cpu"])
    if before.keys() != held.keys():
        return CpuUse(percent, (), {"cores_percent": Missing.NOT_YET})
    return CpuUse(percent, tuple(_busy_percent(before[name], held[name]) for name in held if name != b"cpu"), {})


def _times(raw: bytes) -> dict[bytes, Times]:
    """Return the ticks by name, ``cpu`` for all cores together."""
    table: dict[bytes, Times] = {}
    for line in raw.partition(b"\nintr")[0].split(b"\n"):
        if line.startswith(b"cpu"):
            name, *texts = line.split()[:_TIMES]
            ticks = [int(text) for text in texts]
            table[name] = sum(ticks), sum(ticks[_IDLE])
    if b"cpu" not in table:
        raise ValueError("no line for all cores")
    return table


def _busy_percent(before: Times, held: Times) -> float:
    """Return 0-100; a core without ticks was idle, and iowait can decrease."""
    total, idle = held[0] - before[0], held[1] - before[1]
    return min(100.0, max(0.0, round(100 * (total - idle) / total, 1))) if total > 0 else 0.0
