"""The parts that memory traces are made of: functions that return a value in MiB for each second."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array
from collections.abc import Callable, Sequence
from math import exp, log, pi, sin
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct

GIB: Final = 1024.0
CARD: Final = 81_559.0
BUSY: Final = 60.0
GONE: Final = float("nan")

Curve: TypeAlias = "array[float]"


class Trace(Struct, kw_only=True):
    """What somebody watching a process would see, a value a second.

    ``memory``: MiB; NaN where the sample is missing. ``busy``: SM utilization in percent, one value if it is constant.
    ``onset_s``: when the leak begins, None where there is none. ``age_s``: of the process at the first value.
    """

    kind: str
    seed: int
    memory: Curve
    busy: Sequence[float] = (BUSY,)
    onset_s: float | None = None
    age_s: float = 0.0

    def busy_at(self, second: int) -> float:
        """Return the utilization of a second."""
        return self.busy[min(second, len(self.busy) - 1)]


def randomly(seed: str) -> Random:
    """Return a source of randomness that is the same for the same words, on every machine."""
    return Random(seed)  # noqa: S311 - nothing is secret


def curve(seconds: int, value_at: Callable[[int], float]) -> Curve:
    """Return the values of a function."""
    return array("d", [value_at(second) for second in range(seconds)])


def flat(seconds: int) -> Curve:
    """Return zeros."""
    return array("d", bytes(8 * seconds))


def plus(*curves: Curve) -> Curve:
    """Return the sum; the shorter ones go on with their last value."""
    seconds = max(map(len, curves))
    even = [one if len(one) == seconds else one + array("d", [one[-1]]) * (seconds - len(one)) for one in curves]
    return array("d", map(sum, zip(*even, strict=True)))


def line(seconds: int, per_minute: float, onset_s: float = 0.0) -> Curve:
    """Return steady growth that begins at the onset."""
    return curve(seconds, lambda t: max(0.0, t - onset_s) * per_minute / 60)


def noise(rng: Random, seconds: int, sd: float) -> Curve:
    """Return what short-lived allocations add."""
    return curve(seconds, lambda _: abs(rng.gauss(0, sd)))


def warm_up(seconds: int, most: float, tau_s: float) -> Curve:
    """Return growth that saturates."""
    return curve(seconds, lambda t: most * (1 - exp(-t / tau_s)))


def fragments(rng: Random, seconds: int) -> Curve:
    """Return logarithmic growth in segments of 20 MiB."""
    size, scale = rng.uniform(60, 400), rng.uniform(5, 30)
    return curve(seconds, lambda t: 20 * (size * log(1 + t / scale) // 20))


def load(seconds: int, size: float, takes_s: float, starts_s: float = 0.0) -> Curve:
    """Return a model that is loaded at a steady rate."""
    return curve(seconds, lambda t: size * min(1.0, max(0.0, (t - starts_s) / takes_s)))


def idle_until(seconds: int, end_s: float, busy: float) -> Curve:
    """Return the utilization of a process that computes nothing at first."""
    return curve(seconds, lambda t: 0.0 if t < end_s else busy)


def sawtooth(seconds: int, size: float, period_s: float) -> Curve:
    """Return regular teeth."""
    return curve(seconds, lambda t: size * (t % period_s) / period_s)


def teeth(rng: Random, seconds: int, lasts: tuple[float, float], sizes: tuple[float, float]) -> Curve:
    """Return teeth of random length and height."""
    values = array("d")
    while len(values) < seconds:
        long, high = int(rng.uniform(*lasts)), rng.uniform(*sizes)
        values.extend(high * t / long for t in range(long))
    return values[:seconds]


def steps_at(seconds: int, steps: Sequence[tuple[float, float]]) -> Curve:
    """Return a staircase. ``steps``: when, and by how much."""
    values = flat(seconds)
    for when, size in steps:
        if 0 <= when < seconds:
            values[int(when)] += size
    return summed(values)


def summed(values: Curve) -> Curve:
    """Return the running sum."""
    total = 0.0
    for at, value in enumerate(values):
        total += value
        values[at] = total
    return values


def poisson(rng: Random, seconds: float, every_s: float) -> list[float]:
    """Return random instants, so many seconds apart on average."""
    found, now = [], rng.expovariate(1 / every_s)
    while now < seconds:
        found.append(now)
        now += rng.expovariate(1 / every_s)
    return found


def running_maximum(values: Curve) -> Curve:
    """Return what a caching allocator holds of what is asked for."""
    most = 0.0
    for at, value in enumerate(values):
        most = max(most, value)
        values[at] = most
    return values


def spikes(rng: Random, seconds: int) -> Curve:
    """Return evaluations: now and then much memory for a short while."""
    values, now = flat(seconds), rng.uniform(200, 500)
    while now < seconds:
        high, long = rng.uniform(1, 12) * GIB, rng.uniform(10, 60)
        for at in range(int(now), min(seconds, int(now + long))):
            values[at] = high
        now += rng.uniform(200, 500)
    return values


def wave(rng: Random, seconds: int, period_s: float, size: float, sd: float) -> Curve:
    """Return memory that follows a load up and down."""
    phase = rng.uniform(0, 2 * pi)
    return curve(seconds, lambda t: size / 2 * (1 + sin(2 * pi * t / period_s + phase)) + abs(rng.gauss(0, sd)))


def wander(rng: Random, seconds: int, sd: float, pull: float) -> Curve:
    """Return a random walk that is pulled back to where it began."""
    values, now = array("d"), 0.0
    for _ in range(seconds):
        now += rng.gauss(0, sd) - pull * now
        values.append(now)
    return values


def blocks(rng: Random, seconds: int) -> Curve:
    """Return a notebook: blocks that are allocated and freed at random."""
    held: list[float] = []
    steps = []
    for when in poisson(rng, seconds, 45):
        if held and (rng.random() < 0.5 or len(held) > 8):
            steps.append((when, -held.pop(rng.randrange(len(held)))))
        else:
            held.append(rng.uniform(0.1, 4) * GIB)
            steps.append((when, held[-1]))
    return steps_at(seconds, steps)


def seen(values: Curve, base: float) -> Curve:
    """Return memory as the driver tells it: in steps of 2 MiB, never below 0 or above the board; NaN stays."""
    return array("d", [min(max(-2 * (-(value + base) // 2), 0.0), CARD) for value in values])
