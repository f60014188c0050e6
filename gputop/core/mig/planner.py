"""The planner: the smallest change from the current to the requested layout, as steps in a possible order.

A plan destroys the fewest GPU instances, then the fewest compute instances; among equals it leaves the most room. It
destroys busy instances only if forced. Planning is deterministic.
"""

from collections.abc import Iterable, Iterator, Sequence

from gputop.core.mig.model import Layout, MigGpu, PlacedInstance, Target, TargetCompute, layout, union
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
        return _assembled(gpu, Choice(tuple((one, one.target.computes) for one in gpu.instances), ()), is_on=True)
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


def _keeps_its_users(instance: PlacedInstance, computes: Sequence[TargetCompute]) -> bool:
    return all(one.target in computes for one in instance.computes if one.users)


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
        target, stays = instance.target, kept.get(instance.id, ())
        for compute in instance.computes:
            if compute.target not in stays:
                ids = {"instance_id": instance.id, "compute_id": compute.id}
                yield _step(StepKind.DESTROY_COMPUTE, target, compute.target, **ids)
        if instance.id not in kept:
            yield _step(StepKind.DESTROY_INSTANCE, target, instance_id=instance.id)
    if was_on and not is_on:
        yield Step(kind=StepKind.DISABLE)
    if is_on and not was_on:
        yield Step(kind=StepKind.ENABLE)
    if was_on is is_on and gpu.is_on_next not in (None, is_on):  # take back what waits for a reset
        yield Step(kind=StepKind.ENABLE if is_on else StepKind.DISABLE)
    for target in choice.created:
        yield _step(StepKind.CREATE_INSTANCE, target)
        yield from (_step(StepKind.CREATE_COMPUTE, target, compute) for compute in target.computes)
    for instance, computes in choice.kept:
        old = instance.target.computes
        yield from (_step(StepKind.CREATE_COMPUTE, instance.target, one) for one in computes if one not in old)


def _step(kind: StepKind, target: Target, compute: TargetCompute | None = None, **ids: int) -> Step:
    slices, start = (compute.slices, compute.start) if compute else (0, 0)
    return Step(
        kind=kind,
        profile=target.profile,
        start=target.start,
        size=target.size,
        slices=slices,
        compute_start=start,
        **ids,
    )
