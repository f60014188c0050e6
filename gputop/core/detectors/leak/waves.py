"""Memory without regular waves, which epochs, requests or a changing load cause and which hide growth."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct

from gputop.core.detectors.leak.growth import USUAL, Shape, Window, fall_backs, rise_of_troughs, upper_median

_SHORTEST: Final = 3  # buckets: they do not resolve a shorter wave


class Waves(Struct, frozen=True):
    """The conditions for the removal of waves. ``cycles``: least number of cycles; the others are shares.

    ``deep``: of the range, to exclude noise. ``regular``: of the usual length by which a cycle may differ; ``odd``: of
    the cycles that may differ by more. ``lifted``: of the growth of the means by which the troughs must rise: if only
    the peaks grow, nothing is retained.
    """

    cycles: float = 3.0
    deep: float = 0.35
    regular: float = 0.25
    odd: float = 0.25
    lifted: float = 0.5


_USUAL: Final = Waves()


def without_waves(window: Window, waves: Waves = _USUAL, shape: Shape = USUAL) -> tuple[Window, int] | None:
    """Return the window without its waves, shorter by two periods, and their number; None without regular waves.

    A mean over exactly one period removes the wave; a second mean removes the rest, since a period is not a whole
    number of buckets.
    """
    middle = [(low + high) / 2 for low, high in zip(window.lows, window.highs, strict=True)]
    backs = fall_backs(window, shape, waves.deep * _range(middle))
    lengths = [after - before for before, after in pairwise(backs)]
    if len(lengths) < waves.cycles:
        return None
    usual = upper_median(lengths)
    odd = sum(abs(length - usual) > max(1.0, waves.regular * usual) for length in lengths)
    period = round((backs[-1] - backs[0]) / len(lengths))
    if odd > int(waves.odd * len(lengths)) or period < _SHORTEST:
        return None
    rise = rise_of_troughs(window, backs, shape)
    if rise <= 0:
        return None
    smooth = _means(_means(middle, period), period)
    if len(smooth) < 2:
        return None
    first = period - 1
    last = first + len(smooth)
    lifted = (smooth[-1] - smooth[0]) / (last - first) * (backs[-1] - backs[0])
    if rise < waves.lifted * lifted:
        return None
    calm = Window(window.starts[first:last], smooth, smooth, [0.0] * len(smooth), window.work[first:last])
    return calm, len(backs)


def _range(values: Sequence[float]) -> float:
    """Return the range of the middle 80 % of the values, which leaves out the start of a process."""
    ranked = sorted(values)
    return ranked[len(ranked) * 9 // 10] - ranked[len(ranked) // 10]


def _means(values: Sequence[float], count: int) -> list[float]:
    """Return the moving means over ``count`` values."""
    sums = [0.0, *accumulate(values)]
    return [(sums[at + count] - sums[at]) / count for at in range(len(values) - count + 1)]
