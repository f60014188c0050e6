"""What stands out among equals: a host or a GPU of a job whose values are far from those of the others."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from gputop.core.fleet.model import FleetGpu

_LEAST_MEMBERS: Final = 3  # of two, either may be the odd one
_SPREADS: Final = 6.0  # usual spreads: far beyond chance
_TO_SIGMA: Final = 1.4826  # of the median of deviations, in a normal distribution
_MOST_SHARE: Final = 4  # if more than a quarter are far away, the members differ by design
_LEAST_PERCENT: Final = 15.0  # points of utilization or of memory


def outliers(values: Mapping[str, float], least: float) -> dict[str, float]:
    """Return the values that are far from the median of all: by six usual spreads, and by at least ``least``."""
    if len(values) < _LEAST_MEMBERS:
        return {}
    middle = median(values.values())
    spread = _TO_SIGMA * median(abs(value - middle) for value in values.values())
    far = {key: value for key, value in values.items() if abs(value - middle) > max(least, _SPREADS * spread)}
    return far if len(far) <= max(1, len(values) // _MOST_SHARE) else {}


def odd_host(hosts: Sequence[tuple[str, Sequence[FleetGpu]]]) -> str:
    """Return the host whose mean utilization or memory stands out, with both numbers; empty if none does."""
    loads = {name: [gpu.utilization_percent for gpu in gpus] for name, gpus in hosts}
    shares = {name: [_share(gpu) for gpu in gpus] for name, gpus in hosts}
    for word, known in (("utilization", loads), ("memory", shares)):
        means = {name: mean for name, values in known.items() if (mean := _mean(values)) is not None}
        far = outliers(means, _LEAST_PERCENT)
        if far:
            middle = median(means.values())
            name = max(far, key=lambda one: abs(far[one] - middle))
            more = f" (+{len(far) - 1})" if len(far) > 1 else ""
            return f"{name}{more}: {word} {far[name]:.0f}%, others {middle:.0f}%"
    return ""


def _share(gpu: FleetGpu) -> float | None:
    used, whole = gpu.memory_used_bytes, gpu.memory_total_bytes
    return None if used is None or not whole else used * 100 / whole


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
