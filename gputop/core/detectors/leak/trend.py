"""The trend of a short series (Mann-Kendall) and its slope (Theil-Sen)."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Final

_MOST: Final = 25  # points: the pairs of more points take too long and add nothing


def trend(values: Sequence[float]) -> float:
    """Return Mann-Kendall's Z with its correction for ties: above 3 the rise is not random."""
    points = _thinned(values)
    count = len(points)
    score = 0
    for at, one in enumerate(points):
        for other in points[at + 1 :]:
            score += (other > one) - (other < one)
    ties = sum(same * (same - 1) * (2 * same + 5) for same in Counter(points).values())
    variance = (count * (count - 1) * (2 * count + 5) - ties) / 18
    if variance <= 0 or not score:
        return 0.0
    return (score - 1 if score > 0 else score + 1) / sqrt(variance)


def slopes(times: Sequence[float], values: Sequence[float]) -> tuple[float, float, float]:
    """Return the 10 % quantile, the median and the 90 % quantile of the slopes of all pairs of points."""
    at = _thinned(times)
    points = _thinned(values)
    found = sorted(
        (points[j] - points[i]) / (at[j] - at[i])
        for i in range(len(at))
        for j in range(i + 1, len(at))
        if at[j] > at[i]
    )
    if not found:
        return 0.0, 0.0, 0.0
    last = len(found) - 1
    return found[int(0.1 * last)], found[last // 2], found[int(0.9 * last)]


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """Return at most 25 values, evenly spaced, the last included."""
    count = len(values)
    if count <= _MOST:
        return values
    return [values[at * (count - 1) // (_MOST - 1)] for at in range(_MOST)]
