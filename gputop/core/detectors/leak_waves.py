"""Take a regular wave out of memory, to see what is below it: epochs, requests, a load that comes and goes."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from gputop.core.detectors.leak_growth import FELL_MIB, Window, come_backs, rise_of_troughs, upper_median

# The shape of a wave that can be taken out.
_CYCLES: Final = 3
_DEEP: Final = 0.35  # of the range: a wave, and not its noise
_REGULAR: Final = 0.25  # of the usual length, by which a cycle may differ
_LIFTED: Final = 0.5  # of the growth of the means: where only the peaks grow, nothing is kept
_SHORTEST: Final = 3  # buckets


def without_waves(window: Window) -> tuple[Window, int] | None:
    """Return the window without its wave, shorter by two periods, and how many waves; None if it has no regular ones.

    The mean over exactly one period has nothing left of it; the second mean takes out what the first leaves because a
    period is no whole number of buckets.
    """
    middle = [(low + high) / 2 for low, high in zip(window.lows, window.highs, strict=True)]
    backs = come_backs(window, max(FELL_MIB, _DEEP * _range(middle)))
    lengths = [after - before for before, after in pairwise(backs)]
    if len(lengths) < _CYCLES:
        return None
    usual = upper_median(lengths)
    odd = sum(abs(length - usual) > max(1.0, _REGULAR * usual) for length in lengths)
    period = round((backs[-1] - backs[0]) / len(lengths))
    if odd > len(lengths) // 4 or period < _SHORTEST:
        return None
    rise = rise_of_troughs(window, backs)
    if rise <= 0:
        return None
    smooth = _means(_means(middle, period), period)
    if len(smooth) < 2:
        return None
    first = period - 1
    last = first + len(smooth)
    lifted = (smooth[-1] - smooth[0]) / (last - first) * (backs[-1] - backs[0])
    if rise < _LIFTED * lifted:
        return None
    calm = Window(window.starts[first:last], smooth, smooth, [0.0] * len(smooth), window.work[first:last])
    return calm, len(backs)


def _range(values: Sequence[float]) -> float:
    """Return between which values it is most of the time, without the beginning of a process."""
    ranked = sorted(values)
    return ranked[len(ranked) * 9 // 10] - ranked[len(ranked) // 10]


def _means(values: Sequence[float], count: int) -> list[float]:
    """Return the means of so many neighbours each."""
    sums = [0.0, *accumulate(values)]
    return [(sums[at + count] - sums[at]) / count for at in range(len(values) - count + 1)]
