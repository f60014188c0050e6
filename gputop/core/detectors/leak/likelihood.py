"""The odds of steady against fading growth (1/t). Leaks are steady; warm-ups, running maxima and fragmentation fade."""

from collections.abc import Sequence
from math import inf, log
from typing import Final

from gputop.core.detectors.leak.growth import (
    USUAL,
    Shape,
    Window,
    fall_backs,
    floor_of,
    quiet_tail,
    steps_of,
    upper_median,
)

# Constants of the statistic, which has no unit; the dial `least_log_odds` is its threshold.
_YOUNGEST_S: Final = 30.0
_WARM_S: Final = (
    600.0  # an older process does not warm up any more: its growth fades from the first sample on, or never
)
_LONGER: Final = 1.2  # least ratio of the ages at the end and at the start
_STARTS: Final = 16
_NEAR: Final = 2
_ALIKE: Final = 0.2


def odds(window: Window, age_s: float, shape: Shape = USUAL) -> float:
    """Return the log odds of a constant rate against a rate of 1/age, by the best of several starts.

    Growth may begin late, so 16 starts are compared. ``age_s``: age of the process at second 0 of the window. Steps
    count by their size.
    """
    backs = fall_backs(window, shape)
    window = quiet_tail(window, backs, shape.overdue_times) or window.part(0, backs[-1] + 1)
    steps = steps_of(floor_of(window.lows))
    positive = [step for step in steps if step > 0]
    if len(window.lows) < 8 or not positive:
        return 0.0
    usual = upper_median(positive)
    ages = [min(age_s, _WARM_S) + start + 1 for start in window.starts]
    most = _most(steps, usual, shape.large_step_times)
    return _best([min(step, top) / usual for step, top in zip(steps, most, strict=True)], ages)


def _most(steps: Sequence[float], usual: float, large: float) -> list[float]:
    """Return the limit of each step: ``large`` times the usual step near it, so that only single ones are cut.

    A warm-up is steep at first: the same limit everywhere would make it look steady.
    """
    ends = len(steps)
    near = (upper_median(steps[max(0, at - _NEAR) : min(ends, at + _NEAR + 1)]) for at in range(ends))
    return [large * max(usual, local) for local in near]


def _best(weights: Sequence[float], ages: Sequence[float]) -> float:
    """Return the largest ratio. Event i happened at ``ages[i + 1]``."""
    end, count = ages[-1], len(weights)
    logs = [log(age) for age in ages]
    left = sum(weights)
    squares = sum(weight * weight for weight in weights)
    weighted = sum(weight * logs[at + 1] for at, weight in enumerate(weights))
    best = -inf
    every = max(1, len(ages) // _STARTS)
    for at, weight in enumerate(weights):
        start = max(ages[at], _YOUNGEST_S)
        if end <= _LONGER * start or at >= len(ages) - 6 or left <= 0:
            break
        if at % every == 0:
            ratio = weighted + left * log(log(end / start) / (end - start))
            best = max(best, ratio / _dispersion(left, squares, count - at))
        left -= weight
        squares -= weight * weight
        weighted -= weight * logs[at + 1]
    return best if best > -inf else 0.0


def _dispersion(total: float, squares: float, count: int) -> float:
    """Return the variation of the steps, 1 for random events: similar steps are stronger evidence of a rate."""
    mean = total / count
    return min(1.0, max(_ALIKE, (squares / count - mean * mean) / mean))
