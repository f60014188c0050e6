"""Does memory grow and keep what it grew? Tests of one window of time; a leak has to pass every one of them.

A caching allocator makes memory a running maximum, so that a slope says nothing: warm-ups saturate, epochs saw, loading
is steep. What counts is the retained floor (what never came back), spread over the whole window, without slowing down.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.detectors.leak.buckets import IDLE, Buckets
from gputop.core.detectors.leak.trend import slopes, trend

_LEAST: Final = 12  # buckets: fewer are no series


class Why(str, Enum):
    """Why a window does not look like a leak."""

    SHORT = "too short"
    CAME_BACK = "memory came back, and three cycles were not seen yet"
    TROUGHS = "the troughs do not rise"
    NOISY = "noisy: needs 15 minutes"
    NOT_RETAINED = "nothing that was kept"
    FEW_STEPS = "too few steps"
    NOT_SPREAD = "not spread over the time"
    ONE_BURST = "one burst"
    SLOWING = "slowing down"
    STOPPED = "stopped"
    NO_TREND = "no trend of the lows"
    LOADING = "grows while the GPU is idle: loading"
    YOUNG = "not watched for long enough"
    SATURATING = "cannot be told from growth that saturates"
    FILLING = "steady and fast since the start: a fill may still end"


class Shape(Struct, frozen=True):
    """What growth has to be like. ``trend_z``: Mann-Kendall's Z of the lows; ``steps``: how many; the others: shares.

    ``noise``: of all rises that are given back, above which a window shorter than ``noisy_s`` says nothing.
    ``segments``: in which it has to grow, each by ``segment`` of its even part; ``burst``: the most that one of them
    may have. ``slower``: second half to first, ``slower_alike`` where the variance of the steps is below ``alike`` of
    the square of their mean. ``often``: of intervals that grow, from which each counts. ``stopped``: gaps without
    growth after which it has stopped. ``loading``: of the growth that came while nothing was computed. ``large``:
    usual steps that a single one counts for at most.

    A tooth is a fall by ``tooth_mib`` and by ``tooth`` of the rise before it. ``teeth``: how many must be seen;
    ``falling``: of their troughs that may fall. ``overdue``: longest teeth after which no other is expected.
    ``after_cut``: of the least span that must be left without the unfinished one.
    """

    noise: float = 0.35
    noisy_s: float = 900.0
    steps: float = 6.0
    segments: float = 0.8
    segment: float = 0.12
    burst: float = 0.5
    slower: float = 0.6
    slower_alike: float = 0.75
    alike: float = 0.25
    often: float = 0.4
    stopped: float = 3.0
    trend_z: float = 3.0
    loading: float = 0.8
    large: float = 3.0
    tooth_mib: float = 64.0
    tooth: float = 0.30
    teeth: float = 3.0
    falling: float = 0.25
    overdue: float = 3.0
    after_cut: float = 0.6


class Growth(Struct, frozen=True, kw_only=True, gc=False):
    """Growth that was kept. Rates: MiB/s, ``rate`` with the range ``slow`` to ``fast``; times: seconds of the track.

    ``even``: the mean rate without large single steps. ``segments``: of ``of`` equal parts of the time those in which
    it grew. ``cycles``: how often memory came back meanwhile. ``low_mib``: the level that it grew from. ``is_calmed``:
    seen only after a wave was taken out.
    """

    rate: float
    slow: float
    fast: float
    even: float
    grown: float
    low_mib: float
    began_s: float
    ended_s: float
    segments: int
    of: int
    cycles: int
    is_work_known: bool
    is_calmed: bool = False


USUAL: Final = Shape()


class Window:
    """A series of buckets as lists, to be cut and merged."""

    __slots__ = ("falls", "highs", "lows", "starts", "work")

    def __init__(
        self,
        starts: Sequence[float],
        lows: Sequence[float],
        highs: Sequence[float],
        falls: Sequence[float],
        work: Sequence[int],
    ) -> None:
        self.starts, self.lows, self.highs, self.falls, self.work = starts, lows, highs, falls, work

    @property
    def span_s(self) -> float:
        """Return the time from the first start to the last."""
        return self.starts[-1] - self.starts[0]

    def part(self, begin: int, end: int) -> "Window":
        """Return the buckets from ``begin`` up to ``end``."""
        cut = slice(begin, end)
        return Window(self.starts[cut], self.lows[cut], self.highs[cut], self.falls[cut], self.work[cut])


def window_of(buckets: Buckets, *, without_last: bool = False) -> Window:
    """Return the buckets as a window."""
    window = Window(buckets.starts, buckets.lows, buckets.highs, buckets.falls, buckets.work)
    return window.part(0, len(buckets) - 1) if without_last else window


def growth(window: Window, least_span_s: float, least_mib: float, shape: Shape = USUAL) -> Growth | Why:
    """Return how memory grew in this window, or the first test that it fails. Order and numbers matter."""
    if len(window.lows) < _LEAST or window.span_s < least_span_s:
        return Why.SHORT
    if max(window.lows) - min(window.lows) < least_mib:
        return Why.NOT_RETAINED  # the cheap half of the test below: most end here
    window, cycles, why = _without_tooth(window, come_backs(window, shape), shape)
    if why or len(window.lows) < _LEAST or window.span_s < (shape.after_cut if cycles else 1.0) * least_span_s:
        return why or Why.SHORT
    starts, lows, work = _quiet(window, shape)
    if _back(lows, shape.large) > shape.noise and starts[-1] - starts[0] < shape.noisy_s:
        return Why.NOISY
    found = _kept(starts, lows, work, least_mib, shape)
    return replace(found, cycles=cycles) if isinstance(found, Growth) else found


def come_backs(window: Window, shape: Shape = USUAL, least_mib: float = 0.0) -> list[int]:
    """Return the troughs where memory came back substantially: relative to the rise since the trough before.

    The level does not matter, so that a leak on top of much memory is not hidden by it. A descent of several buckets
    is one come-back.
    """
    found: list[int] = []
    if not window.lows:
        return found
    least_mib, least_share = max(shape.tooth_mib, least_mib), shape.tooth
    jump = shape.large * max(least_mib, _usual(steps_of(window.highs)))
    most, base = window.highs[0], window.lows[0]
    rise = min(jump, most - base)
    is_falling = False
    for at, (low, high, fall) in enumerate(zip(window.lows, window.highs, window.falls, strict=True)):
        if is_falling and low < base:
            found[-1] = at
            most = base = low
            rise = 0.0
            continue
        top = max(most, high)
        rise += min(jump, top - most)
        least = max(least_mib, least_share * rise)
        if (at and low <= most - least) or fall >= least:
            found.append(at)
            most = base = low
            rise = 0.0
            is_falling = True
        else:
            is_falling = is_falling and high - base < least_mib
            most = top
            if low < base:
                rise += base - low
                base = low
    return found


def quiet_tail(window: Window, backs: Sequence[int], overdue: float) -> Window | None:
    """Return what is after the last come-back, if that is so long ago that no other is to be expected."""
    if not backs:
        return window
    longest = max(after - before for before, after in pairwise((0, *backs)))
    return window.part(backs[-1], len(window.lows)) if len(window.lows) - backs[-1] > overdue * longest else None


def floor_of(lows: Sequence[float]) -> list[float]:
    """Return what was never given back: at each time the lowest from then on."""
    floor = list(accumulate(reversed(lows), min))
    floor.reverse()
    return floor


def capped(increments: Sequence[float], large: float = USUAL.large) -> list[float]:
    """Return the increments with large single steps cut to ``large`` times the usual one."""
    most = large * _usual(increments)
    return [min(step, most) for step in increments]


def steps_of(floor: Sequence[float]) -> list[float]:
    """Return the increments."""
    return [after - before for before, after in pairwise(floor)]


def upper_median(values: Iterable[float]) -> float:
    """Return the median, the upper of two."""
    ranked = sorted(values)
    return ranked[len(ranked) // 2]


def _usual(increments: Sequence[float]) -> float:
    steps = [step for step in increments if step > 0]
    return upper_median(steps) if steps else 0.0


def rise_of_troughs(window: Window, backs: Sequence[int], shape: Shape) -> float:
    """Return by how much the troughs rose from the first to the last, 0 if that means nothing."""
    troughs = [window.lows[at] for at in backs]
    moves = capped(steps_of(troughs), shape.large)
    sure = _between_samples(window, backs)
    rises, falls = [move for move in moves if move > 0], [-move for move in moves if move < -sure]
    if len(falls) > shape.falling * (len(rises) + len(falls)) or sum(falls) > shape.falling * sum(rises):
        return 0.0
    rise = troughs[-1] - troughs[0]
    return rise if rise >= 2 * sure else 0.0


def _without_tooth(window: Window, backs: Sequence[int], shape: Shape) -> tuple[Window, int, Why | None]:
    """Return the window without the unfinished tooth at its end, and how many there were; or why it is no leak."""
    tail = quiet_tail(window, backs, shape.overdue)
    if tail:
        return tail, 0, None
    if len(backs) < shape.teeth:
        return window, len(backs), Why.CAME_BACK
    why = None if rise_of_troughs(window, backs, shape) > 0 else Why.TROUGHS
    return window.part(0, backs[-1] + 1), len(backs), why


def _between_samples(window: Window, backs: Sequence[int]) -> float:
    """Return by how much a trough may be missed: what a tooth grows in a second. Teeth and samples drift apart."""
    lasts = (window.starts[backs[-1]] - window.starts[backs[0]]) / (len(backs) - 1)
    highs = [max(window.highs[one : other + 1]) for one, other in pairwise(backs)]
    high = upper_median(highs) - min(window.lows)
    return high / max(lasts, 1.0)


def _back(lows: Sequence[float], large: float) -> float:
    """Return the share of all rises that was given back."""
    moves = capped(steps_of(lows), large)
    up = sum(move for move in moves if move > 0)
    return (up - sum(moves)) / up if up else 0.0


def _quiet(window: Window, shape: Shape) -> tuple[Sequence[float], Sequence[float], Sequence[int]]:
    """Merge neighbours while the lows are noisy."""
    starts, lows, work = window.starts, window.lows, window.work
    while len(lows) >= 2 * _LEAST and _back(lows, shape.large) > shape.noise:
        end = len(lows)
        lows = [min(lows[at : at + 2]) for at in range(0, end, 2)]
        work = [min(work[at : at + 2]) for at in range(0, end, 2)]
        starts = starts[::2]
    return starts, lows, work


def _kept(
    starts: Sequence[float], lows: Sequence[float], work: Sequence[int], least_mib: float, shape: Shape
) -> Growth | Why:
    floor = floor_of(lows)
    grown = floor[-1] - floor[0]
    if grown < least_mib:
        return Why.NOT_RETAINED
    steps = steps_of(floor)
    if _episodes(steps, shape.often) < shape.steps:
        return Why.FEW_STEPS
    even = capped(steps, shape.large)
    total = sum(even)
    if total < least_mib:
        return Why.ONE_BURST
    grew, of, why = _spread(even, total, shape)
    if why or (why := _current(even, shape) or _loading(even, total, work, shape)):
        return why
    if trend(lows) < shape.trend_z:
        return Why.NO_TREND
    slow, rate, fast = slopes(starts, floor)
    return Growth(
        rate=rate,
        slow=slow,
        fast=fast,
        even=total / (starts[-1] - starts[0]),
        grown=grown,
        low_mib=floor[0],
        began_s=starts[0],
        ended_s=starts[-1],
        segments=grew,
        of=of,
        cycles=0,
        is_work_known=any(done <= IDLE for done in work),
    )


def _episodes(steps: Sequence[float], most: float) -> int:
    """Return how often it grew: a ramp counts once, unless it grows most of the time."""
    grew = [step > 0 for step in steps]
    often = sum(grew)
    if often >= most * len(grew):
        return often
    return sum(now and not before for before, now in pairwise((False, *grew)))


def _spread(even: Sequence[float], total: float, shape: Shape) -> tuple[int, int, Why | None]:
    """Return in how many of how many parts of the time it grew, and what is wrong with that."""
    count = len(even)
    of = 6 if count < 29 else 8
    parts = [0.0] * of
    for at, step in enumerate(even):
        parts[at * of // count] += step
    grew = sum(part > shape.segment * total / of for part in parts)
    if grew < shape.segments * of:
        return grew, of, Why.NOT_SPREAD
    return grew, of, Why.ONE_BURST if max(parts) > shape.burst * total else None


def _current(even: Sequence[float], shape: Shape) -> Why | None:
    """Say whether it slows down, or has stopped."""
    half = len(even) // 2
    before = sum(even[:half])
    least = max(shape.slower, shape.slower_alike) if _are_alike(even, shape.alike) else shape.slower
    if before > 0 and sum(even[half:]) < least * before:
        return Why.SLOWING
    events = [at for at, step in enumerate(even) if step > 0]
    gaps = [after - at for at, after in pairwise(events)] or [len(even)]
    if len(even) - 1 - events[-1] > shape.stopped * upper_median(gaps) + 2 + max(gaps):
        return Why.STOPPED
    return None


def _are_alike(even: Sequence[float], alike: float) -> bool:
    """Say whether the steps vary little: then slowing down shows early."""
    mean = sum(even) / len(even)
    return sum(step * step for step in even) / len(even) < (1 + alike) * mean * mean


def _loading(even: Sequence[float], total: float, work: Sequence[int], shape: Shape) -> Why | None:
    """Say whether it grew while nothing was computed, as far as that is known."""
    idle = sum(step for step, done in zip(even, work[1:], strict=False) if done == IDLE)
    return Why.LOADING if idle > shape.loading * total else None
