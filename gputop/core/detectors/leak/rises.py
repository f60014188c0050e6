"""Memory that grows in a few ever larger steps, as of an allocator that doubles its arena over data that leaks.

There are too few steps for a rate, and hours without growth between them. What counts: nothing is freed, each step is
at least as large as the one before, and the next one does not fit any more.
"""

from itertools import pairwise
from typing import Final

from msgspec import Struct

_LEAST_MIB: Final = 256.0
_ONE_S: Final = 30.0  # rises within this time are one step
_MOST: Final = 12  # steps that are kept
LEAST_STEPS: Final = 4
_SOONEST_S: Final = 300.0  # between the last two steps: an allocator warms up sooner
_ALIKE: Final = 0.9
_OVERDUE: Final = 2.5  # of the last pause: no other step follows


class Step(Struct, frozen=True):
    """A step: when it happened, and its MiB."""

    at_s: float
    mib: float


class Rises:
    """The steps of the memory of one process, until it frees a part of it."""

    __slots__ = ("_level_mib", "steps")

    def __init__(self, mib: float) -> None:
        self._level_mib = mib
        self.steps: tuple[Step, ...] = ()

    def add(self, now_s: float, mib: float) -> None:
        """Take a sample."""
        rise = mib - self._level_mib
        if rise >= _LEAST_MIB:
            self._rise(now_s, rise)
            self._level_mib = mib
        elif rise <= -_LEAST_MIB:
            self._level_mib, self.steps = mib, ()

    def has_outgrown(self, now_s: float, free_mib: float) -> bool:
        """Return whether the next step is likely, and larger than the free memory."""
        steps = self.steps
        if len(steps) < LEAST_STEPS or free_mib >= steps[-1].mib:
            return False
        gaps = [after.at_s - before.at_s for before, after in pairwise(steps)]
        is_next = gaps[-1] >= _SOONEST_S and now_s - steps[-1].at_s <= _OVERDUE * gaps[-1]
        return is_next and _grows([step.mib for step in steps]) and _grows(gaps)

    def _rise(self, now_s: float, mib: float) -> None:
        last = self.steps[-1] if self.steps else None
        if last and now_s - last.at_s <= _ONE_S:
            self.steps = (*self.steps[:-1], Step(now_s, last.mib + mib))
        else:
            self.steps = (*self.steps, Step(now_s, mib))[-_MOST:]


def _grows(values: list[float]) -> bool:
    last = values[-LEAST_STEPS:]
    return all(after >= _ALIKE * before for before, after in pairwise(last)) and (last[-1] > last[0] * _ALIKE)
