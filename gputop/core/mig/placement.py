"""Placement of instances: exhaustive searches over the few possible placements.

First-fit is not enough: 3g next to 4g needs 4g at 0 and 3g at 4, in any order of the request. Of all placements
the search chooses the one that leaves the most room for others, weighted by size, to avoid fragmentation.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from gputop.core.mig.model import Geometry, Profile, compute_starts, mask, places, refusal, union


class Piece(Struct, frozen=True, order=True):
    """An item that needs adjacent slots. ``starts``: the slots at which it can start."""

    size: int
    starts: tuple[int, ...]
    name: str = ""


def piece(profile: Profile, start: int | None = None) -> Piece:
    """Return a profile as a piece, limited to one start if given."""
    starts = profile.starts if start is None else tuple(s for s in profile.starts if s == start)
    return Piece(profile.size, starts, profile.name)


def compute_piece(slices: int, whole: int) -> Piece:
    """Return a compute instance of an instance with ``whole`` slices as a piece."""
    return Piece(slices, compute_starts(slices, whole), f"{slices}c")


def freedom(geometry: Geometry) -> Callable[[int], int]:
    """Return a function that measures how much still fits next to the occupied slots, weighted by size."""

    @cache
    def measure(occupied: int) -> int:
        return sum(profile.size * sum(1 for _ in places(profile, occupied)) for profile in geometry.profiles)

    return measure


def place(
    pieces: Sequence[Piece], occupied: int, measure: Callable[[int], int] | None = None
) -> tuple[int, ...] | None:
    """Return a start for each piece, or None if they do not fit. The result does not depend on their order.

    ``measure``: the score of the occupied slots to maximise; without it, the first possible placement is returned.
    """
    order = sorted(range(len(pieces)), key=lambda n: (-pieces[n].size, len(pieces[n].starts), pieces[n]))
    ordered = tuple(pieces[n] for n in order)
    best: tuple[int, ...] | None = None
    best_measure = -1
    for starts, full in _placements(ordered, occupied):
        value = measure(full) if measure else 0
        if value > best_measure:
            best, best_measure = starts, value
        if measure is None:
            break
    if best is None:
        return None
    found = dict(zip(order, best, strict=True))
    return tuple(found[n] for n in range(len(pieces)))


def layouts(geometry: Geometry, fixed: Sequence[tuple[Profile, int]] = ()) -> tuple[tuple[Profile, ...], ...]:
    """Return all multisets of profiles that fit next to the ``fixed`` ones, the empty one first.

    An empty GPU of 8 slots has about 80 of them, not counting those with media extensions.
    """
    held = tuple(profile for profile, _ in fixed)
    profiles = sorted(geometry.profiles, key=lambda profile: (-profile.size, profile.name))
    return tuple(_multisets(geometry, profiles, held, (), _occupied(fixed)))


def fits(geometry: Geometry, profiles: Sequence[Profile], beside: Sequence[tuple[Profile, int]] = ()) -> bool:
    """Say whether profiles fit next to the placed ones in ``beside``."""
    if refusal(geometry, (*(profile for profile, _ in beside), *profiles)):
        return False
    return place([piece(profile) for profile in profiles], _occupied(beside)) is not None


def room(geometry: Geometry, profile: Profile, beside: Sequence[tuple[Profile, int]]) -> int:
    """Return how many more of a profile fit next to the placed ones in ``beside``."""
    return next((n for n in range(profile.most, 0, -1) if fits(geometry, [profile] * n, beside)), 0)


def _occupied(placed: Sequence[tuple[Profile, int]]) -> int:
    return union(mask(start, profile.size) for profile, start in placed)


def _placements(pieces: tuple[Piece, ...], occupied: int, least: int = 0) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield all placements, the first piece from ``least`` on; equal pieces only in ascending order."""
    if not pieces:
        yield (), occupied
        return
    head, tail = pieces[0], pieces[1:]
    for start in head.starts:
        slots = mask(start, head.size)
        if start >= least and not slots & occupied:
            above = start + 1 if tail and tail[0] == head else 0
            for starts, full in _placements(tail, occupied | slots, above):
                yield (start, *starts), full


def _multisets(
    geometry: Geometry,
    profiles: Sequence[Profile],
    held: tuple[Profile, ...],
    chosen: tuple[Profile, ...],
    occupied: int,
) -> Iterator[tuple[Profile, ...]]:
    yield chosen
    for n, profile in enumerate(profiles):
        more = (*chosen, profile)
        if not refusal(geometry, (*held, *more)) and place([piece(each) for each in more], occupied) is not None:
            yield from _multisets(geometry, profiles[n:], held, more, occupied)
