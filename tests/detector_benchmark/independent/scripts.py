"""Scripts: what a process does at each second of a trace, put together from parts."""

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from random import Random
from typing import TypeAlias

from detector_benchmark.independent.activity import HOST, IDLE, Activity

Script: TypeAlias = Callable[[float], Activity]
Part: TypeAlias = Activity | Script
Curve: TypeAlias = Callable[[float], float]


def script(part: Part) -> Script:
    """Return the script of an activity that never changes, or the script itself."""
    if isinstance(part, Activity):
        return lambda t_s: part
    return part


def phases(first: Part, *later: tuple[float, Part]) -> Script:
    """Begin with one part, and go over to each of the others at its time."""
    starts = [at_s for at_s, _ in later]
    parts = [script(first), *(script(part) for _, part in later)]
    return lambda t_s: parts[bisect_right(starts, t_s)](t_s)


def cycle(*turns: tuple[float, Part], shift_s: float = 0.0) -> Script:
    """Repeat parts of some seconds each, for ever."""
    ends = list(accumulate(length_s for length_s, _ in turns))
    parts = [script(part) for _, part in turns]
    return lambda t_s: parts[bisect_right(ends, (t_s + shift_s) % ends[-1])](t_s)


def sometimes(rest: Part, *, each_s: float, part: Part, for_s: float, seed: int, length_s: float = 20000.0) -> Script:
    """Do ``part`` at random times, about every ``each_s``, for about ``for_s``; else ``rest``."""
    random, at_s, times = Random(seed), 0.0, []
    while at_s < length_s:
        at_s += random.expovariate(1 / each_s)
        times.append(at_s)
        at_s += max(1.0, random.gauss(for_s, for_s / 3))
        times.append(at_s)
    rest_of, part_of = script(rest), script(part)
    return lambda t_s: (part_of if bisect_right(times, t_s) % 2 else rest_of)(t_s)


def started(work: Part, load_s: float = 30.0, *, imports_s: float = 12.0, loading: Part = HOST) -> Script:
    """Import modules, load for some seconds, then work."""
    return phases(IDLE.but(cpu=96, state="R"), (imports_s, loading), (imports_s + load_s, work))


# --- memory, in MiB ------------------------------------------------------------------------------------------------
def level(mib: float) -> Curve:
    """Stay at a level."""
    return lambda t_s: mib


def warmed(context_mib: float, mib: float, *, at_s: float = 12.0, over_s: float = 40.0) -> Curve:
    """Grow from a context to the working level, quickly at first; then stay."""

    def curve(t_s: float) -> float:
        if t_s < at_s:
            return context_mib
        done = min(1.0, (t_s - at_s) / over_s)
        return round((context_mib + (mib - context_mib) * (1 - (1 - done) ** 2)) / 2) * 2.0

    return curve


def steps(*levels: tuple[float, float]) -> Curve:
    """Jump to each level at its time: pairs of seconds and MiB."""
    starts = [at_s for at_s, _ in levels]
    return lambda t_s: levels[max(0, bisect_right(starts, t_s) - 1)][1]


def growing(base: Curve, *, mib_per_min: float, from_s: float, chunk_mib: float = 2.0, until_s: float = 1e9) -> Curve:
    """Add memory that is never given back, in whole chunks."""

    def curve(t_s: float) -> float:
        grown = max(0.0, min(t_s, until_s) - from_s) / 60 * mib_per_min
        return base(t_s) + grown // chunk_mib * chunk_mib

    return curve


def sawtooth(low: Curve, *, mib: float, period_s: float, fill: float = 0.9) -> Curve:
    """Rise by ``mib`` in each period and give it back."""
    return lambda t_s: low(t_s) + mib * min(1.0, (t_s % period_s) / (period_s * fill)) // 2 * 2


def records(base: Curve, *, mib: float, each_s: float, seed: int, length_s: float = 20000.0) -> Curve:
    """Keep the largest of random needs: a caching allocator with inputs of varying length."""
    random, most, times, tops = Random(seed), 0.0, [0.0], [0.0]
    at_s = 0.0
    while at_s < length_s:
        at_s += each_s
        need = abs(random.gauss(0, 1)) ** 1.5 * mib
        if need > most:
            most = need
            times.append(at_s)
            tops.append(most // 2 * 2)
    return lambda t_s: base(t_s) + tops[bisect_right(times, t_s) - 1]


def added(*curves: Curve) -> Curve:
    """Add curves."""
    return lambda t_s: sum(curve(t_s) for curve in curves)
