"""The search behind a plan: of all ways to satisfy a request, the one that destroys least."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from gputop.core.mig.model import (
    Geometry,
    Layout,
    MigGpu,
    PlacedCompute,
    PlacedInstance,
    Profile,
    Target,
    TargetCompute,
    refusal,
    union,
)
from gputop.core.mig.placement import Piece, compute_piece, freedom, piece, place
from gputop.core.mig.request import Item, item_order


class Choice(Struct, frozen=True):
    """The result of the search: the instances that stay, with their compute instances, and those to create."""

    kept: tuple[tuple[PlacedInstance, tuple[TargetCompute, ...]], ...]
    created: Layout


_Cost = tuple[int, int, Layout]
_Stays = tuple[tuple[PlacedInstance, tuple[TargetCompute, ...]], ...]
_Matched = tuple[int, _Stays, tuple[Item, ...]]


def choose(gpu: MigGpu, items: Sequence[Item], *, is_forced: bool = False) -> Choice | None:
    """Return the possible choice that destroys least, or None if none exists."""
    profiles = [gpu.geometry.profile(item.profile) for item in items]
    known = [profile for profile in profiles if profile is not None]
    if len(known) < len(profiles) or refusal(gpu.geometry, known):
        return None
    instances = sorted(gpu.instances, key=lambda one: (one.start or 0, one.id))
    movable = [one for one in instances if is_forced or not one.everyone]
    measure = freedom(gpu.geometry)
    wanted = Counter(item.profile for item in items)
    for count in range(len(movable) + 1):
        best: tuple[_Cost, Choice] | None = None
        for destroyed in combinations(movable, count):
            kept = [one for one in instances if one not in destroyed]
            if Counter(one.profile for one in kept) - wanted:
                continue
            found = _best_with(gpu, kept, items, measure, is_forced=is_forced)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
        if best is not None:
            return best[1]
    return None


def _best_with(
    gpu: MigGpu,
    kept: Sequence[PlacedInstance],
    items: Sequence[Item],
    measure: Callable[[int], int],
    *,
    is_forced: bool,
) -> tuple[_Cost, Choice] | None:
    """Return the best choice that keeps these instances, with its cost."""
    matched = _matched(gpu.geometry, kept, items, is_forced=is_forced)
    if matched is None:
        return None
    lost, stays, rest = matched
    occupied = union(one.mask for one in kept)
    profiles = [profile for item in rest if (profile := gpu.geometry.profile(item.profile)) is not None]
    starts = place([piece(p, item.start) for p, item in zip(profiles, rest, strict=True)], occupied, measure)
    if starts is None:
        return None
    created = tuple(sorted(_created(p, item, s) for p, item, s in zip(profiles, rest, starts, strict=True)))
    room = measure(occupied | union(target.mask for target in created))
    return (lost, -room, created), Choice(stays, created)


def _matched(
    geometry: Geometry, kept: Sequence[PlacedInstance], items: Sequence[Item], *, is_forced: bool
) -> _Matched | None:
    """Match each kept instance with an item, losing the fewest compute instances; return the rest too.

    An item with a start matches the instance at that start: no other item can use this place.
    """
    rest = sorted(items, key=item_order)
    pinned: list[tuple[PlacedInstance, Item]] = []
    open_ones: list[PlacedInstance] = []
    for one in kept:
        item = next(
            (i for i in rest if i.start is not None and i.start == one.start and i.profile == one.profile), None
        )
        if item is None:
            open_ones.append(one)
        else:
            rest.remove(item)
            pinned.append((one, item))
    best: _Matched | None = None
    for assigned, unmatched in _assignments(tuple(open_ones), tuple(rest)):
        found = _with_computes(geometry, (*pinned, *assigned), is_forced=is_forced)
        if found is not None and (best is None or found[0] < best[0]):
            best = (*found, unmatched)
    return best


def _assignments(
    instances: tuple[PlacedInstance, ...], items: tuple[Item, ...]
) -> Iterator[tuple[tuple[tuple[PlacedInstance, Item], ...], tuple[Item, ...]]]:
    """Yield all assignments of instances to items of their profile without a start, with the unmatched items."""
    if not instances:
        yield (), items
        return
    head, tail = instances[0], instances[1:]
    candidates = dict.fromkeys(item for item in items if item.profile == head.profile and item.start is None)
    for item in candidates:
        at = items.index(item)
        for assigned, unmatched in _assignments(tail, (*items[:at], *items[at + 1 :])):
            yield ((head, item), *assigned), unmatched


def _with_computes(
    geometry: Geometry, pairs: Sequence[tuple[PlacedInstance, Item]], *, is_forced: bool
) -> tuple[int, _Stays] | None:
    lost, stays = 0, []
    for instance, item in pairs:
        profile = geometry.profile(item.profile)
        found = profile and _computes(instance, item.computes, profile.slices, is_forced=is_forced)
        if not found:
            return None
        lost += found[0]
        stays.append((instance, found[1]))
    return lost, tuple(stays)


def _computes(
    instance: PlacedInstance, wanted: tuple[int, ...], whole: int, *, is_forced: bool
) -> tuple[int, tuple[TargetCompute, ...]] | None:
    """Return the fewest compute instances to destroy, and the resulting ones; None if impossible."""
    movable = [one for one in instance.computes if is_forced or not one.users]
    for count in range(len(movable) + 1):
        for destroyed in combinations(movable, count):
            kept = [one for one in instance.computes if one not in destroyed]
            rest = Counter(wanted) - Counter(one.slices for one in kept)
            if Counter(one.slices for one in kept) - Counter(wanted):
                continue
            pieces = [compute_piece(each, whole) for each in sorted(rest.elements(), reverse=True)]
            starts = place(pieces, union(one.mask for one in kept))
            if starts is not None:
                return count, _target_computes(kept, pieces, starts)
    return None


def _target_computes(
    kept: Sequence[PlacedCompute], pieces: Sequence[Piece], starts: Sequence[int]
) -> tuple[TargetCompute, ...]:
    new = (TargetCompute(start, piece.size) for piece, start in zip(pieces, starts, strict=True))
    return tuple(sorted([*(one.target for one in kept), *new]))


def _created(profile: Profile, item: Item, start: int) -> Target:
    pieces = [compute_piece(slices, profile.slices) for slices in item.computes]
    starts = place(pieces, 0) or ()
    computes = tuple(sorted(TargetCompute(s, p.size) for p, s in zip(pieces, starts, strict=False)))
    return Target(start, profile.size, profile.name, computes)
