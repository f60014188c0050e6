"""The precision of stored numbers: noise in the fifteenth digit would be a third of a recording.

GPU memory, counters and clocks are stored unchanged. A float has at most three decimals, so that sums of steps between
frames restore exactly what was written.
"""

from collections.abc import Callable
from math import floor, isfinite, log10
from typing import Final, TypeAlias

Round: TypeAlias = Callable[[float], float]
DECIMALS: Final = 3
_RESIDENT_STEP: Final = 65_536  # bytes of host memory


def kept(column: str, value: object) -> object:
    """Return a value as it is stored. ``column``: its dotted path, ``frame.gpus.metrics.energy_j``."""
    if type(value) is float:
        return _rounding(column)(value) if isfinite(value) else None
    if type(value) is int and column in _RESIDENT:
        return round(value / _RESIDENT_STEP) * _RESIDENT_STEP
    return value


def _rounding(column: str) -> Round:
    found = _by_column.get(column)
    if found is None:
        name = column.rpartition(".")[2]
        found = _by_column[column] = _BY_NAME.get(name) or next(
            (round_ for end, round_ in _BY_END if name.endswith(end)), _to_decimals(DECIMALS)
        )
    return found


def _to_decimals(decimals: int) -> Round:
    return lambda value: round(value, decimals)


def _to_figures(figures: int) -> Round:
    """Return a function that keeps this many significant figures, and at most two decimals."""

    def rounded(value: float) -> float:
        if value == 0.0:
            return 0.0
        return round(value, min(2, figures - 1 - floor(log10(abs(value)))))

    return rounded


_by_column: dict[str, Round] = {}
_RESIDENT: Final = frozenset({"processes.memory_bytes", "relatives.memory_bytes", "host.memory_used_bytes"})
_BY_NAME: Final[dict[str, Round]] = {
    "energy_j": _to_decimals(0),
    "gpu_seconds": _to_decimals(1),
    "window_s": _to_decimals(1),
    "time_s": _to_decimals(3),
    "cores_percent": _to_decimals(0),
}
_BY_END: Final[tuple[tuple[str, Round], ...]] = (
    ("_percent", _to_figures(3)),
    ("_per_s", _to_figures(3)),
    ("_w", _to_decimals(1)),
    ("_s", _to_decimals(2)),
)
