"""Reasons why a request has no plan: obstacles, possible alternatives, fragmentation."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.mig.model import (
    Layout,
    MigGpu,
    PlacedInstance,
    Profile,
    User,
    free_slots,
    mask,
    named_here,
    places,
    refusal,
)
from gputop.core.mig.placement import fits, layouts, piece, place, room
from gputop.core.mig.planner import plan, plan_layout
from gputop.core.mig.presets import usual_first
from gputop.core.mig.request import Item, Wish, item_of, whole, wish_text
from gputop.core.mig.steps import Plan

_MOST_NEAREST: Final = 3


class NoPlan(Struct, frozen=True, kw_only=True):
    """The absence of a plan, with its ``reason``.

    ``in_the_way``: busy instances that block the request; ``users``: processes that block the mode change.
    ``nearest``: requests that are possible now, nearest first.
    """

    gpu: str
    index: int
    reason: str
    in_the_way: tuple[PlacedInstance, ...] = ()
    users: tuple[User, ...] = ()
    nearest: tuple[str, ...] = ()

    @property
    def blocking_pids(self) -> tuple[int, ...]:
        """The pids of the processes that block the request."""
        blocking = (*(user for instance in self.in_the_way for user in instance.everyone), *self.users)
        return tuple(dict.fromkeys(user.pid for user in blocking))


class Blocked(Struct, frozen=True):
    """A placement of a profile that these instances block."""

    profile: str
    start: int
    by: tuple[PlacedInstance, ...]


class Fragment(Struct, frozen=True):
    """A profile of which more would fit if idle instances were moved. ``moves``: the instances to recreate."""

    profile: str
    now: int
    then: int
    moves: tuple[str, ...]


def answer(gpu: MigGpu, wish: Wish, *, is_forced: bool = False) -> Plan | NoPlan:
    """Return the plan for a request, or the reason why none exists."""
    is_mode_alone = wish.items is None or not wish.is_on
    obstacle = unreadable(gpu) or ("" if is_mode_alone and wish.is_on is gpu.is_on else pending(gpu))
    if obstacle:
        return _no_plan(gpu, obstacle)
    return plan(gpu, wish, is_forced=is_forced) or explain(gpu, wish)


def answer_layout(gpu: MigGpu, wanted: Layout, *, is_on: bool, is_forced: bool = False) -> Plan | NoPlan:
    """Return the plan that restores exactly these placements, or the reason why none exists."""
    wanted = tuple(named_here(target, gpu.geometry) for target in wanted)
    profiles = {profile.name: profile for profile in gpu.geometry.profiles}
    strange = [t.text for t in wanted if t.profile not in profiles or t.start not in profiles[t.profile].starts]
    obstacle = unreadable(gpu) or pending(gpu) or (f"this GPU does not offer {', '.join(strange)}" if strange else "")
    if obstacle:
        return _no_plan(gpu, obstacle)
    found = plan_layout(gpu, wanted, is_on=is_on, is_forced=is_forced)
    if found is not None:
        return found
    stays = {(target.profile, target.start) for target in wanted} if is_on else set()
    used = tuple(one for one in gpu.busy if (one.profile, one.start) not in stays)
    reason = f"blocked by instances in use: {_named(used) or _who(gpu)}" if gpu.everyone else "its instances overlap"
    return _no_plan(gpu, reason, used, users=gpu.users)


def unreadable(gpu: MigGpu) -> str:
    """Return why gputop cannot plan on a GPU; empty if it can."""
    if gpu.is_on is None:
        return gpu.why or "this GPU does not support MIG"
    for part in ("placements", "instances"):
        if part in gpu.missing:
            return f"cannot read its {part}: {gpu.missing[part].text}"
    return ""


def pending(gpu: MigGpu) -> str:
    """Return which mode change waits for a reset; empty if none does. Until the reset only the mode can be planned."""
    if gpu.is_on_next is not None and gpu.is_on is not gpu.is_on_next:
        word = "on" if gpu.is_on_next else "off"
        return f"MIG turns {word} only after a reset: reset the GPU or reboot first"
    return ""


def explain(gpu: MigGpu, wish: Wish) -> NoPlan:
    """Return the reason why a request has no plan."""
    if bool(gpu.is_on) != wish.is_on and gpu.everyone:
        reason = f"cannot turn MIG {'on' if wish.is_on else 'off'} while processes use the GPU: {_who(gpu)}"
        return _no_plan(gpu, reason, gpu.busy, users=gpu.users)
    items = wish.items or ()
    profiles = [profile for item in items if (profile := gpu.geometry.profile(item.profile)) is not None]
    missing = [item.profile for item in items if gpu.geometry.profile(item.profile) is None]
    near = nearest_wishes(gpu, items)
    if missing:
        return _no_plan(gpu, f"this GPU does not have profile {', '.join(dict.fromkeys(missing))}", nearest=near)
    impossible = refusal(gpu.geometry, profiles)
    forced = None if impossible else plan(gpu, wish, is_forced=True)
    if forced is None:
        return _no_plan(gpu, impossible or _no_room(gpu, items), nearest=near)
    used = _lost_in_use(gpu, forced)
    return _no_plan(gpu, f"blocked by instances in use: {_named(used)}", used, nearest=near)


def nearest_wishes(gpu: MigGpu, items: Sequence[Item]) -> tuple[str, ...]:
    """Return the requests closest to these items that are possible now, nearest first; each keeps busy instances."""
    fixed = gpu.placed(gpu.busy)
    wanted = Counter(item.profile for item in items) - Counter(profile.name for profile, _ in fixed)
    by_name = {profile.name: profile for profile in gpu.geometry.profiles}
    choices = [tuple(profile.name for profile in each) for each in layouts(gpu.geometry, fixed)]
    busy = [item_of(one, gpu.geometry) for one in gpu.busy]
    ranked = sorted((each for each in choices if busy or each), key=lambda each: _distance(wanted, each, by_name))
    near = ([*busy, *(_like(items, by_name[name]) for name in names)] for names in ranked[:_MOST_NEAREST])
    return tuple(wish_text(each, gpu.geometry) for each in near)


def possible(gpu: MigGpu) -> tuple[str, ...]:
    """Return requests for all layouts that are possible now, usual ones first; each keeps busy instances."""
    busy = [item_of(one, gpu.geometry) for one in gpu.busy]
    fixed = gpu.placed(gpu.busy)
    choices = usual_first(layouts(gpu.geometry, fixed), [profile for profile, _ in fixed])
    return tuple(wish_text([*busy, *(whole(profile) for profile in each)], gpu.geometry) for each in choices)


def addable(gpu: MigGpu) -> dict[str, int]:
    """Return how many more instances of each profile fit next to the existing ones."""
    fixed = gpu.placed(gpu.instances)
    return {profile.name: room(gpu.geometry, profile, fixed) for profile in gpu.geometry.profiles}


def blocked(gpu: MigGpu) -> tuple[Blocked, ...]:
    """Return, for each profile without a free placement, the instances that block each placement."""
    found = []
    for profile in gpu.geometry.profiles:
        if next(places(profile, gpu.occupied), None) is None:
            for start in profile.starts:
                needed = mask(start, profile.size)
                found.append(Blocked(profile.name, start, tuple(one for one in gpu.instances if one.mask & needed)))
    return tuple(found)


def fragments(gpu: MigGpu) -> tuple[Fragment, ...]:
    """Return the profiles of which more would fit if idle instances were moved, largest first."""
    placed, now = gpu.placed(gpu.instances), addable(gpu)
    idle = [profile for profile, _ in gpu.placed(one for one in gpu.instances if not one.everyone)]
    fixed = gpu.placed(gpu.busy)
    found = []
    for profile in gpu.geometry.profiles if placed else ():
        most = range(profile.most, now[profile.name], -1)
        then = next((n for n in most if fits(gpu.geometry, [*idle, *[profile] * n], fixed)), now[profile.name])
        moves = _moves(gpu, profile, then) if then > now[profile.name] and not profile.attribute else ()
        if moves:
            found.append(Fragment(profile.name, now[profile.name], then, moves))
    return tuple(found)


def free_text(gpu: MigGpu) -> str:
    """Return the free memory slots as text."""
    slots = free_slots(gpu.geometry.slots, gpu.occupied)
    return ", ".join(str(slot) for slot in slots) if slots else "none"


def _moves(gpu: MigGpu, profile: Profile, count: int) -> tuple[str, ...]:
    items = (*(item_of(one, gpu.geometry) for one in gpu.instances), *[whole(profile)] * count)
    found = plan(gpu, Wish(items))
    return tuple(target.text for target in found.destroyed) if found else ()


def _no_room(gpu: MigGpu, items: Sequence[Item]) -> str:
    """Return why items do not fit even on the empty GPU."""
    pinned = [item for item in items if item.start is not None]
    pieces = [piece(p, item.start) for item in pinned if (p := gpu.geometry.profile(item.profile)) is not None]
    if pinned and place(pieces, 0) is None:
        return f"{', '.join(item.text for item in pinned)} overlap"
    profiles = [p for item in items if (p := gpu.geometry.profile(item.profile)) is not None]
    slots = sum(profile.size for profile in profiles)
    if slots > gpu.geometry.slots:
        return f"the instances need {slots} memory slots, the GPU has {gpu.geometry.slots}"
    largest = max(profiles, key=lambda profile: (profile.size, -len(profile.starts)))
    starts = ", ".join(str(start) for start in largest.starts)
    return f"the instances would overlap: {largest.name} needs {largest.size} slots and can only start at slot {starts}"


def _lost_in_use(gpu: MigGpu, forced: Plan) -> tuple[PlacedInstance, ...]:
    """Return the busy instances that a forced plan would destroy, entirely or a compute instance of them."""
    targets = {(step.profile, step.start) for step in forced.steps if step.kind.value.startswith("destroy")}
    return tuple(one for one in gpu.busy if (one.profile, one.start) in targets)


def _named(instances: Iterable[PlacedInstance]) -> str:
    return "; ".join(f"{one.text} ({_who(one)})" for one in instances)


def _who(used: PlacedInstance | MigGpu) -> str:
    return ", ".join(f"{user.pid} {user.user}".strip() for user in used.everyone)


def _distance(
    wanted: "Counter[str]", names: tuple[str, ...], by_name: dict[str, Profile]
) -> tuple[int, int, int, int, tuple[str, ...]]:
    """Measure the distance of a choice from the request: missing slots first, then the quality of the replacements."""
    lacking, extra = wanted - Counter(names), Counter(names) - wanted
    lost, gained = _slots(lacking, by_name), _slots(extra, by_name)
    oddities = sum(count for name, count in extra.items() if by_name[name].attribute)
    return lost, oddities, abs(lost - gained), sum(extra.values()), names


def _slots(counts: "Counter[str]", by_name: dict[str, Profile]) -> int:
    return sum(by_name[name].size * count for name, count in counts.items() if name in by_name)


def _like(items: Sequence[Item], profile: Profile) -> Item:
    """Return an item of a profile, with the compute instances that the request has for it."""
    found = next((item for item in items if item.profile == profile.name), None)
    return whole(profile) if found is None else Item(profile.name, found.computes)


def _no_plan(
    gpu: MigGpu,
    reason: str,
    in_the_way: tuple[PlacedInstance, ...] = (),
    *,
    users: tuple[User, ...] = (),
    nearest: tuple[str, ...] = (),
) -> NoPlan:
    return NoPlan(gpu=gpu.uuid, index=gpu.index, reason=reason, in_the_way=in_the_way, users=users, nearest=nearest)
