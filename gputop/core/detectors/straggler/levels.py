"""The levels of ranks against those of the other ranks: power, memory controller and SM activity.

Ranks that wait for a slower one poll at full utilization and full clock; their power and traffic fall all the same.
Where they wait for seconds, the slower one works alone. Where a step is shorter than a sample, all of them fall, and
only one falls a little more or less.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct, field

from gputop.core.detectors.activity.process import Track

_LEAST = (0.05, 5.0, 5.0)  # levels below are noise
_SAME_POINTS = 2.0  # of utilization: a smaller difference is noise


class Levels(Struct):
    """The smoothed levels of a rank, and how far each usually is from those of the others, as a share of theirs.

    ``odd_s``: for how long one of them has been far from the others. ``apart``: how far the one farthest away is.
    ``alone``: the share of the time in which it works while all others wait. ``gu``: its utilization.
    """

    now: list[float | None] = field(default_factory=lambda: [None, None, None])
    usual: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    apart: float = 0.0
    alone: float = 0.0
    odd_s: float = 0.0
    gu: float = 0.0

    def smooth(self, track: Track, part: float) -> None:
        """Take the present readings of the GPU of the rank."""
        board = track.board
        self.gu += ((track.gu or 0.0) - self.gu) * part
        given = (board.effort, board.memory, board.sm)
        for at, value in enumerate(given):
            before = self.now[at]
            if value is not None:
                self.now[at] = value if before is None else before + (value - before) * part


class Pace(Struct):
    """The pace of a job by the usual power of its ranks. ``usual``: that of its work so far, which a fall keeps."""

    usual: float = 0.0
    has_fallen: bool = False

    def take(self, all_levels: Sequence[Levels], dials: Mapping[str, float], step_s: float) -> None:
        """Take the present levels."""
        known = [level for one in all_levels if (level := one.now[0]) is not None]
        if not known:
            return
        now = median(known)
        self.has_fallen = now < (1 - dials["fallen_percent"] / 100) * self.usual
        if not self.has_fallen:
            self.usual += (now - self.usual) * (step_s / (step_s + dials["known_s"]) if self.usual else 1.0)


def note_alone(tracks: Sequence[Track], all_levels: Sequence[Levels], part: float) -> None:
    """Note which rank works while all others wait."""
    working: list[int] = []
    for at, track in enumerate(tracks):
        if not track.waits_now:
            working.append(at)
            if len(working) > 1:
                break  # as most of the time
    alone = working[0] if len(working) == 1 and tracks[working[0]].works_now else None
    for at, one in enumerate(all_levels):
        if one.alone or at == alone:
            one.alone += ((at == alone) - one.alone) * part


def compare(
    all_levels: Sequence[Levels], dials: Mapping[str, float], *, step_s: float, compared_s: float, has_fallen: bool
) -> None:
    """Count for how long each rank has been far from the others. Only one may be: else the ranks differ by design.

    ``has_fallen``: the whole job takes less power than before: then a small difference, which is new, tells enough.
    """
    least_gu = min(one.gu for one in all_levels)
    odd = [
        _is_alone(one, others, dials)
        or _is_odd(one, others, dials, compared_s, has_fallen=has_fallen, least_gu=least_gu)
        for one in all_levels
        for others in ([each for each in all_levels if each is not one],)
    ]
    for one, is_odd in zip(all_levels, odd, strict=True):
        is_so = is_odd and sum(odd) == 1
        one.odd_s = one.odd_s + step_s if is_so else max(0.0, one.odd_s - dials["falls_times"] * step_s)
    if compared_s <= dials["learn_s"] and not has_fallen:
        for one in all_levels:
            _learn(one, [each for each in all_levels if each is not one], learned(step_s, compared_s, dials))


def learned(step_s: float, compared_s: float, dials: Mapping[str, float]) -> float:
    """Return the weight of a sample in the usual gaps: their mean at first, then that of the last minutes."""
    return step_s / min(compared_s, step_s + dials["known_s"])


def _is_alone(one: Levels, others: Sequence[Levels], dials: Mapping[str, float]) -> bool:
    """Return whether it often works alone, and no other rank does so: ranks in a pipeline do so in turn."""
    return one.alone >= dials["alone_percent"] / 100 and all(4 * each.alone <= one.alone for each in others)


def _is_odd(
    one: Levels,
    others: Sequence[Levels],
    dials: Mapping[str, float],
    compared_s: float,
    *,
    has_fallen: bool,
    least_gu: float,
) -> bool:
    """Return whether its levels are far from the others. ``least_gu``: the lowest utilization of all ranks."""
    one.apart = 0.0
    is_odd = False
    is_enough = has_fallen and len(others) >= dials["fallen_ranks"] - 1
    usual = dials["fallen_apart_percent" if is_enough else "apart_percent"] / 100
    gaps = [_apart(one, others, at) for at in range(len(one.now))]
    known = [apart for (apart, _), level in zip(gaps, one.now, strict=True) if level is not None]
    # Ranks that wait do less of everything, at full utilization. Stages of a pipeline differ in some of it, by design.
    is_more = min(known, default=0.0) > usual and one.gu <= least_gu + _SAME_POINTS
    for at, (apart, spread) in enumerate(gaps):
        least = max(usual, dials["spread_times"] * spread)
        is_new = compared_s >= dials["known_s"] and abs(apart - one.usual[at]) > least
        is_clear = is_more and apart >= dials["clearly_percent"] / 100
        if abs(apart) > least and (is_clear or is_new):
            is_odd = True
            one.apart = max(one.apart, apart, key=abs)
    return is_odd


def _apart(one: Levels, others: Sequence[Levels], at: int) -> tuple[float, float]:
    """Return how far a level is from the median of the others, and their spread, as shares of the median."""
    value, known = one.now[at], [level for each in others if (level := each.now[at]) is not None]
    if value is None or len(known) < len(others):
        return 0.0, 0.0
    usual = median(known)
    base = max(usual, _LEAST[at])
    return (value - usual) / base, median(abs(level - usual) for level in known) / base


def _learn(one: Levels, others: Sequence[Levels], part: float) -> None:
    for at in range(len(one.now)):
        one.usual[at] += (_apart(one, others, at)[0] - one.usual[at]) * part
