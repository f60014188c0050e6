"""The memory of one process on one GPU over time: one level while it is constant, three time scales once it grows."""

from __future__ import annotations

from typing import Final

from gputop.core.detectors.leak.buckets import BUSY, IDLE, LIGHT, UNKNOWN, Buckets

# Widths and numbers of buckets: they set how much is stored, not how it is judged.
FINE_S: Final = 10.0
MID_S: Final = 30.0
FINE: Final = 36  # 6 minutes
MID: Final = 60  # 30 minutes
LIFE: Final = 96  # half of it or more covers the whole life
_GROWN_UP_S: Final = FINE * FINE_S
EVALUATE_EVERY: Final = 3  # fine buckets
_STILL_MIB: Final = 8.0
_LIGHT_PERCENT: Final = 10.0


class Scales:
    """The time scales of a process whose memory changes. ``life_s``: the bucket width of its whole life.

    While the fine scale reaches back to the beginning, the others add nothing and do not exist: ``is_young``.
    """

    __slots__ = ("_life", "_mid", "fine", "life_s")

    def __init__(self) -> None:
        self.fine = Buckets(FINE)
        self._mid: Buckets | None = None
        self._life: Buckets | None = None
        self.life_s = FINE_S

    @property
    def is_young(self) -> bool:
        """Return whether only the fine scale exists."""
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
        """Add a complete fine bucket."""
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
        """Fill the scales with constant memory from the beginning until ``end``."""
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
    """The memory of one process on one GPU since it was first seen. Times: seconds since then; they never go back."""

    __slots__ = ("_ends_s", "_fall", "_high", "_low", "_turn", "_work", "age_s", "began_s", "scales", "seen_s")

    def __init__(self, now_s: float, mib: float, age_s: float, turn: int) -> None:
        """Start. ``age_s``: age of the process now, 0 if unknown. ``turn``: any number, spreads work over time."""
        self.began_s = self.seen_s = now_s
        self.age_s = age_s
        self.scales: Scales | None = None
        self._turn = turn
        self._low = self._high = mib
        self._fall = self._ends_s = 0.0
        self._work = UNKNOWN

    @property
    def observed_s(self) -> float:
        """Return the time of observation."""
        return self.seen_s - self.began_s

    def add(
        self,
        now_s: float,
        mib: float,
        busy_percent: float | None,
        still_mib: float = _STILL_MIB,
        light_percent: float = _LIGHT_PERCENT,
    ) -> bool:
        """Take a sample; return whether to evaluate now.

        ``still_mib``: memory that rises by less is constant. ``light_percent``: with less use, a GPU only copies.
        """
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
            self._work = min(
                self._work, IDLE if busy_percent < 1.0 else LIGHT if busy_percent < light_percent else BUSY
            )
        return is_due

    def is_still(self, still_mib: float = _STILL_MIB) -> bool:
        """Return whether memory was constant for half an hour: it changed by less than half of ``still_mib``."""
        scales = self.scales
        if scales is None:
            return True
        if scales.is_young:
            return False
        mid = scales.mid
        return len(mid) == MID and max(mid.highs) - min(mid.lows) < still_mib / 2

    def rest(self) -> None:
        """Drop the scales until the level changes. The observation then counts from half an hour ago."""
        if self.scales is not None:
            mid = self.scales.mid
            start = mid.starts[0]
            self.age_s += start
            self.began_s += start
            self._low = mid.last_low
            self.scales = None

    def _wake(self, now: float) -> None:
        """Create the scales; the time before was constant."""
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
