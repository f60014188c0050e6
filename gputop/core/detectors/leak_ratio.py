"""Is growth steady, or does it fade as 1/t? Leaks are steady; warm-ups, running maxima and fragmentation fade."""

from collections.abc import Sequence
from math import inf, log
from typing import Final

from gputop.core.detectors.leak_growth import Window, come_backs, floor_of, quiet_tail, steps_of, upper_median

_YOUNGEST_S: Final = 30.0
_LONGER: Final = 1.2  # times as old at the end as at the start, at the least
_STARTS: Final = 16
_CAP: Final = 3.0


def odds(window: Window, age_s: float) -> float:
    """Return the log of how much likelier a constant rate is than one of 1/age, by the best of several starts.

    Growth may begin late, so both are compared from 16 starts on. ``age_s``: of the process at second 0
    of the window. Steps count by their size, up to three times the usual one.
    """
    backs = come_backs(window)
    window = quiet_tail(window, backs) or window.part(0, backs[-1] + 1)
    steps = steps_of(floor_of(window.lows))
    positive = [step for step in steps if step > 0]
    if len(window.lows) < 8 or not positive:
        return 0.0
    usual = upper_median(positive)
    ages = [age_s + start + 1 for start in window.starts]
    return _best([min(_CAP, step / usual) for step in steps], ages)


def _best(weights: Sequence[float], ages: Sequence[float]) -> float:
    """Return the largest ratio. Event i happened at ``ages[i + 1]``."""
    end = ages[-1]
    logs = [log(age) for age in ages]
    left = sum(weights)
    weighted = sum(weight * logs[at + 1] for at, weight in enumerate(weights))
    best = -inf
    every = max(1, len(ages) // _STARTS)
    for at, weight in enumerate(weights):
        start = max(ages[at], _YOUNGEST_S)
        if end <= _LONGER * start or at >= len(ages) - 6:
            break
        if at % every == 0:
            best = max(best, weighted + left * log(log(end / start) / (end - start)))
        left -= weight
        weighted -= weight * logs[at + 1]
    return best if best > -inf else 0.0
