"""Memory that grows in a few ever larger steps, as of an allocator that doubles its arena over data that leaks.

There are too few steps for a rate, and hours without growth between them. What counts: nothing is freed, each step is
at least as large as the one before, and the next one does not fit any more, or the pauses grow as the steps do: then
the data inside grow at a steady rate.
"""

from itertools import pairwise
from typing import Final

from msgspec import Struct

_MOST: Final = 12  # steps that are kept


class Stairs(Struct, frozen=True):
    """The conditions. ``step_mib``: of a step; rises within ``one_s`` are one. ``steps``: least number of them.

    ``soonest_s``: between the last two: an allocator warms up sooner; ``sure_s``: the same where the next one fits.
    ``alike``: share of the step before that a step has at least; ``larger_times``: the same for a steady rate.
    ``overdue_times``: number of last pauses after which no other step follows.
    """

    step_mib: float = 256.0
    one_s: float = 30.0
    steps: float = 4.0
    soonest_s: float = 300.0
    sure_s: float = 600.0
    alike: float = 0.9
    larger_times: float = 1.5
    overdue_times: float = 2.5


USUAL: Final = Stairs()


class Step(Struct, frozen=True):
    """A step: when it happened, and its MiB."""

    at_s: float
    mib: float


class Rises:
    """The steps of the memory of one process, until it frees a part of it."""

    __slots__ = ("_level_mib", "_stairs", "steps")

    def __init__(self, mib: float, stairs: Stairs = USUAL) -> None:
        self._level_mib, self._stairs = mib, stairs
        self.steps: tuple[Step, ...] = ()

    def add(self, now_s: float, mib: float) -> None:
        """Take a sample."""
        rise = mib - self._level_mib
        if rise >= self._stairs.step_mib:
            self._rise(now_s, rise)
            self._level_mib = mib
        elif rise <= -self._stairs.step_mib:
            self._level_mib, self.steps = mib, ()

    def has_outgrown(self, now_s: float, free_mib: float) -> bool:
        """Return whether the next step is likely, and larger than the free memory."""
        steps, stairs = self.steps, self._stairs
        if free_mib >= steps[-1].mib or not self._is_next(now_s, stairs.soonest_s):
            return False
        return self._grows(self._sizes, stairs.alike) and self._grows(self._gaps, stairs.alike)

    def keeps_pace(self, now_s: float) -> bool:
        """Return whether steps and pauses become larger alike, so that the memory grows at a steady rate on the whole.

        The pauses of growth that saturates become larger, its steps do not.
        """
        times = self._stairs.larger_times
        if not self._is_next(now_s, self._stairs.sure_s):
            return False
        return self._grows(self._sizes, times) and self._grows(self._gaps, times)

    @property
    def _sizes(self) -> list[float]:
        return [step.mib for step in self.steps]

    @property
    def _gaps(self) -> list[float]:
        return [after.at_s - before.at_s for before, after in pairwise(self.steps)]

    def _is_next(self, now_s: float, soonest_s: float) -> bool:
        """Return whether there are enough steps, of which the last is late, and the next one is not overdue."""
        if len(self.steps) < self._stairs.steps:
            return False
        gap = self._gaps[-1]
        return gap >= soonest_s and now_s - self.steps[-1].at_s <= self._stairs.overdue_times * gap

    def _rise(self, now_s: float, mib: float) -> None:
        last = self.steps[-1] if self.steps else None
        if last and now_s - last.at_s <= self._stairs.one_s:
            self.steps = (*self.steps[:-1], Step(now_s, last.mib + mib))
        else:
            self.steps = (*self.steps, Step(now_s, mib))[-_MOST:]

    def _grows(self, values: list[float], times: float) -> bool:
        last = values[-int(self._stairs.steps) :]
        return all(after >= times * before for before, after in pairwise(last)) and last[-1] > last[0] * times
