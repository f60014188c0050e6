"""MIG as text: the layout as a bar of memory slots, plans, obstacles, and commands that use the instances."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gputop.core.mig.explain import Blocked, NoPlan, addable, blocked, fragments, free_text, unreadable
from gputop.core.mig.model import Holders, Layout, MigGpu, PlacedInstance, Target, User, free_slots
from gputop.core.mig.request import Item, wish_text
from gputop.core.mig.steps import Plan, Step, StepKind
from gputop.core.model.units import bytes_text

_CELL: Final = 12  # of the bar, a memory slot
_BUSY: Final = "●"


def layout_text(layout: Layout) -> str:
    """Return ``1g.10gb@0 3g.40gb@4``."""
    return " ".join(target.text for target in layout) or "no instances"


def state_text(layout: Layout, *, is_on: bool) -> str:
    """Return the layout as text, or ``MIG off``."""
    return layout_text(layout) if is_on else "MIG off"


def mode_text(gpu: MigGpu) -> str:
    """Return the MIG mode as text, with a pending change."""
    if gpu.is_on is None:
        return f"no MIG: {gpu.why}"
    now = "on" if gpu.is_on else "off"
    if gpu.is_on_next is None or gpu.is_on_next is gpu.is_on:
        return f"MIG {now}"
    return f"MIG {now}, {'on' if gpu.is_on_next else 'off'} after a reset"


def bar(gpu: MigGpu, cell: int = _CELL) -> str:
    """Return the memory slots as a line: ``[1g.10gb●   |            |3g.40gb●             ]``."""
    return "[" + "|".join(text for _, text in cells(gpu, cell)) + "]"


def cells(gpu: MigGpu, cell: int = _CELL) -> Iterator[tuple[PlacedInstance | None, str]]:
    """Yield the instances in the memory slots, left to right, with texts as wide as their slots; None: a free slot."""
    by_start = {one.start: one for one in gpu.instances if one.start is not None}
    slot, slots = 0, gpu.geometry.slots
    while slot < slots:
        instance = by_start.get(slot)
        size = max(1, (instance.size or 1) if instance else 1)
        name = f"{instance.profile}{_BUSY if instance.everyone else ''}" if instance else str(slot)
        wide = size * cell + size - 1
        yield instance, f"{name:<{wide}}"[:wide]
        slot += size


def status_lines(gpu: MigGpu) -> Iterator[str]:
    """Return the MIG status of a GPU as lines."""
    yield f"GPU {gpu.index} {gpu.name}: {mode_text(gpu)}"
    if gpu.is_on is None:
        return
    if gpu.is_on and gpu.geometry.slots and "instances" not in gpu.missing:
        yield f"  {bar(gpu)}"
    for instance in gpu.instances:
        yield from (f"  {line}" for line in instance_lines(gpu, instance))
    yield from (f"  {line}" for line in _users_lines(gpu.users))
    if gpu.is_on:
        yield from (f"  {line}" for line in room_lines(gpu))


def instance_lines(gpu: MigGpu, instance: PlacedInstance) -> Iterator[str]:
    """Return an instance with its compute instances and processes as lines."""
    profile = gpu.geometry.profile(instance.profile)
    size = f", {profile.multiprocessors} SMs, {bytes_text(profile.memory_bytes)}" if profile else ""
    yield f"{instance.text} (GPU instance {instance.id}{size})"
    if not instance.computes:
        yield "  no compute instance: no program can use it yet"
    for compute in instance.computes:
        place = "" if compute.start is None else f"@{compute.start}"
        yield f"  {compute.slices}c{place} {compute.uuid}".rstrip()
        yield from (f"  {line}" for line in _users_lines(compute.users))
    yield from _users_lines(instance.users)


def room_lines(gpu: MigGpu) -> Iterator[str]:
    """Return as lines what else fits, what blocks the rest, and what would fit after moving idle instances."""
    obstacle = unreadable(gpu)
    if obstacle:
        yield f"cannot say what fits: {obstacle}"
        return
    more = {name: count for name, count in addable(gpu).items() if count}
    yield f"free slots: {free_text(gpu)}; room for: {', '.join(f'{n} x {p}' for p, n in more.items()) or 'nothing'}"
    if gpu.remaining and {name: count for name, count in gpu.remaining.items() if count} != more:
        theirs = ", ".join(f"{count} x {name}" for name, count in gpu.remaining.items() if count) or "nothing"
        yield f"the driver reports room for: {theirs}"
    yield from _tail_lines(gpu)
    yield from _blocked_lines(gpu)
    for fragment in fragments(gpu):
        moves = ", ".join(fragment.moves)
        then, now = fragment.then, fragment.now
        yield f"fragmented: {then} x {fragment.profile} instead of {now} would fit after moving {moves}"


def plan_lines(gpu: MigGpu, plan: Plan) -> Iterator[str]:
    """Return a plan as lines: what stays, the steps, and notes to read before."""
    if not plan.steps:
        yield f"GPU {plan.index}: nothing to do, already in this layout: {state_text(plan.after, is_on=plan.is_on)}"
        return
    yield f"GPU {plan.index}: {plan_summary(plan)}"
    yield f"  now:  {state_text(plan.before, is_on=plan.was_on)}"
    yield f"  then: {state_text(plan.after, is_on=plan.is_on)}"
    for target in plan.kept:
        yield f"  = stays   {_kept_text(gpu, target)}"
    yield from (f"  - {step.text}" for step in plan.steps if _is_loss(step))
    yield from (f"  + {step.text}" for step in plan.steps if not _is_loss(step))
    yield from (f"  ! {note}" for note in plan_notes(gpu, plan))


def plan_summary(plan: Plan) -> str:
    """Return ``keep 2, destroy 1, create 2``."""
    counts = (("keep", plan.kept), ("destroy", plan.destroyed), ("create", plan.created))
    words = [f"{word} {len(targets)}" for word, targets in counts if targets]
    if plan.changes_mode:
        words.insert(0, f"turn MIG {'on' if plan.is_on else 'off'}")
    elif any(step.kind in _MODES for step in plan.steps):
        words.insert(0, "cancel the pending mode change")
    if any(step.kind in _COMPUTES for step in plan.steps) and not (plan.destroyed or plan.created):
        words.append("change compute instances")
    return ", ".join(words)


def plan_notes(gpu: MigGpu, plan: Plan) -> Iterator[str]:
    """Return notes to read before a plan runs: resets, losses, processes in the way."""
    if plan.changes_mode and plan.is_on and gpu.is_silent:
        yield "the driver reports the profiles of this GPU only with MIG on; gputop plans the instances then"
    if plan.changes_mode and gpu.needs_reset:
        yield (
            "this GPU changes its MIG mode only at a reset, so the plan stops with the mode pending. "
            f"Then run {reset_line(gpu.index)} (or reboot), and repeat the request"
        )
    if plan.is_on and not plan.was_on and not gpu.keeps_mode:
        yield "mode and instances are lost at a reboot or a driver reload: see gputop mig service"
        if gpu.is_persistent is False:
            yield "persistence mode is off: the driver may lose both when the last program closes the GPU"
    elif plan.created:
        yield "instances are lost at a reboot or a reset: see gputop mig service"
    gone = {(target.profile, target.start) for target in plan.destroyed}
    for one in gpu.busy:
        if (one.profile, one.start) in gone:
            yield f"{one.text} is in use: {', '.join(user.text for user in one.everyone)}"


def holder_lines(holders: Holders | None) -> Iterator[str]:
    """Return the processes that have a GPU open, and how to end each; its mode cannot change before they close it.

    ``holders``: None if they could not be read.
    """
    if holders is None:
        yield "cannot see which processes have the GPU open"
        return
    for user in holders.users:
        yield f"has the GPU open: {user.text}" + (f"   to end it: {user.how}" if user.how else "")
    if holders.unseen:
        yield f"cannot see the open files of {holders.unseen} processes: run gputop with sudo"


def no_plan_lines(answer: NoPlan) -> Iterator[str]:
    """Return as lines why no plan exists, which processes are in the way, and what is possible now."""
    yield f"GPU {answer.index}: not possible: {answer.reason}"
    for instance in answer.in_the_way:
        yield from (f"{line}   (on {instance.text})" for line in _users_lines(instance.everyone))
    yield from _users_lines(answer.users)
    if answer.nearest:
        yield "  possible now: " + "   ".join(answer.nearest)


def target_text(targets: Iterable[Target], gpu: MigGpu) -> str:
    """Return a layout as the text of a request, without placements."""
    items = [
        Item(target.profile, tuple(sorted((compute.slices for compute in target.computes), reverse=True)))
        for target in targets
    ]
    return wish_text(items, gpu.geometry)


def smi_lines(index: int, steps: Sequence[Step]) -> Iterator[str]:
    """Return the equivalent nvidia-smi commands, as far as they exist, to read or copy."""
    for step in steps:
        match step.kind:
            case StepKind.ENABLE | StepKind.DISABLE:
                yield f"nvidia-smi -i {index} -mig {int(step.kind is StepKind.ENABLE)}"
            case StepKind.DESTROY_COMPUTE:
                yield f"nvidia-smi mig -i {index} -gi {step.instance_id} -ci {step.compute_id} -dci"
            case StepKind.DESTROY_INSTANCE:
                yield f"nvidia-smi mig -i {index} -gi {step.instance_id} -dgi"
            case StepKind.CREATE_INSTANCE:
                yield f"nvidia-smi mig -i {index} -cgi {step.profile}:{step.start}"
            case StepKind.CREATE_COMPUTE:
                yield f"nvidia-smi mig -i {index} -gi ID -cci {_part(step)}"


def use_lines(gpu: MigGpu) -> Iterator[str]:
    """Return the lines that use the instances: CUDA, docker, Kubernetes."""
    for instance in gpu.instances:
        for compute in instance.computes:
            if compute.uuid:
                yield f"# {instance.text}, GPU {gpu.index}"
                yield f"CUDA_VISIBLE_DEVICES={compute.uuid}"
                yield f"docker run --rm --gpus '\"device={compute.uuid}\"' IMAGE"
    names = dict.fromkeys(one.profile for one in gpu.instances if one.computes)
    for name in names:
        yield f"# GPU {gpu.index}, {name} in a pod: container resource limit; device plugin with MIG strategy mixed"
        yield f"nvidia.com/mig-{name.replace('+', '.')}: 1"


def reset_line(index: int) -> str:
    """Return the command that resets a GPU."""
    return f"sudo nvidia-smi -i {index} --gpu-reset"


_MODES: Final = frozenset({StepKind.ENABLE, StepKind.DISABLE})
_COMPUTES: Final = frozenset({StepKind.DESTROY_COMPUTE, StepKind.CREATE_COMPUTE})


def _tail_lines(gpu: MigGpu) -> Iterator[str]:
    """Say that no instance begins at a free slot, as at the last slot of a GPU with seven compute slices."""
    starts = {start for profile in gpu.geometry.profiles for start in profile.starts}
    for slot in free_slots(gpu.geometry.slots, gpu.occupied):
        if slot not in starts:
            yield f"no instance can begin at slot {slot}: only a larger one that begins before it can use it"


def _blocked_lines(gpu: MigGpu) -> Iterator[str]:
    """Return, for each profile without room, the instances at the placement that is easiest to free."""
    best: dict[str, Blocked] = {}
    for each in blocked(gpu):
        profile = gpu.geometry.profile(each.profile)
        if profile is not None and not profile.attribute:
            best[each.profile] = min(best.get(each.profile, each), each, key=_weight)
    for each in best.values():
        overlapped = ", ".join(_marked(one) for one in each.by)
        yield f"no room for {each.profile}: at slot {each.start} it overlaps {overlapped}"


def _weight(place: Blocked) -> tuple[int, int, int]:
    return sum(bool(one.everyone) for one in place.by), sum(one.size or 0 for one in place.by), place.start


def _marked(instance: PlacedInstance) -> str:
    return instance.text + (_BUSY if instance.everyone else "")


def _is_loss(step: Step) -> bool:
    return step.kind in (StepKind.DESTROY_COMPUTE, StepKind.DESTROY_INSTANCE, StepKind.DISABLE)


def _part(step: Step) -> str:
    whole = int(step.profile.partition("g")[0] or 0)
    return step.profile if step.slices == whole else f"{step.slices}c.{step.profile}"


def _kept_text(gpu: MigGpu, target: Target) -> str:
    found = next((one for one in gpu.instances if (one.profile, one.start) == (target.profile, target.start)), None)
    who = ", ".join(user.text for user in found.everyone) if found else ""
    return f"{target.text} ({who})" if who else target.text


def _users_lines(users: Iterable[User]) -> Iterator[str]:
    for user in users:
        yield f"  {_BUSY} {user.text}" + (f"   to end it: {user.how}" if user.how else "")
