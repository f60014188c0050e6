"""The order in which layouts are offered: usual ones first."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from gputop.core.mig.model import Profile

Names: TypeAlias = tuple[str, ...]
_Rank: TypeAlias = tuple[int, int, tuple[tuple[int, int, str], ...]]


def usual_first(choices: Iterable[Sequence[Profile]], beside: Sequence[Profile] = ()) -> list[Sequence[Profile]]:
    """Sort layouts, usual ones first. ``choices``: all that fit next to the instances that stay.

    Equal parts come first, as many as possible, largest first; then mixed layouts that leave no room for another
    instance, and those that leave some, each with few instances first; then the same with media engines (``+me``); no
    instances last.
    """
    wholes = [((*beside, *each), each) for each in choices]
    known = {_names(whole) for whole, _ in wholes}
    plain = {profile.name for whole, _ in wholes for profile in whole if not profile.attribute}
    most = {name: max(names.count(name) for names in known) for name in plain}
    ranked = sorted(wholes, key=lambda both: (not both[1], _rank(both[0], known, plain, most)))
    return [each for _, each in ranked]


def _rank(profiles: Sequence[Profile], known: set[Names], plain: set[str], most: dict[str, int]) -> _Rank:
    names = _names(profiles)
    sizes = tuple(sorted((-profile.slices, -profile.size, profile.name) for profile in profiles))
    is_full = not any(tuple(sorted((*names, more))) in known for more in plain)
    if not names:
        group = 0
    elif any(profile.attribute for profile in profiles):
        group = 3 if is_full else 4
    elif len(set(names)) == 1 and len(names) == most[names[0]] and (is_full or len(names) > 1):
        group = 0
    else:
        group = 1 if is_full else 2
    return group, 0 if group == 0 else len(names), sizes


def _names(profiles: Sequence[Profile]) -> Names:
    return tuple(sorted(profile.name for profile in profiles))
