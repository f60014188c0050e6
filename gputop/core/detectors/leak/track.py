"""How the memory of one process on one GPU went: nothing while it stands still, three scales of time once it grows."""

from __future__ import annotations

from typing import Final

from gputop.core.detectors.leak.buckets import BUSY, IDLE, UNKNOWN, Buckets

# Widths and numbers of buckets: what is kept, not what is thought of it.
FINE_S: Final = 10.0
MID_S: Final = 30.0
FINE: Final = 36  # 6 minutes
MID: Final = 60  # 30 minutes
LIFE: Final = 96  # half of it or more covers the whole life
_GROWN_UP_S: Final = FINE * FINE_S
EVALUATE_EVERY: Final = 3  # fine buckets
_STILL_MIB: Final = 8.0


class Scales:
    """What a process that does not stand still needs. ``life_s``: the width of the buckets of its whole life.

    While the fine scale reaches back to the beginning, the others say nothing more and are not kept: ``is_young``.
    """

    __slots__ = ("_life", "_mid", "fine", "life_s")

    def __init__(self) -> None:
        self.fine = Buckets(FINE)
        self._mid: Buckets | None = None
        self._life: Buckets | None = None
        self.life_s = FINE_S

    @property
    def is_young(self) -> bool:
        """Say whether the fine scale is all there is."""
        return self._mid is None

    @property
    def mid(self) -> Buckets:
        """Return the last half hour."""
        return self.fine.merged(MID_S, MID) if self._mid is None else self._mid

    @property
    def life(self) -> Buckets:
        """Return the whole life."""
        return self.fine if self._life is None else self._life

    def close(self, start: float, low: float, high: float, fall: float, work: int) -> None:
        """Add a fine bucket that is over."""
        fine, mid, life = self.fine, self._mid, self._life
        fine.add(start, low, high, fall, work)
        if mid is None or life is None:
            if start >= _GROWN_UP_S:
                self._mid, self._life = fine.merged(MID_S, MID), fine.merged(self.life_s, LIFE)
                fine.drop_oldest()
            return
        fine.drop_oldest()
        if start // MID_S == mid.last_start // MID_S:
            mid.put(low, high, fall, work)
        else:
            mid.add(start, low, high, fall, work)
            mid.drop_oldest()
        if start // self.life_s == life.last_start // self.life_s:
            life.put(low, high, fall, work)
            return
        life.add(start, low, high, fall, work)
        if len(life) > LIFE:
            self.life_s *= 2
            self._life = life.merged(self.life_s, LIFE)

    def fill(self, low: float, end: float) -> None:
        """Write down that memory stood still from the beginning until ``end``."""
        while self.life_s * (LIFE - 1) < end:
            self.life_s *= 2
        _fill(self.fine, FINE_S, low, end)
        if end >= _GROWN_UP_S:
            self._mid, self._life = Buckets(MID), Buckets(LIFE)
            _fill(self._mid, MID_S, low, end)
            _fill(self._life, self.life_s, low, end)


def _fill(buckets: Buckets, width_s: float, low: float, end: float) -> None:
    slots = int(end // width_s)
    for slot in range(max(0, slots - buckets.most + 1), slots):
        buckets.add(slot * width_s, low, low, 0.0, UNKNOWN)


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

    def add(self, now_s: float, mib: float, busy_percent: float | None, still_mib: float = _STILL_MIB) -> bool:
        """Take a sample; say whether it is time to evaluate. ``still_mib``: memory that rises by less stands still."""
        self.seen_s = now_s
        if self.scales is None:
            if mib < self._low + still_mib:
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

    def is_still(self, still_mib: float = _STILL_MIB) -> bool:
        """Say whether nothing happened for half an hour: it changed by less than half of what would wake it."""
        scales = self.scales
        if scales is None:
            return True
        if scales.is_young:
            return False
        mid = scales.mid
        return len(mid) == MID and max(mid.highs) - min(mid.lows) < still_mib / 2

    def rest(self) -> None:
        """Forget everything but the level, until it changes. The process counts as seen since half an hour."""
        if self.scales is not None:
            mid = self.scales.mid
            start = mid.starts[0]
            self.age_s += start
            self.began_s += start
            self._low = mid.last_low
            self.scales = None

    def _wake(self, now: float) -> None:
        """Begin to write down; what was before is level."""
        low = self._low
        end = now // FINE_S * FINE_S
        self.scales = Scales()
        self.scales.fill(low, end)
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
