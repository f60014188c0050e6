"""Parameters of a trace, drawn at random: the same for the same trace and seed, others for another seed."""

import math
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from detector_benchmark.independent.activity import Activity
from detector_benchmark.independent.boards import Board

T = TypeVar("T")


class Draw:
    """The dice of one trace. ``name``: of the trace, so that no two traces share their numbers."""

    def __init__(self, seed: int, name: str) -> None:
        self._random = Random(f"{name}/{seed}")

    def between(self, low: float, high: float) -> float:
        """Return a number, all in the range equally likely."""
        return self._random.uniform(low, high)

    def about(self, middle: float, factor: float = 1.3) -> float:
        """Return a number around a median, log-normal: two of three lie within ``factor`` of it, none beyond two."""
        return middle * math.exp(max(-2.0, min(2.0, self._random.gauss(0, 1))) * math.log(factor))

    def whole(self, low: int, high: int) -> int:
        """Return an integer, both ends included."""
        return self._random.randint(low, high)

    def one_of(self, some: Sequence[T]) -> T:
        """Return one of some things."""
        return self._random.choice(some)

    def seed(self) -> int:
        """Return a seed for a part that draws its own numbers."""
        return self._random.randrange(1, 10**6)

    def work(self, activity: Activity, *, level: float = 1.0) -> Activity:
        """Return the same kind of work of another model: other levels of power, memory and pipes."""
        heavy, wide = level * self.between(0.82, 1.08), self.between(0.7, 1.25)
        return activity.but(
            util=activity.util if activity.util > 98 else min(97.0, activity.util * self.between(0.93, 1.05)),
            mc=min(97.0, activity.mc * wide),
            dram=min(90.0, activity.dram * wide),
            share=activity.share * heavy,
            sm=min(97.0, activity.sm * self.between(0.85, 1.08)),
            tensor=min(80.0, activity.tensor * heavy),
            rx=activity.rx * self.about(1, 1.6),
            tx=activity.tx * self.about(1, 1.6),
            nv=activity.nv * self.about(1, 1.6),
            noise=activity.noise * self.about(1, 1.4),
        )

    def mib(self, board: Board, low: float = 0.35, high: float = 0.85) -> float:
        """Return an amount of memory, as a share of that of a board, in MiB."""
        return self.between(low, high) * (board.memory_mib - board.reserved_mib) // 2 * 2
