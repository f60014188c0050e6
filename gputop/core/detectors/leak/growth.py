"""Tests of retained growth in one window of time; a leak passes all of them.

A caching allocator makes memory a running maximum, so a slope is no evidence: warm-ups saturate, epochs are sawtooths,
loading is steep. What counts is the retained floor (memory that was never freed): it must grow in the whole window and
must not slow down.
"""

from collections.abc import Container, Iterable, Sequence
from enum import Enum
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.detectors.leak.buckets import BUSY, IDLE, LIGHT, Buckets
from gputop.core.detectors.leak.trend import slopes, trend

_LEAST: Final = 12  # buckets: fewer are not a series


class Why(str, Enum):
    """The reason why a window is not a leak."""

    SHORT = "too short"
    CAME_BACK = "memory fell back, and fewer than three cycles are known"
    TROUGHS = "the troughs do not rise"
    NOISY = "noisy: needs 15 minutes"
    NOT_RETAINED = "no retained growth"
    FEW_STEPS = "too few steps"
    NOT_SPREAD = "not spread over the time"
    ONE_BURST = "one burst"
    SLOWING = "slowing down"
    STOPPED = "stopped"
    NO_TREND = "no trend of the lows"
    LOADING = "grows while the GPU is idle or copies: loading"
    YOUNG = "not watched for long enough"
    SATURATING = "may be growth that saturates"
    FEW = "too few steps so far to see whether they end"
    FILLING = "steady and fast since the start: may be a buffer that fills"


class Shape(Struct, frozen=True):
    """The conditions for growth. ``trend_z``: Mann-Kendall's Z of the lows; ``steps``: a count; most others: shares.

    ``noise``: of all rises that is freed again, above which a window shorter than ``noisy_span_s`` is not judged.
    ``segments``: of the parts of the time that must grow, each by ``segment`` of its even part; ``burst``: of the
    growth that one part may have. ``slower``: second half to first; ``alike_slower`` applies if the variance of the
    steps is below ``alike`` of the square of their mean. ``often``: of intervals with growth, from which each counts.
    ``stopped_times``: number of usual gaps without growth after which it has stopped. ``loading``: of the growth during
    idle time, and of growth of at least ``copies_mib`` MiB/s during light use, in a window shorter than ``copies_s``.
    ``large_step_times``: number of usual steps for which a single step counts at most.

    A tooth is a fall by ``tooth_mib`` and by ``tooth`` of the rise before it. ``teeth``: least number of them;
    ``falling``: of their troughs that may fall. ``overdue_times``: number of longest teeth after which no other is
    expected. ``after_cut``: of the least span that must remain without the unfinished tooth.
    """

    noise: float = 0.35
    noisy_span_s: float = 900.0
    steps: float = 6.0
    segments: float = 0.8
    segment: float = 0.12
    burst: float = 0.5
    slower: float = 0.6
    alike_slower: float = 0.75
    alike: float = 0.25
    often: float = 0.4
    stopped_times: float = 3.0
    trend_z: float = 3.0
    loading: float = 0.8
    copies_mib: float = 2.0
    copies_s: float = 1800.0
    large_step_times: float = 3.0
    tooth_mib: float = 64.0
    tooth: float = 0.30
    teeth: float = 3.0
    falling: float = 0.25
    overdue_times: float = 3.0
    after_cut: float = 0.6


class Growth(Struct, frozen=True, kw_only=True, gc=False):
    """Retained growth. Rates: MiB/s, ``rate`` with the range ``slow`` to ``fast``; times: seconds of the track.

    ``even``: the mean rate without large single steps. ``segments``: number of the ``of`` equal parts of the time in
    which it grew. ``cycles``: how often memory fell back. ``low_mib``: the level at the start. ``is_calmed``: found
    only after the removal of waves. ``steps``: in how many steps it grew; ``busy``: the share of
    it while the GPU was busy.
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
    steps: int = 0
    busy: float = 0.0
    is_calmed: bool = False


USUAL: Final = Shape()


class Window:
    """A series of buckets as lists, which can be cut and merged."""

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
    """Return the growth in this window, or the first test that fails. The order of the tests matters."""
    if len(window.lows) < _LEAST or window.span_s < least_span_s:
        return Why.SHORT
    if max(window.lows) - min(window.lows) < least_mib:
        return Why.NOT_RETAINED  # the cheap half of the test below: most windows end here
    window, cycles, why = _without_tooth(window, fall_backs(window, shape), shape)
    if why or len(window.lows) < _LEAST or window.span_s < (shape.after_cut if cycles else 1.0) * least_span_s:
        return why or Why.SHORT
    starts, lows, work = _quiet(window, shape)
    if _back(lows, shape.large_step_times) > shape.noise and starts[-1] - starts[0] < shape.noisy_span_s:
        return Why.NOISY
    found = _kept(starts, lows, work, least_mib, shape)
    return replace(found, cycles=cycles) if isinstance(found, Growth) else found


def fall_backs(window: Window, shape: Shape = USUAL, least_mib: float = 0.0) -> list[int]:
    """Return the troughs after a substantial fall: relative to the rise since the previous trough.

    The level does not matter, so much memory does not hide a leak on top of it. A descent over several buckets counts
    once.
    """
    found: list[int] = []
    if not window.lows:
        return found
    least_mib, least_share = max(shape.tooth_mib, least_mib), shape.tooth
    jump = shape.large_step_times * max(least_mib, _usual(steps_of(window.highs)))
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
    """Return the part after the last fall, if that is so long ago that no other fall is expected."""
    if not backs:
        return window
    longest = max(after - before for before, after in pairwise((0, *backs)))
    return window.part(backs[-1], len(window.lows)) if len(window.lows) - backs[-1] > overdue * longest else None


def floor_of(lows: Sequence[float]) -> list[float]:
    """Return the retained floor: at each time the lowest value from then on."""
    floor = list(accumulate(reversed(lows), min))
    floor.reverse()
    return floor


def capped(increments: Sequence[float], large: float = USUAL.large_step_times) -> list[float]:
    """Return the increments with large single steps cut to ``large`` times the usual one."""
    most = large * _usual(increments)
    return [min(step, most) for step in increments]


def steps_of(floor: Sequence[float]) -> list[float]:
    """Return the increments."""
    return [after - before for before, after in pairwise(floor)]


def upper_median(values: Iterable[float]) -> float:
    """Return the median, the upper one of two."""
    ranked = sorted(values)
    return ranked[len(ranked) // 2]


def _usual(increments: Sequence[float]) -> float:
    steps = [step for step in increments if step > 0]
    return upper_median(steps) if steps else 0.0


def rise_of_troughs(window: Window, backs: Sequence[int], shape: Shape) -> float:
    """Return the rise of the troughs from the first to the last; 0 if it is not significant."""
    troughs = [window.lows[at] for at in backs]
    moves = capped(steps_of(troughs), shape.large_step_times)
    sure = _between_samples(window, backs)
    rises, falls = [move for move in moves if move > 0], [-move for move in moves if move < -sure]
    if len(falls) > shape.falling * (len(rises) + len(falls)) or sum(falls) > shape.falling * sum(rises):
        return 0.0
    rise = troughs[-1] - troughs[0]
    return rise if rise >= 2 * sure else 0.0


def _without_tooth(window: Window, backs: Sequence[int], shape: Shape) -> tuple[Window, int, Why | None]:
    """Return the window without the unfinished tooth, the number of teeth, and why it is not a leak."""
    tail = quiet_tail(window, backs, shape.overdue_times)
    if tail:
        return tail, 0, None
    if len(backs) < shape.teeth:
        return window, len(backs), Why.CAME_BACK
    why = None if rise_of_troughs(window, backs, shape) > 0 else Why.TROUGHS
    return window.part(0, backs[-1] + 1), len(backs), why


def _between_samples(window: Window, backs: Sequence[int]) -> float:
    """Return the error of a trough: the growth of a tooth per second, as samples do not hit the trough."""
    lasts = (window.starts[backs[-1]] - window.starts[backs[0]]) / (len(backs) - 1)
    highs = [max(window.highs[one : other + 1]) for one, other in pairwise(backs)]
    high = upper_median(highs) - min(window.lows)
    return high / max(lasts, 1.0)


def _back(lows: Sequence[float], large: float) -> float:
    """Return the share of all rises that was freed again."""
    moves = capped(steps_of(lows), large)
    up = sum(move for move in moves if move > 0)
    return (up - sum(moves)) / up if up else 0.0


def _quiet(window: Window, shape: Shape) -> tuple[Sequence[float], Sequence[float], Sequence[int]]:
    """Merge neighbours while the lows are noisy."""
    starts, lows, work = window.starts, window.lows, window.work
    while len(lows) >= 2 * _LEAST and _back(lows, shape.large_step_times) > shape.noise:
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
    count = _episodes(steps, shape.often)
    if count < shape.steps:
        return Why.FEW_STEPS
    even = capped(steps, shape.large_step_times)
    total = sum(even)
    if total < least_mib:
        return Why.ONE_BURST
    grew, of, why = _spread(even, total, shape)
    span_s = starts[-1] - starts[0]
    even_rate = total / span_s
    why = why or _current(even, shape) or _loading(even, total, work, span_s, shape)
    if why:
        return why
    if trend(lows) < shape.trend_z:
        return Why.NO_TREND
    slow, rate, fast = slopes(starts, floor)
    return Growth(
        rate=rate,
        slow=slow,
        fast=fast,
        even=even_rate,
        grown=grown,
        low_mib=floor[0],
        began_s=starts[0],
        ended_s=starts[-1],
        segments=grew,
        of=of,
        cycles=0,
        is_work_known=any(done <= IDLE for done in work),
        steps=count,
        busy=_share(even, total, work, {BUSY}),
    )


def _loading(even: Sequence[float], total: float, work: Sequence[int], span_s: float, shape: Shape) -> Why | None:
    loads = {IDLE, LIGHT} if total / span_s >= shape.copies_mib and span_s < shape.copies_s else {IDLE}
    return Why.LOADING if _share(even, total, work, loads) > shape.loading else None


def _episodes(steps: Sequence[float], most: float) -> int:
    """Return the number of steps: a ramp counts once, unless memory grows most of the time."""
    grew = [step > 0 for step in steps]
    often = sum(grew)
    if often >= most * len(grew):
        return often
    return sum(now and not before for before, now in pairwise((False, *grew)))


def _spread(even: Sequence[float], total: float, shape: Shape) -> tuple[int, int, Why | None]:
    """Return the number of parts with growth, the number of all parts, and the failed test."""
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
    """Return the failed test if growth slows down or has stopped."""
    half = len(even) // 2
    before = sum(even[:half])
    least = max(shape.slower, shape.alike_slower) if _are_alike(even, shape.alike) else shape.slower
    if before > 0 and sum(even[half:]) < least * before:
        return Why.SLOWING
    events = [at for at, step in enumerate(even) if step > 0]
    gaps = [after - at for at, after in pairwise(events)] or [len(even)]
    if len(even) - 1 - events[-1] > shape.stopped_times * upper_median(gaps) + 2 + max(gaps):
        return Why.STOPPED
    return None


def _are_alike(even: Sequence[float], alike: float) -> bool:
    """Return whether the steps are similar: then a slowdown shows early."""
    mean = sum(even) / len(even)
    return sum(step * step for step in even) / len(even) < (1 + alike) * mean * mean


def _share(even: Sequence[float], total: float, work: Sequence[int], those: Container[int]) -> float:
    """Return the share of the growth during such activity, as far as known."""
    return sum(step for step, done in zip(even, work[1:], strict=False) if done in those) / total
