"""The levels of ranks against those of the other ranks: power, memory controller and SM activity.

Ranks that wait for a slower one poll at full utilization and full clock; their power and traffic fall all the same.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct, field

from gputop.core.detectors.activity.process import Track

_LEAST = (0.05, 5.0, 5.0)  # levels below are noise


class Levels(Struct):
    """The smoothed levels of a rank, and how far each usually is from those of the others, as a share of theirs.

    ``odd_s``: for how long one of them has been far from the others. ``apart``: how far the one farthest away is.
    """

    now: list[float | None] = field(default_factory=lambda: [None, None, None])
    usual: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    apart: float = 0.0
    odd_s: float = 0.0

    def smooth(self, track: Track, part: float) -> None:
        """Take the present readings of the GPU of the rank."""
        board = track.board
        given = (board.effort, board.memory, board.sm)
        for at, value in enumerate(given):
            before = self.now[at]
            if value is not None:
                self.now[at] = value if before is None else before + (value - before) * part


def compare(all_levels: Sequence[Levels], dials: Mapping[str, float], *, step_s: float, compared_s: float) -> None:
    """Count for how long each rank has been far from the others. Only one may be: else the ranks differ by design."""
    odd = [_is_odd(one, [each for each in all_levels if each is not one], dials, compared_s) for one in all_levels]
    for one, is_odd in zip(all_levels, odd, strict=True):
        is_so = is_odd and sum(odd) == 1
        one.odd_s = one.odd_s + step_s if is_so else max(0.0, one.odd_s - dials["falls_times"] * step_s)
    if compared_s <= dials["learn_s"]:
        for one in all_levels:
            _learn(one, [each for each in all_levels if each is not one], step_s / (step_s + dials["known_s"]))


def _is_odd(one: Levels, others: Sequence[Levels], dials: Mapping[str, float], compared_s: float) -> bool:
    one.apart = 0.0
    is_odd = False
    for at in range(len(one.now)):
        apart, spread = _apart(one, others, at)
        least = max(dials["apart_percent"] / 100, dials["spread_times"] * spread)
        is_new = compared_s >= dials["known_s"] and abs(apart - one.usual[at]) > least
        is_clear = apart >= dials["clearly_percent"] / 100  # stages of a pipeline also do less, from the beginning
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
