"""The planner: the smallest change from the current to the requested layout, as steps in a possible order.

A plan destroys the fewest GPU instances, then the fewest compute instances; among equals it leaves the most room. It
destroys busy instances only if forced. Planning is deterministic.
"""

from collections.abc import Iterable, Iterator, Sequence

from gputop.core.mig.model import Layout, MigGpu, PlacedCompute, PlacedInstance, Target, TargetCompute, layout, union
from gputop.core.mig.request import Wish
from gputop.core.mig.search import Choice, choose
from gputop.core.mig.steps import Plan, Step, StepKind


def plan(gpu: MigGpu, wish: Wish, *, is_forced: bool = False) -> Plan | None:
    """Return the plan for a request, or None if it is impossible; `explain.explain` gives the reason.

    ``is_forced``: plan as if no instance were busy; the driver still refuses to destroy a busy one.
    """
    if _is_mode_blocked(gpu, is_on=wish.is_on) and not is_forced:
        return None
    if not wish.is_on:
        return _assembled(gpu, Choice((), ()), is_on=False)
    if wish.items is None:
        return _assembled(gpu, Choice(tuple((one, _current_computes(one)) for one in gpu.instances), ()), is_on=True)
    choice = choose(gpu, wish.items, is_forced=is_forced)
    return None if choice is None else _assembled(gpu, choice, is_on=True)


def plan_layout(gpu: MigGpu, wanted: Layout, *, is_on: bool = True, is_forced: bool = False) -> Plan | None:
    """Return the plan to exactly these placements, as for a rollback; None if a busy instance is in the way."""
    kept: list[tuple[PlacedInstance, tuple[TargetCompute, ...]]] = []
    created = {(target.profile, target.start): target for target in wanted}
    for instance in gpu.instances:
        target = created.get((instance.profile, instance.start or 0))
        if target is not None and (is_forced or _keeps_its_users(instance, target.computes)):
            del created[target.profile, target.start]
            kept.append((instance, target.computes))
        elif instance.everyone and not is_forced:
            return None
    if _is_mode_blocked(gpu, is_on=is_on) and not is_forced:
        return None
    if _collide((*(one.mask for one, _ in kept), *(target.mask for target in created.values()))):
        return None
    return _assembled(gpu, Choice(tuple(kept), tuple(sorted(created.values()))), is_on=is_on)


def _is_mode_blocked(gpu: MigGpu, *, is_on: bool) -> bool:
    """Say whether processes prevent a mode change that is needed."""
    return bool(gpu.is_on) != is_on and bool(gpu.everyone)


def _current_computes(instance: PlacedInstance) -> tuple[TargetCompute, ...]:
    return layout([instance])[0].computes


def _keeps_its_users(instance: PlacedInstance, computes: Sequence[TargetCompute]) -> bool:
    return all(TargetCompute(one.start or 0, one.slices) in computes for one in instance.computes if one.users)


def _collide(masks: Iterable[int]) -> bool:
    bits = list(masks)
    return sum(bits) != union(bits)


def _assembled(gpu: MigGpu, choice: Choice, *, is_on: bool) -> Plan:
    was_on = bool(gpu.is_on)
    stays = tuple(Target(one.start or 0, one.size or 0, one.profile, computes) for one, computes in choice.kept)
    return Plan(
        gpu=gpu.uuid,
        index=gpu.index,
        was_on=was_on,
        is_on=is_on,
        before=layout(gpu.instances),
        after=tuple(sorted((*stays, *choice.created))),
        steps=tuple(_steps(gpu, choice, was_on=was_on, is_on=is_on)),
    )


def _steps(gpu: MigGpu, choice: Choice, *, was_on: bool, is_on: bool) -> Iterator[Step]:
    """Yield the steps: first destroy, then change the mode, then create, so that each step has room."""
    kept = {one.id: computes for one, computes in choice.kept}
    for instance in sorted(gpu.instances, key=lambda one: one.start or 0):
        stays = kept.get(instance.id, ())
        for compute in instance.computes:
            if TargetCompute(compute.start or 0, compute.slices) not in stays:
                yield _compute_step(StepKind.DESTROY_COMPUTE, instance, compute)
        if instance.id not in kept:
            yield _instance_step(StepKind.DESTROY_INSTANCE, layout([instance])[0], instance.id)
    if was_on and not is_on:
        yield Step(kind=StepKind.DISABLE)
    if is_on and not was_on:
        yield Step(kind=StepKind.ENABLE)
    if was_on is is_on and gpu.is_on_next not in (None, is_on):  # take back what waits for a reset
        yield Step(kind=StepKind.ENABLE if is_on else StepKind.DISABLE)
    for target in choice.created:
        yield _instance_step(StepKind.CREATE_INSTANCE, target)
        yield from (_new_compute(target, compute) for compute in target.computes)
    for instance, computes in choice.kept:
        old = set(_current_computes(instance))
        yield from (_new_compute(layout([instance])[0], one) for one in computes if one not in old)


def _instance_step(kind: StepKind, target: Target, instance_id: int | None = None) -> Step:
    return Step(kind=kind, profile=target.profile, start=target.start, size=target.size, instance_id=instance_id)


def _compute_step(kind: StepKind, instance: PlacedInstance, compute: PlacedCompute) -> Step:
    return Step(
        kind=kind,
        profile=instance.profile,
        start=instance.start or 0,
        size=instance.size or 0,
        slices=compute.slices,
        compute_start=compute.start or 0,
        instance_id=instance.id,
        compute_id=compute.id,
    )


def _new_compute(target: Target, compute: TargetCompute) -> Step:
    return Step(
        kind=StepKind.CREATE_COMPUTE,
        profile=target.profile,
        start=target.start,
        size=target.size,
        slices=compute.slices,
        compute_start=compute.start,
    )
