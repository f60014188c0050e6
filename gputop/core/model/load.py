"""How loaded a GPU or its memory is: low, middle or high. The screen's colours and `gputop free` follow from it."""

from enum import Enum
from typing import Final

BUSY_PERCENT: Final = 10.0  # a GPU above this utilization is busy, as in nvitop
_RESERVED_BYTES: Final = 1024**3  # what the driver itself may hold of an idle GPU
_RESERVED_SHARE: Final = 0.02
_UTILIZATION: Final = (BUSY_PERCENT, 75.0)
_MEMORY: Final = (10.0, 80.0)


class Load(str, Enum):
    """A level of load. High is no trouble: a GPU is there to be used."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


def utilization_load(percent: float | None) -> Load | None:
    """Judge a utilization; None if it is unknown."""
    return _level(percent, _UTILIZATION)


def memory_load(percent: float | None) -> Load | None:
    """Judge the share of used memory; None if it is unknown."""
    return _level(percent, _MEMORY)


def is_held(used_bytes: float, total_bytes: float | None) -> bool:
    """Say whether programs hold memory of a GPU: more is used than the driver itself may need."""
    return used_bytes > max(_RESERVED_BYTES, _RESERVED_SHARE * (total_bytes or 0))


def _level(percent: float | None, limits: tuple[float, float]) -> Load | None:
    if percent is None:
        return None
    low, high = limits
    if percent <= low:
        return Load.LOW
    return Load.MIDDLE if percent <= high else Load.HIGH
