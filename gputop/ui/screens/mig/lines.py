"""Lines of the MIG page: a bar of memory slots, instances with their processes, and room for more."""

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

from gputop.core.mig.model import MigGpu, PlacedCompute, PlacedInstance, User, free_slots
from gputop.core.mig.text import mode_text, room_lines
from gputop.core.model.catalogue import (
    DRAM_ACTIVE,
    GRAPHICS_ACTIVE,
    MEMORY_TOTAL,
    MEMORY_USED,
    SM_ACTIVE,
    TENSOR_ACTIVE,
)
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Frame, Gpu, GpuInstance, HostProcess
from gputop.core.model.units import NOTHING, bytes_text, percent_text
from gputop.core.text.cells import width as cells
from gputop.core.text.fit import fit
from gputop.ui.render.line import BLANK, Line, Span, Spans
from gputop.ui.screens.pages.process_lines import wrapped

BUSY: Final = "●"
_IN_USE, _IDLE, _FREE = "█", "▄", "╌"
_COLOURS: Final = ("utilization", "memory", "power", "temperature", "cpu")  # neighbours get different ones
_ACTIVITIES: Final = (
    ("compute", GRAPHICS_ACTIVE), ("SMs", SM_ACTIVE), ("tensor", TENSOR_ACTIVE), ("DRAM", DRAM_ACTIVE),
)  # fmt: skip
_HIDDEN: Final = (
    "Run gputop as root to see the placement of instances and unusable instances. Read access to the device file that "
    "allows MIG configuration (usually /dev/nvidia-caps/nvidia-cap1) is enough too."
)


def mig_page(gpu: MigGpu, shown: Gpu | None, frame: Frame | None, width: int) -> list[Line]:
    """Return the page. ``shown``: the GPU in ``frame``, for the activity of its instances."""
    if gpu.is_on is None:
        return paragraph(f"This GPU cannot be partitioned: {gpu.why or 'it does not support MIG'}.", width, "warm")
    lines = paragraph(mode_text(gpu), width, "accent" if gpu.is_on else "warm")
    if gpu.is_on:
        lines += [BLANK, *bar_lines(gpu, width)] if is_placed(gpu) else []
        if Missing.FORBIDDEN in gpu.missing.values():
            lines += [BLANK, *paragraph(_HIDDEN, width, "warm")]
        said = _said_of_all(shown)
        lines += [BLANK, Line((("All instances", "text"),)), said] if said is not None else []
        for at, instance in enumerate(gpu.instances):
            lines += [BLANK, *(one for one in _instance(gpu, instance, at, shown, frame, width) if one != said)]
        if not gpu.instances:
            lines += [BLANK, *paragraph("This GPU has no instances, so no process can use it yet.", width, "warm")]
    if gpu.users:
        where = "Processes outside the instances" if gpu.is_on else "Processes"
        lines += [BLANK, Line(((where, "accent"),)), *_users(gpu.users, frame, width)]
    if gpu.is_on:
        lines += [BLANK, Line((("Room for more", "accent"),))]
        lines += [line for text in room_lines(gpu) for line in paragraph(text, width)]
    elif gpu.geometry.profiles:
        lines += [BLANK, Line((("Instances that fit with MIG on", "accent"),)), *_profiles(gpu, width)]
    return lines


def is_placed(gpu: MigGpu) -> bool:
    """Return whether the placement of the instances is known."""
    return gpu.geometry.slots > 0 and not {"placements", "instances"} & set(gpu.missing)


def bar_lines(gpu: MigGpu, width: int) -> list[Line]:
    """Return the memory slots as a bar: numbers, blocks, and the names of the instances."""
    slots = gpu.geometry.slots
    cell = max(2, width // slots)
    numbers = "".join(f"{slot:<{cell}}" for slot in range(slots))
    blocks: Spans = []
    names: Spans = []
    for size, at, instance in _pieces(gpu):
        wide = size * cell
        if instance is None:
            blocks.append((_FREE * (wide - 1) + " ", "muted"))
            names.append((fit("free", wide - 1) + " ", "muted"))
            continue
        sign = _IN_USE if instance.everyone else _IDLE
        blocks.append((sign * (wide - 1) + " ", _colour(at)))
        names.append((fit(_name(gpu, instance, wide - 1), wide - 1) + " ", _colour(at)))
    legend = f"{_IN_USE} in use  {_IDLE} idle  {_FREE} free; the numbers are memory slots"
    return [Line(((numbers, "muted"),)), Line(tuple(blocks)), Line(tuple(names)), Line(((legend, "faint"),))]


def paragraph(text: str, width: int, ink: str = "text", indent: int = 0) -> list[Line]:
    """Return text in lines; those after the first are indented further."""
    first, rest = " " * indent, " " * (indent + 2)
    if cells(text) != len(text):  # textwrap counts characters, not cells
        lines = wrapped(text, max(20, width - len(rest)))
        return [Line((((first if at == 0 else rest) + line, ink),)) for at, line in enumerate(lines)]
    parts = wrap(text, max(20, width), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [Line(((part, ink),)) for part in parts]


def _pieces(gpu: MigGpu) -> Iterator[tuple[int, int, PlacedInstance | None]]:
    """Yield the slots from left to right: size, number of the instance, and the instance (None: a free slot)."""
    free = set(free_slots(gpu.geometry.slots, gpu.occupied))
    taken = {one.start: (one.size or 1, at, one) for at, one in enumerate(gpu.instances) if one.start is not None}
    for slot in range(gpu.geometry.slots):
        if slot in free:
            yield 1, 0, None
        elif slot in taken:
            yield taken[slot]


def _name(gpu: MigGpu, instance: PlacedInstance, wide: int) -> str:
    """Return the profile's name, without the memory if that does not fit."""
    profile = gpu.geometry.profile(instance.profile)
    return instance.profile if len(instance.profile) <= wide or profile is None else profile.short


def _instance(  # noqa: PLR0917 - all that is known of it
    gpu: MigGpu, instance: PlacedInstance, at: int, shown: Gpu | None, frame: Frame | None, width: int
) -> Iterator[Line]:
    held = next((one for one in shown.instances if one.id == instance.id), None) if shown is not None else None
    profile = gpu.geometry.profile(instance.profile)
    facts = [f"GPU instance {instance.id}"]
    if profile is not None:
        facts += [f"{profile.multiprocessors} SMs"] if profile.multiprocessors else []
    facts.append(_memory(held, profile.memory_bytes if profile else None))
    yield Line(((instance.text, _colour(at)), ("  " + " · ".join(facts), "text")))
    if held is not None:
        yield _activity(held)
    if not instance.computes:
        yield from paragraph("no compute instance, so no process can use it yet", width, "warm", 2)
    for compute in instance.computes:
        yield _compute(compute)
        yield from _users(compute.users, frame, width)
    yield from _users(instance.users, frame, width)


def _memory(held: GpuInstance | None, size: float | None) -> str:
    used = held[MEMORY_USED] if held is not None else None
    total = held[MEMORY_TOTAL] if held is not None else None
    if used is None:
        return f"memory {bytes_text(total if total is not None else size)}"
    return f"memory {bytes_text(used)} of {bytes_text(total if total is not None else size)}"


def _activity(held: GpuInstance) -> Line:
    """Return the activity of an instance; the driver reports no utilization for instances."""
    activities = [f"{name} {percent_text(held[metric])}" for name, metric in _ACTIVITIES if held[metric] is not None]
    if activities:
        return Line((("  active: ", "muted"), (" · ".join(activities), "text")))
    why = held.why(GRAPHICS_ACTIVE)
    return Line(((f"  active: {NOTHING} {why.text if why else ''}", "muted"),))


def _said_of_all(shown: Gpu | None) -> Line | None:
    """Return why the activity of the instances is unknown, if all of several have the same reason."""
    lines = [_activity(held) for held in shown.instances] if shown is not None else []
    is_same = len(lines) > 1 and all(line == lines[0] for line in lines)
    return lines[0] if is_same and NOTHING in lines[0].spans[0][0] else None


def _compute(compute: PlacedCompute) -> Line:
    place = "" if compute.start is None else f"@{compute.start}"
    return Line(((f"  {compute.slices}c{place} ", "muted"), (compute.uuid or "no MIG device", "text")))


def _users(users: Iterable[User], frame: Frame | None, width: int) -> Iterator[Line]:
    """Yield its processes: pid, user, owner and command, and the command that ends each."""
    known = {one.pid: one for one in frame.processes} if frame is not None else {}
    for user in users:
        owner = _owner(known.get(user.pid))
        said = " ".join(part for part in (str(user.pid), user.user and f"({user.user})", owner) if part)
        spans: list[Span] = [(f"    {BUSY} ", "accent"), (said + " ", "title")]
        yield Line((*spans, (fit(user.command, max(1, width - 7 - len(said))).rstrip(), "text")))
        if user.how:
            yield from paragraph(f"to end it: {user.how}", width, "muted", indent=6)


def _owner(process: HostProcess | None) -> str:
    if process is None:
        return ""
    named = ((name, process.owner.named(name.lower())) for name in ("Slurm", "pod", "container"))
    return next((f"[{name} {text}]" for name, text in named if text), "")


def _profiles(gpu: MigGpu, width: int) -> Iterator[Line]:
    for profile in gpu.geometry.profiles:
        starts = ",".join(map(str, profile.starts))
        size = f"{profile.multiprocessors} SMs, {bytes_text(profile.memory_bytes)}"
        text = f"{profile.most} x {profile.name:<12} {size}, {profile.size} slot{'s' * (profile.size > 1)}, at {starts}"
        yield from paragraph(text, width, indent=2)


def _colour(at: int) -> str:
    return _COLOURS[at % len(_COLOURS)]
