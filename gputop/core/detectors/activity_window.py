"""Means over the last one and a half to three minutes, in two blocks: constant memory, and old values do fall out."""

from typing import Final

_BLOCK_S: Final = 90.0


class Window:
    """Weighs values by the time for which they stood. ``width``: how many are added at a time."""

    __slots__ = ("_before", "_block", "_width")

    def __init__(self, width: int) -> None:
        self._width = width
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._block = _Block(self._width)
        self._before = _Block(self._width)

    def add(self, step_s: float, values: tuple[float | None, ...]) -> None:
        """Count values that stood for so many seconds; None is not counted."""
        block = self._block
        if block.passed_s >= _BLOCK_S:
            self._before, self._block = block, (block := _Block(self._width))
        block.passed_s += step_s
        sums, seconds = block.sums, block.seconds
        for at, value in enumerate(values):
            if value is not None:
                sums[at] += value * step_s
                seconds[at] += step_s

    @property
    def passed_s(self) -> float:
        """Return how many seconds the means are of."""
        return self._block.passed_s + self._before.passed_s

    def mean(self, at: int) -> float | None:
        """Return the mean of one of the values; None where it was never known."""
        seconds = self._block.seconds[at] + self._before.seconds[at]
        return (self._block.sums[at] + self._before.sums[at]) / seconds if seconds else None


class _Block:
    __slots__ = ("passed_s", "seconds", "sums")

    def __init__(self, width: int) -> None:
        self.passed_s = 0.0
        self.sums = [0.0] * width
        self.seconds = [0.0] * width
