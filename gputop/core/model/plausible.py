"""Checks of samples that a stranger made: what the types allow, and no host has."""

from collections.abc import Iterator
from typing import Final

from gputop.core.model.catalogue import (
    ARCHITECTURE,
    CATALOGUE,
    COMPUTE_CAPABILITY,
    COMPUTE_MODE,
    EVENT_REASONS,
    RECOVERY_ACTION,
    SERIAL,
    VBIOS,
    VIRTUALIZATION,
)
from gputop.core.model.metric import Unit
from gputop.core.model.sample import Readings, Sample

MOST_ROWS: Final = 100_000  # in a list
MOST_GPUS: Final = 1024
_LATEST_S: Final = 250_000_000_000.0  # in the year 9892; a calendar ends with 9999
_LONGEST_INTERVAL_S: Final = 86_400.0
_TEXTS: Final = (SERIAL, VBIOS, ARCHITECTURE, COMPUTE_CAPABILITY, RECOVERY_ACTION, COMPUTE_MODE, VIRTUALIZATION)
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    **{metric.key: (int, float) for metric in CATALOGUE if metric.unit is not Unit.NONE},
    **{metric.key: str for metric in _TEXTS},
    EVENT_REASONS.key: tuple,
}


def fault_of(sample: Sample) -> str:
    """Return what no host has: ``more than 1024 GPUs``; empty if the sample is plausible."""
    if len(sample.gpus) > MOST_GPUS:
        return f"more than {MOST_GPUS} GPUs"
    rows = (sample.processes, sample.relatives, sample.problems, sample.left_out, sample.host.cores_percent)
    if max(map(len, rows)) > MOST_ROWS:
        return f"more than {MOST_ROWS:,} rows"
    if not all(map(_has_types, _readings(sample))):
        return "a value of another type"
    is_good = 0 <= sample.interval_s <= _LONGEST_INTERVAL_S and all(map(is_time, _times(sample)))
    return "" if is_good else "an impossible time"


def is_time(at_s: float) -> bool:
    """Say whether a calendar has this time, in seconds since the epoch; a wrong clock may be before it."""
    return abs(at_s) <= _LATEST_S


def _readings(sample: Sample) -> Iterator[Readings]:
    for gpu in sample.gpus:
        yield gpu
        yield from gpu.instances


def _has_types(readings: Readings) -> bool:
    """Say whether the values have the types of their metrics; unknown metrics are not shown."""
    return all(value is None or isinstance(value, _TYPES.get(key, object)) for key, value in readings.metrics.items())


def _times(sample: Sample) -> Iterator[float]:
    yield sample.time_s
    for gpu in sample.gpus:
        yield gpu.read_s or 0.0
        yield from (event.time_s for event in gpu.xids)
    for one in (*sample.processes, *sample.relatives):
        yield one.started_s or 0.0
        if one.progress is not None:
            yield one.progress.time_s
