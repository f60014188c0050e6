"""The verdict on growth: the time scales vote, and a constant rate must be likelier than a fading one."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.detectors.leak.buckets import IDLE, LIGHT
from gputop.core.detectors.leak.growth import Growth, Shape, Why, Window, growth, window_of
from gputop.core.detectors.leak.likelihood import odds
from gputop.core.detectors.leak.track import MemoryTrack, Scales
from gputop.core.detectors.leak.waves import Waves, without_waves

_NO_VOTES: Final[tuple[int, ...]] = (0, 0, 0)  # one per scale; thousands of tracks share this tuple
_EARLY: Final = (Why.YOUNG, Why.FEW)
_WAVY: Final = frozenset(Why) - {Why.SHORT, Why.LOADING, Why.SLOWING}


class Limits(Struct, frozen=True):
    """The dials that decide.

    ``spans_s``: the shortest spans for a verdict: fine scale, middle scale, whole life; ``wave_span_s``: the same after
    the removal of waves. ``votes``: passed tests that a scale needs; ``teeth_votes``: the same for a sawtooth, which
    more often resembles growth by chance. ``kept``: share of the growth that may remain after a leak; for a sawtooth
    ``teeth_left`` of that, as its floor is less certain. ``over_times``: number of spans, of at most ``longest_span_s``
    each, after which a leak is over. ``wave_growth_times``: factor of ``growth_mib`` after the removal of waves.
    ``fill_much``: of the memory of the board; so much growth while the GPU is busy is no buffer that fills, if the
    process worked with constant memory for ``fill_settled_s`` before.
    ``few_steps``: growth in fewer steps must be watched for ``few_watched_s``. ``still_mib``: a smaller change does not
    count. ``light_percent``: a GPU with less utilization only copies.
    """

    growth_mib: float = 64.0
    observed_s: float = 600.0
    odds: float = 3.0
    fill_s: float = 6 * 3600.0
    fill_watched_s: float = 1800.0
    fill_late_s: float = 900.0
    fill_young_s: float = 600.0
    fill_rate: float = 2.0  # MiB/s
    fill_much: float = 0.3
    fill_settled_s: float = 20.0
    few_steps: float = 12.0
    few_watched_s: float = 1800.0
    kept: float = 0.5
    teeth_left: float = 0.5
    over_times: float = 3.0
    longest_span_s: float = 1800.0
    spans_s: tuple[float, float, float] = (300.0, 900.0, 600.0)
    wave_span_s: float = 600.0
    wave_growth_times: float = 2.0
    votes: float = 3.0
    teeth_votes: float = 8.0
    still_mib: float = 8.0
    light_percent: float = 10.0
    shape: Shape = Shape()
    waves: Waves = Waves()


class Suspicion(Struct, frozen=True):
    """Growth that passed the tests. ``since_s``, ``seen_s``: the first and the last time, in seconds of the track."""

    growth: Growth
    since_s: float
    seen_s: float
    span_s: float


class Vote:
    """The judgement of one track.

    ``rising``: growth of unknown cause; ``is_early``: it is too early to mention it; ``why``: the reason why it is not
    a leak yet. ``leak``: the verdict.
    """

    __slots__ = ("_counts", "_is_pause", "_past_mib", "_top", "agreed", "is_early", "leak", "odds", "rising", "why")

    def __init__(self) -> None:
        self._counts = _NO_VOTES
        self._top = self._past_mib = 0.0
        self._is_pause = False
        self.is_early = True
        self.rising: Suspicion | None = None
        self.leak: Suspicion | None = None
        self.odds = 0.0
        self.agreed = 0
        self.why = Why.SHORT

    def evaluate(self, track: MemoryTrack, limits: Limits, total_mib: float) -> int:
        """Evaluate all scales of a track; return the cost in units of 50 µs.

        Without growth, every other evaluation is skipped. ``total_mib``: memory of the board.
        """
        scales = track.scales
        if scales is None or self._is_pause:
            self._is_pause = False
            return 1
        found = _of_scales(scales, limits)
        grown = [(at, one) for at, one in enumerate(found) if isinstance(one, Growth)]
        reasons = [one for one in found if isinstance(one, Why)]
        self.agreed = len(grown)
        calmed = all(one.is_calmed for _, one in grown)
        self.odds = _odds(scales, track.age_s, limits, calmed=calmed) if grown else 0.0
        passed = {at for at, one in grown if self._passes(one, at, track, limits, total_mib)}
        counts = tuple([count + 1 if at in passed else max(0, count - 1) for at, count in enumerate(self._counts)])
        self._counts = counts if any(counts) else _NO_VOTES
        for at, one in grown:
            if self.leak is None and self._counts[at] >= (limits.teeth_votes if one.cycles else limits.votes):
                span_s = min(limits.longest_span_s, one.ended_s - one.began_s)
                self.leak = Suspicion(one, track.observed_s, track.observed_s, span_s)
                self._top = one.grown
        if not grown:
            self.why = reasons[-1]
            self._is_pause = self.leak is None
        self._clear(track, scales, limits)
        return 16 if grown else 1 if _CHEAP.issuperset(reasons) else 4

    def _passes(self, one: Growth, at: int, track: MemoryTrack, limits: Limits, total_mib: float) -> bool:
        now = track.observed_s
        if self.rising or one.low_mib + one.grown > self._past_mib:  # freed memory may be allocated again
            self.rising = _seen(self.rising, one, now, limits.spans_s[at])
        if self.leak:
            self.leak = _seen(self.leak, one, now, self.leak.span_s)
        why = self._doubt(one, track, limits, total_mib)
        self.why = why or self.why
        self.is_early = self.is_early and why in _EARLY
        return why is None

    def _doubt(self, one: Growth, track: MemoryTrack, limits: Limits, total_mib: float) -> Why | None:
        if track.observed_s < limits.observed_s:
            return Why.YOUNG
        if not one.cycles and one.steps < limits.few_steps and one.ended_s - one.began_s < limits.few_watched_s:
            return Why.FEW
        if self.odds < limits.odds:
            return Why.SATURATING
        began_s = self.rising.since_s - limits.spans_s[0] if self.rising else one.began_s
        is_young = track.age_s + began_s < limits.fill_young_s
        is_fast = one.even > max(total_mib / max(limits.fill_s, 1.0), limits.fill_rate)
        is_work = is_fast and one.busy > limits.shape.loading
        if is_work and _since_settled(one, track, limits) >= limits.fill_much * total_mib:
            return None
        if is_fast and one.ended_s - one.began_s < (limits.fill_watched_s if is_young else limits.fill_late_s):
            return Why.FILLING
        return None

    def _clear(self, track: MemoryTrack, scales: Scales, limits: Limits) -> None:
        """Drop growth that was freed or has not continued."""
        self.is_early = self.is_early or self.rising is None
        now, low = track.observed_s, scales.fine.last_low
        rising, leak = self.rising, self.leak
        if rising and _fell_back(rising.growth, low, rising.growth.grown, limits):
            self._past_mib = max(scales.fine.highs)
            self.rising = None
        elif rising and now - rising.seen_s > rising.span_s:
            self.rising = None
        if leak is None:
            return
        self._top = max(self._top, leak.growth.grown)
        if _fell_back(leak.growth, low, self._top, limits) or now - leak.seen_s > limits.over_times * leak.span_s:
            self._past_mib = max(scales.fine.highs)
            self.leak = self.rising = None
            self._counts = _NO_VOTES


_CHEAP: Final = frozenset({Why.SHORT, Why.NOT_RETAINED})


def _fell_back(one: Growth, low_mib: float, grown: float, limits: Limits) -> bool:
    kept = limits.kept * (limits.teeth_left if one.cycles else 1.0)
    return low_mib - one.low_mib <= kept * grown


def _since_settled(one: Growth, track: MemoryTrack, limits: Limits) -> float:
    """Return the growth since it first worked with constant memory, in MiB: all before is its start."""
    if track.scales is None:
        return 0.0
    life, width_s = window_of(track.scales.life), track.scales.life_s
    since_s, level_mib = life.starts[0], life.lows[0]
    for start_s, low, high, done in zip(life.starts, life.lows, life.highs, life.work, strict=True):
        if done in (IDLE, LIGHT) or max(high - level_mib, level_mib - low) >= limits.still_mib:
            since_s, level_mib = start_s + width_s, high
        elif start_s + width_s - since_s >= limits.fill_settled_s:
            return min(one.grown, one.low_mib + one.grown - level_mib)
    return 0.0


def _seen(before: Suspicion | None, one: Growth, now: float, span_s: float) -> Suspicion:
    """Return the updated suspicion; it keeps its lowest starting level."""
    if before is None:
        return Suspicion(one, now, now, span_s)
    low_mib = min(one.low_mib, before.growth.low_mib)
    return Suspicion(replace(one, low_mib=low_mib), before.since_s, now, max(span_s, before.span_s))


def _odds(scales: Scales, age_s: float, limits: Limits, *, calmed: bool) -> float:
    life = window_of(scales.life)
    calm = without_waves(life, limits.waves, limits.shape) if calmed else None
    return odds(calm[0] if calm else life, age_s, limits.shape)


def _of_scales(scales: Scales, limits: Limits) -> list[Growth | Why]:
    spans_s = limits.spans_s
    fine = growth(window_of(scales.fine), spans_s[0], limits.growth_mib, limits.shape)
    if scales.is_young:
        return [fine, Why.SHORT, Why.SHORT]
    mid = _with_waves(window_of(scales.mid), spans_s[1], limits)
    life = _with_waves(window_of(scales.life, without_last=True), spans_s[2], limits)
    return [fine, mid, life]


def _with_waves(window: Window, span_s: float, limits: Limits) -> Growth | Why:
    """Return the growth, after the removal of waves if there are any."""
    found = growth(window, span_s, limits.growth_mib, limits.shape)
    if isinstance(found, Growth) or found not in _WAVY:
        return found
    calm = without_waves(window, limits.waves, limits.shape)
    if calm is None:
        return found
    again = growth(calm[0], limits.wave_span_s, limits.wave_growth_times * limits.growth_mib, limits.shape)
    if isinstance(again, Why):
        return again
    return replace(again, cycles=calm[1], low_mib=min(window.lows), is_calmed=True)
