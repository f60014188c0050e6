"""Labelled memory traces: P leak, N do not, H cannot be decided; X are mixtures, and L are for the detection limits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, TypeAlias

from detector_benchmark import leak_shapes as shapes
from detector_benchmark.leak_shapes import BUSY, CARD, GIB, GONE, Curve, Trace

MINUTE: Final = 60
Made: TypeAlias = "tuple[Curve, Curve | float, float | None]"  # memory over the base, utilization, onset
Maker: TypeAlias = Callable[[Random], Made]


# --- that leak ---------------------------------------------------------------------------------------------------
def _linear(per_minute: float, minutes: int) -> Maker:
    return lambda _: (shapes.line(minutes * MINUTE, per_minute), BUSY, 0.0)


def _noisy(rng: Random) -> Made:
    return shapes.plus(shapes.line(1200, 50), shapes.noise(rng, 1200, 40)), BUSY, 0.0


def _sawtooth_leak(rng: Random) -> Made:
    teeth = shapes.sawtooth(1800, rng.uniform(0.8, 4) * GIB, rng.uniform(40, 120))
    return shapes.plus(shapes.line(1800, 60), teeth), BUSY, 0.0


def _teeth_leak(rng: Random) -> Made:
    return shapes.plus(shapes.line(2400, 40), shapes.teeth(rng, 2400, (20, 180), (0.2 * GIB, 6 * GIB))), BUSY, 0.0


def _segments_leak(rng: Random) -> Made:
    return shapes.steps_at(1800, [(t, 20.0) for t in shapes.poisson(rng, 1800, 40)]), BUSY, 0.0


def _epochs(rng: Random) -> Made:
    steps, now = [], 0.0
    while now < 2700:
        now += rng.uniform(120, 240)
        steps.append((now, rng.uniform(80, 200)))
    return shapes.steps_at(2700, steps), BUSY, 0.0


def _late(_: Random) -> Made:
    return shapes.line(3600, 60, 1800), BUSY, 1800.0


def _quadratic(_: Random) -> Made:
    return shapes.curve(1500, lambda t: 0.0012 * t * t), BUSY, 0.0


def _warm_and_leak(rng: Random) -> Made:
    warm = shapes.warm_up(2400, rng.uniform(2, 8) * GIB, rng.uniform(20, 60))
    return shapes.plus(warm, shapes.line(2400, 30)), BUSY, 0.0


def _bursts(rng: Random) -> Made:
    busy, is_on = array("d"), True
    while len(busy) < 3000:
        busy.extend([BUSY if is_on else 0.0] * int(rng.uniform(60, 240)))
        is_on = not is_on
    busy = busy[:3000]
    return shapes.summed(array("d", [1.5 if now else 0.0 for now in busy])), busy, 0.0


def _returns_a_part(rng: Random) -> Made:
    values, now, kept, due = array("d"), 0.0, 0.0, rng.uniform(90, 240)
    for second in range(2700):
        now += 1.5
        if second >= due:
            now -= 0.6 * (now - kept)
            kept, due = now, second + rng.uniform(90, 240)
        values.append(now)
    return values, BUSY, 0.0


def _with_load(rng: Random) -> Made:
    steps, load = array("d"), 0.5
    for _ in range(2400):
        load = min(1.0, max(0.0, load + rng.gauss(0, 0.05)))
        steps.append(rng.uniform(0, 3) if rng.random() < load else 0.0)
    return shapes.plus(shapes.summed(steps), shapes.curve(2400, lambda _: rng.uniform(0, 128))), BUSY, 0.0


def _beside_steps(rng: Random) -> Made:
    steps = shapes.steps_at(2700, [(rng.uniform(0, 2700), 3 * GIB) for _ in range(3)])
    return shapes.plus(shapes.line(2700, 45), steps), BUSY, 0.0


def _with_holes(rng: Random) -> Made:
    values, busy, onset_s = _noisy(rng)
    return array("d", [GONE if rng.random() < 0.3 else value for value in values]), busy, onset_s


LEAKS: Final[Mapping[str, Maker]] = {
    "P01 linear 1 MiB/s": _linear(60, 20),
    "P02 50 MiB/min, noise": _noisy,
    "P03 10 MiB/min": _linear(10, 40),
    "P04 3 MiB/min": _linear(3, 60),
    "P05 under a sawtooth": _sawtooth_leak,
    "P06 under random teeth": _teeth_leak,
    "P07 segments at random": _segments_leak,
    "P08 a step an epoch": _epochs,
    "P09 begins after 30 min": _late,
    "P10 quadratic": _quadratic,
    "P11 after a warm-up": _warm_and_leak,
    "P12 in bursts of requests": _bursts,
    "P13 returns 60 %": _returns_a_part,
    "P14 follows the load": _with_load,
    "P15 beside large steps": _beside_steps,
    "P16 P02 with holes": _with_holes,
}


# --- that do not -------------------------------------------------------------------------------------------------
def _flat(_: Random) -> Made:
    return shapes.flat(3600), BUSY, None


def _flat_noise(rng: Random) -> Made:
    return shapes.noise(rng, 2400, 120), BUSY, None


def _warm(sizes: tuple[float, float], taus: tuple[float, float]) -> Maker:
    return lambda rng: (shapes.warm_up(2400, rng.uniform(*sizes) * GIB, rng.uniform(*taus)), BUSY, None)


def _batches(rng: Random) -> Made:
    asked = shapes.curve(3600, lambda _: 20 * (rng.betavariate(2, 6) * 30 * GIB // 20))
    return shapes.running_maximum(asked), BUSY, None


def _fragments(rng: Random) -> Made:
    return shapes.fragments(rng, 3600), BUSY, None


def _model(sizes: tuple[float, float], takes: tuple[float, float], busy: float) -> Maker:
    def made(rng: Random) -> Made:
        takes_s = rng.uniform(*takes)
        values = shapes.load(2400, rng.uniform(*sizes) * GIB, takes_s)
        return values, shapes.idle_until(2400, takes_s, busy), None

    return made


def _vllm(rng: Random) -> Made:
    weights, takes_s = rng.uniform(10, 40) * GIB, rng.uniform(20, 90)
    pool = [(takes_s + 10, 0.65 * CARD - weights)]
    graphs = [(takes_s + 25 + 0.6 * n, 30.0) for n in range(int(rng.uniform(15, 67)))]
    values = shapes.plus(shapes.load(2400, weights, takes_s), shapes.steps_at(2400, pool + graphs))
    return values, shapes.idle_until(2400, takes_s, BUSY), None


def _sawtooth(rng: Random) -> Made:
    return shapes.sawtooth(2400, rng.uniform(0.2, 10) * GIB, rng.uniform(30, 300)), BUSY, None


def _teeth(rng: Random) -> Made:
    return shapes.teeth(rng, 2400, (20, 240), (0.1 * GIB, 9 * GIB)), BUSY, None


def _stairs(rng: Random) -> Made:
    steps = [(rng.uniform(0, 1500), rng.uniform(0.4, 4) * GIB) for _ in range(rng.randint(3, 7))]
    return shapes.steps_at(2700, steps), BUSY, None


def _evaluations(rng: Random) -> Made:
    return shapes.spikes(rng, 2700), BUSY, None


def _notebook(rng: Random) -> Made:
    return shapes.blocks(rng, 3000), BUSY, None


def _wave(rng: Random) -> Made:
    return shapes.wave(rng, 3000, rng.uniform(4, 12) * MINUTE, rng.uniform(2, 15) * GIB, 150), BUSY, None


def _lazy(rng: Random) -> Made:
    return shapes.steps_at(3000, [(rng.expovariate(1 / 250), 20.0) for _ in range(rng.randint(20, 60))]), BUSY, None


def _wander(rng: Random) -> Made:
    return shapes.wander(rng, 2700, 25, 0.004), BUSY, None


def _jax(rng: Random) -> Made:
    return shapes.steps_at(2400, [(rng.uniform(2, 20), 0.7 * CARD)]), BUSY, None


def _cache(rng: Random) -> Made:
    values = array("d")
    while len(values) < 2700:
        rate = rng.uniform(2, 12)
        values.extend(rate * second for second in range(int(rng.uniform(40, 150))))
    return values[:2700], BUSY, None


def _peaks(rng: Random) -> Made:
    values, growth = array("d"), rng.uniform(0.3, 1.5)
    while len(values) < 2700:
        long = int(rng.uniform(30, 120))
        high = 200 + growth * len(values) * rng.uniform(0.7, 1.3)
        values.extend([0.0] * int(rng.uniform(10, 60)))
        values.extend([high] * long)
    return values[:2700], BUSY, None


QUIET: Final[Mapping[str, Maker]] = {
    "N01 flat": _flat,
    "N02 flat with noise": _flat_noise,
    "N03 warm-up": _warm((2, 20), (5, 30)),
    "N04 slow warm-up": _warm((0.5, 8), (90, 240)),
    "N05 random batches": _batches,
    "N06 fragmentation": _fragments,
    "N07 model load": _model((5, 60), (20, 150), 70),
    "N08 slow model load": _model((15, 60), (7 * 60, 20 * 60), 70),
    "N09 vLLM": _vllm,
    "N10 sawtooth": _sawtooth,
    "N11 random teeth": _teeth,
    "N12 finite staircase": _stairs,
    "N13 evaluations": _evaluations,
    "N14 notebook": _notebook,
    "N15 wave of load": _wave,
    "N16 lazy segments": _lazy,
    "N17 random walk": _wander,
    "N18 JAX pool": _jax,
    "N19 KV cache": _cache,
    "N20 growing peaks": _peaks,
}


# --- that nobody can tell while they grow ------------------------------------------------------------------------
def _replay_buffer(rng: Random) -> Made:
    return shapes.load(2700, rng.uniform(4, 20) * GIB, rng.uniform(15, 25) * MINUTE), BUSY, None


def _epoch_long(rng: Random) -> Made:
    return shapes.sawtooth(4500, rng.uniform(3, 9) * GIB, rng.uniform(15, 25) * MINUTE), BUSY, None


def _long_wave(rng: Random) -> Made:
    return shapes.wave(rng, 4800, rng.uniform(40, 80) * MINUTE, rng.uniform(2, 15) * GIB, 150), BUSY, None


HARD: Final[Mapping[str, Maker]] = {
    "H01 replay buffer": _replay_buffer,
    "H02 epoch-long accumulation": _epoch_long,
    "H03 wave of an hour": _long_wave,
}


# --- made ----------------------------------------------------------------------------------------------------------
def trace(kind: str, seed: int, makers: Mapping[str, Maker]) -> Trace:
    """Return a trace of a class."""
    rng = shapes.randomly(f"{kind}/{seed}")
    values, busy, onset_s = makers[kind](rng)
    return _trace(kind, seed, shapes.seen(values, rng.uniform(2, 20) * GIB), busy, onset_s)


def two_quiet(seed: int) -> Trace:
    """Return the sum of two different classes that do not leak."""
    rng = shapes.randomly(f"X0/{seed}")
    (one, first), (other, second) = ((name, QUIET[name](rng)) for name in rng.sample(sorted(QUIET), 2))
    values = shapes.plus(first[0], second[0])
    kind = f"X0 {one[:3]}+{other[:3]}"
    return _trace(kind, seed, shapes.seen(values, rng.uniform(2, 20) * GIB), _either(first[1], second[1]), None)


def quiet_and_leak(seed: int) -> Trace:
    """Return a class that does not leak, and a leak of 20 to 60 MiB/min that begins in its first third."""
    rng = shapes.randomly(f"X1/{seed}")
    name = rng.choice(sorted(QUIET))
    values, busy, _ = QUIET[name](rng)
    onset_s = rng.uniform(0, len(values) / 3)
    leak = shapes.line(len(values), rng.uniform(20, 60), onset_s)
    seen = shapes.seen(shapes.plus(values, leak), rng.uniform(2, 20) * GIB)
    return _trace(f"X1 {name[:3]}", seed, seen, _either(busy, BUSY), onset_s)


def limit(seed: int, per_minute: float, *, is_stepped: bool) -> Trace:
    """Return an hour of growth at a rate, to see how slow a leak may be."""
    rng = shapes.randomly(f"L/{per_minute}/{is_stepped}/{seed}")
    kind = f"L {per_minute:g} MiB/min" + (" in segments" if is_stepped else "")
    steps = shapes.steps_at(3600, [(t, 20.0) for t in shapes.poisson(rng, 3600, 1200 / per_minute)])
    values = steps if is_stepped else shapes.line(3600, per_minute)
    return _trace(kind, seed, shapes.seen(values, rng.uniform(2, 20) * GIB), BUSY, 0.0)


def _trace(kind: str, seed: int, memory: Curve, busy: Curve | float, onset_s: float | None) -> Trace:
    held = (busy,) if isinstance(busy, float) else busy
    return Trace(kind=kind, seed=seed, memory=memory, busy=held, onset_s=onset_s)


def _either(one: Curve | float, other: Curve | float) -> Curve | float:
    """Return the utilization of two at once: that of the busier."""
    if isinstance(one, float) and isinstance(other, float):
        return max(one, other)
    curves = [array("d", [each]) if isinstance(each, float) else each for each in (one, other)]
    seconds = max(map(len, curves))
    even = [each if len(each) == seconds else each + array("d", [each[-1]]) * (seconds - len(each)) for each in curves]
    return array("d", map(max, *even))
