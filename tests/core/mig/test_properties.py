"""What holds of every plan, on the geometry of five boards."""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from random import Random
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mig_boards import BOARDS, board, instance

from gputop.core.mig.explain import NoPlan, answer, fragments, possible
from gputop.core.mig.model import (
    Geometry,
    MigGpu,
    PlacedCompute,
    PlacedInstance,
    Profile,
    Target,
    TargetCompute,
    layout,
    mask,
    refusal,
)
from gputop.core.mig.placement import layouts, piece, place, room
from gputop.core.mig.planner import plan, plan_layout
from gputop.core.mig.request import Item, Wish, read_request, wish_text
from gputop.core.mig.steps import Plan, Step, StepKind

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOST_CALLS = 60_000
MANY = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def placed(draw: st.DrawFn, geometry: Geometry) -> tuple[PlacedInstance, ...]:
    """Draw instances that a driver would have allowed, some of them in use, some with parts or without."""
    held: list[tuple[Profile, int]] = []
    found = []
    for profile in draw(st.lists(st.sampled_from(geometry.profiles), max_size=7)):
        taken = sum(mask(start, each.size) for each, start in held)
        starts = [start for start in profile.starts if not mask(start, profile.size) & taken]
        if not starts or refusal(geometry, [*(each for each, _ in held), profile]):
            continue
        start = draw(st.sampled_from(starts))
        held.append((profile, start))
        parts = draw(st.sampled_from([(profile.slices,), (1,) * profile.slices, ()]))
        users = draw(st.integers(0, 1)) if parts else 0
        found.append(instance(geometry, profile.name, start, users=users, computes=parts))
    return tuple(found)


@st.composite
def questions(draw: st.DrawFn) -> tuple[MigGpu, tuple[Item, ...]]:
    """Draw a GPU and what is wanted of it, often possible."""
    geometry = BOARDS[draw(st.sampled_from(sorted(BOARDS)))]
    gpu = board(geometry, *draw(placed(geometry)))
    names = (
        draw(st.sampled_from(ALL_LAYOUTS[id(geometry)]))
        if draw(st.booleans())
        else draw(st.lists(st.sampled_from(geometry.profiles), max_size=7))
    )
    items = []
    for profile in names:
        parts = draw(st.sampled_from([(profile.slices,), (profile.slices,), (1,) * profile.slices]))
        items.append(Item(profile.name, parts))
    return gpu, tuple(items)


ALL_LAYOUTS = {id(geometry): layouts(geometry) for geometry in BOARDS.values()}


class Imitation:
    """A driver's rules, written down a second time: what cannot be done raises."""

    def __init__(self, gpu: MigGpu) -> None:
        self.geometry = gpu.geometry
        self.instances = {(t.profile, t.start): set(t.computes) for t in layout(gpu.instances)}
        self.used = {
            (one.profile, one.start or 0, TargetCompute(compute.start or 0, compute.slices))
            for one in gpu.instances
            for compute in one.computes
            if compute.users
        }

    def do(self, step: Step) -> None:
        key = (step.profile, step.start)
        compute = TargetCompute(step.compute_start, step.slices)
        profile = self.geometry.profile(step.profile)
        assert profile is not None
        match step.kind:
            case StepKind.DESTROY_COMPUTE:
                assert (*key, compute) not in self.used
                self.instances[key].remove(compute)
            case StepKind.DESTROY_INSTANCE:
                assert not self.instances.pop(key), "it still has compute instances"
            case StepKind.CREATE_INSTANCE:
                assert step.start in profile.starts
                taken = [self._mask(*other) for other in self.instances]
                assert not any(mask(step.start, profile.size) & other for other in taken)
                assert Counter(name for name, _ in self.instances)[step.profile] < profile.most
                self.instances[key] = set()
            case StepKind.CREATE_COMPUTE:
                held = [mask(other.start, other.slices) for other in self.instances[key]]
                assert not any(mask(step.compute_start, step.slices) & other for other in held)
                assert step.compute_start + step.slices <= profile.slices
                self.instances[key].add(compute)
            case _:
                pytest.fail("the mode was not to change")

    def layout(self) -> tuple[Target, ...]:
        return tuple(
            sorted(
                Target(start, self._size(name), name, tuple(sorted(computes)))
                for (name, start), computes in self.instances.items()
            )
        )

    def _size(self, name: str) -> int:
        profile = self.geometry.profile(name)
        assert profile is not None
        return profile.size

    def _mask(self, name: str, start: int) -> int:
        return mask(start, self._size(name))


@MANY
@given(questions())
def test_every_step_is_possible_in_its_turn_and_the_result_is_what_was_asked_for(
    question: tuple[MigGpu, tuple[Item, ...]],
) -> None:
    gpu, items = question
    found = plan(gpu, Wish(items))
    if found is None:
        return
    driver = Imitation(gpu)
    for step in found.steps:
        driver.do(step)

    assert driver.layout() == found.after
    wanted = Counter((item.profile, tuple(sorted(item.computes))) for item in items)
    assert Counter((t.profile, tuple(sorted(c.slices for c in t.computes))) for t in found.after) == wanted


@MANY
@given(questions())
def test_nothing_in_use_is_destroyed(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, items = question
    found = plan(gpu, Wish(items))
    busy = [one for one in gpu.instances if one.everyone]

    if found is not None:
        for one in busy:
            kept = next(target for target in found.after if (target.profile, target.start) == (one.profile, one.start))
            for compute in one.computes:
                assert not compute.users or TargetCompute(compute.start or 0, compute.slices) in kept.computes


@MANY
@given(questions())
def test_no_plan_destroys_fewer_instances(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, items = question
    found = plan(gpu, Wish(items))
    least = fewest_destroyed(gpu, items)

    assert (None if found is None else len(found.destroyed)) == least


@SETTINGS
@given(questions(), st.randoms())
def test_the_same_question_in_another_order_has_the_same_answer(
    question: tuple[MigGpu, tuple[Item, ...]], random: Random
) -> None:
    gpu, items = question
    shuffled, turned = list(items), list(gpu.instances)
    random.shuffle(shuffled)
    random.shuffle(turned)
    other = board(gpu.geometry, *turned)

    assert plan(other, Wish(tuple(shuffled))) == plan(gpu, Wish(items))


@SETTINGS
@given(questions())
def test_what_is_offered_instead_is_possible(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, items = question
    found = answer(gpu, Wish(items))

    if isinstance(found, NoPlan):
        assert found.reason
        assert all(isinstance(answer(gpu, read_request(text, gpu)), Plan) for text in found.nearest)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(questions())
def test_every_layout_to_choose_from_is_possible(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, _ = question
    choices = possible(gpu)

    assert len(set(choices)) == len(choices)
    assert all(isinstance(answer(gpu, read_request(text, gpu)), Plan) for text in choices[:: 1 + len(choices) // 20])


@SETTINGS
@given(questions())
def test_every_change_can_be_taken_back(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, items = question
    forth = plan(gpu, Wish(items))
    if forth is None:
        return
    there = board(gpu.geometry, *(made(gpu, target) for target in forth.after))
    back = plan_layout(there, forth.before)

    assert back is not None
    driver = Imitation(there)
    for step in back.steps:
        driver.do(step)
    assert driver.layout() == forth.before


@SETTINGS
@given(questions())
def test_a_request_can_be_written_and_read_again(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, items = question

    assert Counter(read_request(wish_text(items, gpu.geometry), gpu).items or ()) == Counter(items)


@MANY
@given(st.sampled_from(sorted(BOARDS)), st.data())
def test_a_placement_is_found_exactly_when_there_is_one(name: str, data: st.DataObject) -> None:
    geometry = BOARDS[name]
    profiles = data.draw(st.lists(st.sampled_from(geometry.profiles), max_size=5))
    occupied = data.draw(st.integers(0, (1 << geometry.slots) - 1))
    found = place([piece(profile) for profile in profiles], occupied)

    assert (found is not None) == any(
        no_overlap(occupied, profiles, starts) for starts in product(*(profile.starts for profile in profiles))
    )
    assert found is None or no_overlap(occupied, profiles, found)


@SETTINGS
@given(questions())
def test_a_fragment_is_one_because_moving_makes_room(question: tuple[MigGpu, tuple[Item, ...]]) -> None:
    gpu, _ = question
    for fragment in fragments(gpu):
        profile = gpu.geometry.profile(fragment.profile)
        assert profile is not None
        beside = [(gpu.geometry.profile(one.profile), one.start or 0) for one in gpu.instances]
        assert room(gpu.geometry, profile, [(p, s) for p, s in beside if p]) == fragment.now < fragment.then
        assert isinstance(answer(gpu, read_request(f"+{fragment.then}x{fragment.profile}", gpu)), Plan)


def test_the_worst_case_takes_a_bounded_number_of_steps() -> None:
    """Calls, not time: a busy machine must not fail it. All layouts against all requests would take minutes."""
    worst = 0
    for geometry in BOARDS.values():
        every = ALL_LAYOUTS[id(geometry)]
        ones = next(p for p in reversed(geometry.profiles) if not p.attribute)
        full = [instance(geometry, ones.name, start) for start in ones.starts]
        busy = [instance(geometry, ones.name, start, users=start % 3 == 0) for start in ones.starts]
        for gpu in (board(geometry), board(geometry, *full), board(geometry, *busy)):
            for profiles in (*every[:: max(1, len(every) // 25)], [ones] * 9):
                request = Wish(tuple(Item(p.name, (p.slices,)) for p in profiles))
                worst = max(worst, calls(partial(answer, gpu, request)))

    assert worst < MOST_CALLS, worst


def calls(run: Callable[[], object]) -> int:
    """Return how many Python functions a call enters."""
    count = 0

    def profile(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def no_overlap(occupied: int, profiles: list[Profile], starts: tuple[int, ...]) -> bool:
    for profile, start in zip(profiles, starts, strict=True):
        taken = mask(start, profile.size)
        if taken & occupied:
            return False
        occupied |= taken
    return True


def made(gpu: MigGpu, target: Target) -> PlacedInstance:
    found = instance(gpu.geometry, target.profile, target.start, computes=())
    computes = tuple(PlacedCompute(id=n, slices=c.slices, start=c.start) for n, c in enumerate(target.computes))
    return PlacedInstance(id=found.id, profile=found.profile, start=found.start, size=found.size, computes=computes)


def fewest_destroyed(gpu: MigGpu, items: tuple[Item, ...]) -> int | None:
    """Find out by trying every placement of everything, without any cleverness."""
    profiles = [gpu.geometry.profile(item.profile) for item in items]
    known = [profile for profile in profiles if profile is not None]
    if refusal(gpu.geometry, known):
        return None
    best: int | None = None
    for starts in ways(known, 0):
        pool = {(one.profile, one.start): one for one in gpu.instances}
        stays = [(pool.pop((i.profile, s), None), i) for i, s in zip(items, starts, strict=True)]
        if any(one.everyone for one in pool.values()):
            continue
        cost = len(pool)
        if (best is None or cost < best) and assignable(gpu, [one for one, _ in stays if one], items):
            best = cost
    return best


def ways(profiles: list[Profile], occupied: int) -> "list[tuple[int, ...]]":
    if not profiles:
        return [()]
    head, *tail = profiles
    return [
        (start, *rest)
        for start in head.starts
        if not mask(start, head.size) & occupied
        for rest in ways(tail, occupied | mask(start, head.size))
    ]


def assignable(gpu: MigGpu, kept: list[PlacedInstance], items: tuple[Item, ...]) -> bool:
    """Say whether the instances that stay can become items of their profile with what runs on them."""
    if not kept:
        return True
    head, *tail = kept
    busy = Counter(compute.slices for compute in head.computes if compute.users)
    return any(
        assignable(gpu, tail, (*items[:n], *items[n + 1 :]))
        for n, item in enumerate(items)
        if item.profile == head.profile and not busy - Counter(item.computes)
    )
