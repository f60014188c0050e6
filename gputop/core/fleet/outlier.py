"""What stands out among equals: the values that are far from those of the others."""

from collections.abc import Mapping
from statistics import median
from typing import Final, TypeVar

K = TypeVar("K")
LEAST_MEMBERS: Final = 3  # of two, either may be the odd one
_SPREADS: Final = 6.0  # usual spreads: far beyond chance
_TO_SIGMA: Final = 1.4826  # of the median of deviations, in a normal distribution
_MOST_SHARE: Final = 4  # if more than a quarter are far away, the members differ by design


def outliers(values: Mapping[K, float], least: float) -> dict[K, float]:
    """Return the values that are far from the median of all: by six usual spreads, and by at least ``least``.

    The farthest comes first.
    """
    if len(values) < LEAST_MEMBERS:
        return {}
    middle = median(values.values())
    apart = {key: abs(value - middle) for key, value in values.items()}
    limit = max(least, _SPREADS * _TO_SIGMA * median(apart.values()))
    far = sorted((key for key in values if apart[key] > limit), key=lambda key: -apart[key])
    return {key: values[key] for key in far} if len(far) <= max(1, len(values) // _MOST_SHARE) else {}
