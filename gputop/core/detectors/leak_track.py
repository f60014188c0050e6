"""How the memory of one process on one GPU went: nothing while it stands still, three scales of time once it grows."""

from __future__ import annotations

from typing import Final

from gputop.core.detectors.leak_buckets import BUSY, IDLE, UNKNOWN, Buckets

FINE_S: Final = 10.0
MID_S: Final = 30.0
FINE: Final = 36  # 6 minutes
MID: Final = 60  # 30 minutes
LIFE: Final = 96  # half of it or more covers the whole life
EVALUATE_EVERY: Final = 3  # fine buckets
_WAKES_MIB: Final = 8.0
_RESTS_MIB: Final = 4.0  # in half an hour


class Scales:
    """What a process that does not stand still needs. ``life_s``: the width of the buckets of its whole life."""

    __slots__ = ("fine", "life", "life_s", "mid")

    def __init__(self) -> None:
        self.fine, self.mid, self.life = Buckets(FINE), Buckets(MID), Buckets(LIFE)
        self.life_s = FINE_S

    def close(self, start: float, low: float, high: float, fall: float, work: int) -> None:
        """Add a fine bucket that is over."""
        self.fine.add(start, low, high, fall, work)
        self.fine.drop_oldest()
        mid, life = self.mid, self.life
        if mid.work and start // MID_S == mid.starts[-1] // MID_S:
            mid.put(low, high, fall, work)
        else:
            mid.add(start, low, high, fall, work)
            mid.drop_oldest()
        if life.work and start // self.life_s == life.starts[-1] // self.life_s:
            life.put(low, high, fall, work)
            return
        life.add(start, low, high, fall, work)
        if len(life) > LIFE:
            self.life_s *= 2
            self.life = life.merged(self.life_s)


class MemoryTrack:
    """The memory of one process on one GPU since it was first seen. Times: seconds since then, and never back."""

    __slots__ = ("_ends_s", "_fall", "_high", "_low", "_turn", "_work", "age_s", "began_s", "scales", "seen_s")

    def __init__(self, now_s: float, mib: float, age_s: float, turn: int) -> None:
        """``age_s``: of the process by now, 0 if unknown. ``turn``: any number, to spread the work of many."""
        self.began_s = self.seen_s = now_s
        self.age_s = age_s
        self.scales: Scales | None = None
        self._turn = turn
        self._low = self._high = mib
        self._fall = self._ends_s = 0.0
        self._work = UNKNOWN

    @property
    def observed_s(self) -> float:
        """Return for how long it was looked at."""
        return self.seen_s - self.began_s

    def add(self, now_s: float, mib: float, busy_percent: float | None) -> bool:
        """Take a sample; say whether it is time to evaluate."""
        self.seen_s = now_s
        if self.scales is None:
            if mib < self._low + _WAKES_MIB:
                self._low = min(self._low, mib)
                return False
            self._wake(now_s - self.began_s)
        is_due = False
        if now_s - self.began_s >= self._ends_s:
            is_due = self._close(now_s - self.began_s, mib)
        if mib > self._high:
            self._high = mib
        else:
            self._fall = max(self._fall, self._high - mib)
            self._low = min(self._low, mib)
        if busy_percent is not None and self._work != BUSY:
            self._work = IDLE if busy_percent < 1.0 else BUSY
        return is_due

    @property
    def is_still(self) -> bool:
        """Say whether nothing happened for half an hour."""
        scales = self.scales
        if scales is None:
            return True
        mid = scales.mid
        return len(mid) == MID and max(mid.highs) - min(mid.lows) < _RESTS_MIB

    def rest(self) -> None:
        """Forget everything but the level, until it changes. The process counts as seen since half an hour."""
        if self.scales is not None:
            start = self.scales.mid.starts[0]
            self.age_s += start
            self.began_s += start
            self._low = self.scales.mid.lows[-1]
            self.scales = None

    def _wake(self, now: float) -> None:
        """Begin to write down; what was before is level."""
        scales = self.scales = Scales()
        low = self._low
        end = now // FINE_S * FINE_S
        while scales.life_s * (LIFE - 1) < end:
            scales.life_s *= 2
        for buckets, width_s in ((scales.fine, FINE_S), (scales.mid, MID_S), (scales.life, scales.life_s)):
            slots = int(end // width_s)
            for slot in range(max(0, slots - buckets.most + 1), slots):
                buckets.add(slot * width_s, low, low, 0.0, UNKNOWN)
        self._open(low, end)

    def _open(self, mib: float, start: float) -> None:
        self._low = self._high = mib
        self._fall = 0.0
        self._work = UNKNOWN
        self._ends_s = start + FINE_S

    def _close(self, now: float, mib: float) -> bool:
        scales = self.scales
        if scales is None:
            return False
        scales.close(self._ends_s - FINE_S, self._low, self._high, self._fall, self._work)
        slot = int(now // FINE_S)
        self._open(mib, slot * FINE_S)
        return (slot + self._turn) % EVALUATE_EVERY == 0
