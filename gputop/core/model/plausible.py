"""Checks of samples that a stranger made: what the types allow, and no host has."""

from collections.abc import Iterator
from typing import Any, Final

from gputop.core.model.sample import Sample
from gputop.core.text.text import clean

MOST_ROWS: Final = 100_000  # in a list
_MOST_GPUS: Final = 1024
_LATEST_S: Final = 250_000_000_000.0  # in the year 9892; a calendar ends with 9999
_LONGEST_INTERVAL_S: Final = 86_400.0
_MOST_NUMBER: Final = 2**64
_NUMBERS: Final = frozenset({int, float})
_LISTS: Final = frozenset({list, tuple})


def fault_of(sample: Sample) -> str:
    """Return what no host has: ``more than 1024 GPUs``; empty if the sample is plausible."""
    if len(sample.gpus) > _MOST_GPUS:
        return f"more than {_MOST_GPUS} GPUs"
    rows = (sample.processes, sample.relatives, sample.problems, sample.host.cores_percent)
    if max(map(len, rows)) > MOST_ROWS:
        return f"more than {MOST_ROWS:,} rows"
    is_good = 0 <= sample.interval_s <= _LONGEST_INTERVAL_S and all(map(is_time, _times(sample)))
    return "" if is_good else "an impossible time"


def is_time(at_s: float) -> bool:
    """Say whether a calendar has this time, in seconds since the epoch; a wrong clock may be before it."""
    return abs(at_s) <= _LATEST_S


def possible(number: float) -> float:
    """Return a number. Raises ValueError if nothing has it; a screen may fail to print it."""
    if not -_MOST_NUMBER <= number <= _MOST_NUMBER:
        raise ValueError("an impossible number")
    return number


def harmless(tree: Any) -> Any:  # noqa: ANN401 - values of JSON
    """Return values of JSON with clean text. Raises ValueError for an impossible number."""
    kind = type(tree)
    if kind in _NUMBERS:
        return possible(tree)
    if kind is str:
        return clean(tree)
    if kind is dict:
        return {clean(key): harmless(each) for key, each in tree.items()}
    return [harmless(each) for each in tree] if kind in _LISTS else tree


def _times(sample: Sample) -> Iterator[float]:
    yield sample.time_s
    for gpu in sample.gpus:
        yield gpu.read_s or 0.0
        yield from (event.time_s for event in gpu.xids)
    for one in (*sample.processes, *sample.relatives):
        yield one.started_s or 0.0
        if one.progress is not None:
            yield one.progress.time_s
