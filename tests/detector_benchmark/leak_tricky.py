"""Memory traces that were written to break the leak detector: T leak, U do not."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from math import log, pi, sin
from random import Random
from typing import Final

from detector_benchmark import leak_shapes as shapes
from detector_benchmark.leak_shapes import BUSY, GIB, GONE, Curve
from detector_benchmark.leak_traces import Made, Maker

_HOUR = 3600


def _every(values: Curve, rng: Random, least: int, most: int) -> Curve:
    """Return the values as a slow sampler sees them: one each few seconds."""
    held, due = array("d"), 0
    for second, value in enumerate(values):
        is_due = second >= due
        held.append(value if is_due else GONE)
        if is_due:
            due = second + rng.randint(least, most)
    return held


# --- that leak -----------------------------------------------------------------------------------------------------
def _peak_and_leak(rng: Random) -> Made:
    size = rng.uniform(5, 25) * GIB
    peak = shapes.steps_at(2700, [(20, size), (rng.uniform(40, 90), -size / 2)])
    return shapes.plus(peak, shapes.line(2700, 45, 120)), BUSY, 120.0


def _after_hours(_: Random) -> Made:
    return shapes.line(13_500, 60, 10_800), BUSY, 10_800.0


def _large_pieces(rng: Random) -> Made:
    pieces = [(t, rng.uniform(128, 384)) for t in shapes.poisson(rng, 5400, 300)]
    return shapes.steps_at(5400, pieces), BUSY, 0.0


def _slowing(rng: Random) -> Made:
    first = rng.uniform(30, 60)
    return shapes.curve(_HOUR, lambda t: first / 60 * (t - t * t / (4 * _HOUR))), BUSY, 0.0


def _beside_evaluations(rng: Random) -> Made:
    return shapes.plus(shapes.spikes(rng, 2700), shapes.line(2700, 40)), BUSY, 0.0


def _seldom_returns(rng: Random) -> Made:
    values, now, kept, due = array("d"), 0.0, 0.0, rng.uniform(240, 400)
    for second in range(_HOUR):
        now += 1.0
        if second >= due:
            now -= 0.4 * (now - kept)
            kept, due = now, second + rng.uniform(240, 400)
        values.append(now)
    return values, BUSY, 0.0


def _fast(rng: Random) -> Made:
    return shapes.line(2700, rng.uniform(4, 10) * 60), BUSY, 0.0


def _seen_seldom(rng: Random) -> Made:
    return _every(shapes.line(2400, 40), rng, 3, 8), BUSY, 0.0


def _teeth_seen_seldom(rng: Random) -> Made:
    teeth = shapes.teeth(rng, _HOUR, (60, 240), (0.5 * GIB, 3 * GIB))
    return _every(shapes.plus(teeth, shapes.line(_HOUR, 60)), rng, 2, 5), BUSY, 0.0


def _below_a_wave(rng: Random) -> Made:
    wave = shapes.wave(rng, _HOUR, rng.uniform(5, 9) * 60, rng.uniform(2, 10) * GIB, 100)
    return shapes.plus(wave, shapes.line(_HOUR, 40)), BUSY, 0.0


def _after_fragments(rng: Random) -> Made:
    return shapes.plus(shapes.fragments(rng, _HOUR), shapes.line(_HOUR, 30, 1200)), BUSY, 1200.0


def _after_loading(rng: Random) -> Made:
    takes_s = rng.uniform(60, 400)
    values = shapes.plus(shapes.load(_HOUR, rng.uniform(10, 40) * GIB, takes_s), shapes.line(_HOUR, 30, takes_s))
    return values, shapes.idle_until(_HOUR, takes_s, 70), takes_s


TRICKY_LEAKS: Final[Mapping[str, Maker]] = {
    "T01 after a peak at the start": _peak_and_leak,
    "T02 after three hours": _after_hours,
    "T03 large pieces": _large_pieces,
    "T04 slows to a half in an hour": _slowing,
    "T05 beside evaluations": _beside_evaluations,
    "T06 returns 40 % now and then": _seldom_returns,
    "T07 fast": _fast,
    "T08 seen every 3-8 s": _seen_seldom,
    "T09 teeth seen every 2-5 s": _teeth_seen_seldom,
    "T10 below a wave": _below_a_wave,
    "T11 after fragmentation": _after_fragments,
    "T12 after loading": _after_loading,
}


# --- that do not ---------------------------------------------------------------------------------------------------
def _slow_warm_up(rng: Random) -> Made:
    return shapes.warm_up(_HOUR, rng.uniform(2, 10) * GIB, rng.uniform(300, 480)), BUSY, None


def _heavy_tails(rng: Random) -> Made:
    asked = shapes.curve(_HOUR, lambda _: 20 * (min(40 * GIB, 500 * rng.paretovariate(1.5)) // 20))
    return shapes.running_maximum(asked), BUSY, None


def _epochs_of_cache(rng: Random) -> Made:
    values, end = shapes.flat(_HOUR), 0.0
    for _ in range(rng.randint(3, 5)):
        start, long, size = end + rng.uniform(200, 500), rng.uniform(60, 200), rng.uniform(300, 800)
        end = start + long
        values = shapes.plus(values, shapes.load(_HOUR, size, long, start))
    return values, BUSY, None


def _adapters(rng: Random) -> Made:
    """Load an adapter when it is first asked for; few are asked for often."""
    sizes = [rng.uniform(60, 200) for _ in range(60)]
    loaded: set[int] = set()
    steps = []
    for when in shapes.poisson(rng, _HOUR, 3):
        one = int(60 * rng.random() ** 3)
        if one not in loaded:
            loaded.add(one)
            steps.append((when, sizes[one]))
    return shapes.steps_at(_HOUR, steps), BUSY, None


def _two_loads(rng: Random) -> Made:
    first = shapes.load(_HOUR, rng.uniform(8, 15) * GIB, rng.uniform(200, 400), 30)
    return shapes.plus(first, shapes.load(_HOUR, rng.uniform(8, 15) * GIB, rng.uniform(200, 400), 1200)), BUSY, None


def _logarithmic(rng: Random) -> Made:
    size, scale = rng.uniform(200, 800), rng.uniform(5, 60)
    return shapes.curve(2 * _HOUR, lambda t: 2 * (size * log(1 + t / scale) // 2)), BUSY, None


def _flapping(rng: Random) -> Made:
    return shapes.curve(_HOUR, lambda _: rng.choice((0, 2, 64, 128))), BUSY, None


def _teeth_in_steps(rng: Random) -> Made:
    return _every(shapes.sawtooth(_HOUR, rng.uniform(0.5, 8) * GIB, rng.uniform(20, 90)), rng, 4, 10), BUSY, None


def _refilled(rng: Random) -> Made:
    size = rng.uniform(2, 8) * GIB
    values = array("d")
    while len(values) < _HOUR:
        long, rest = int(rng.uniform(240, 480)), int(rng.uniform(300, 600))
        values.extend(size * t / long for t in range(long))
        values.extend([size] * rest)
    return values[:_HOUR], BUSY, None


def _slow_wave(rng: Random) -> Made:
    return shapes.wave(rng, 2 * _HOUR, rng.uniform(12, 20) * 60, rng.uniform(1, 8) * GIB, 50), BUSY, None


def _drifting_teeth(rng: Random) -> Made:
    """Return teeth whose period is nearly a whole number of seconds, so that what is seen of them drifts."""
    return shapes.sawtooth(_HOUR, rng.uniform(1, 8) * GIB, rng.randint(20, 60) + rng.uniform(0.002, 0.02)), BUSY, None


def _two_waves(rng: Random) -> Made:
    one, other = rng.uniform(180, 400), rng.uniform(400, 900)
    high = rng.uniform(1, 6) * GIB
    return (
        shapes.curve(_HOUR, lambda t: high * (2 + sin(2 * pi * t / one) + sin(2 * pi * t / other)) / 4),
        BUSY,
        None,
    )


TRICKY_QUIET: Final[Mapping[str, Maker]] = {
    "U01 slow warm-up": _slow_warm_up,
    "U02 batches with heavy tails": _heavy_tails,
    "U03 a cache in epochs": _epochs_of_cache,
    "U04 adapters on demand": _adapters,
    "U05 two loads while busy": _two_loads,
    "U06 logarithmic, two hours": _logarithmic,
    "U07 flapping": _flapping,
    "U08 teeth seen every 4-10 s": _teeth_in_steps,
    "U09 refilled to the same level": _refilled,
    "U10 slow wave": _slow_wave,
    "U11 drifting teeth": _drifting_teeth,
    "U12 two waves": _two_waves,
}
