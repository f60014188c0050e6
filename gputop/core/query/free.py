"""Which GPUs are free: no program computes on them, nothing loads them, and no unknown process holds their memory.

A GPU is free only if that is known: one whose processes cannot be read is not.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.catalogue import MEMORY_FREE, MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.load import BUSY_PERCENT, is_held
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Frame, Gpu, GpuProcess, GpuState
from gputop.core.model.units import bytes_text
from gputop.core.query.place import NO_INSTANCE, Candidate, Obstacle, Place, places, refusal, uses_by_gpu

_PAIR: Final = 2


class Vacancies(Struct, frozen=True, kw_only=True):
    """The free GPUs and compute instances, in the order of the GPUs, and the reason against each other one."""

    free: tuple[Candidate, ...] = ()
    others: tuple[Obstacle, ...] = ()

    def is_free(self, gpu: Gpu) -> bool:
        """Say whether a GPU is free: itself, or all of its compute instances."""
        name, part = str(gpu.index), f"{gpu.index}:"
        taken = any(one.place == name or one.place.startswith(part) for one in self.others)
        return not taken and any(one.place == name or one.place.startswith(part) for one in self.free)


def vacancies(before: Frame, now: Frame) -> Vacancies:
    """Judge all GPUs by two readings, or by one if both are the same."""
    earlier = {gpu.uuid: gpu for gpu in before.gpus}
    uses = uses_by_gpu(now)
    judged = [one for gpu in now.gpus for one in _judged(gpu, earlier.get(gpu.uuid, gpu), uses[gpu.uuid], now)]
    return Vacancies(
        free=tuple(one for one in judged if isinstance(one, Candidate)),
        others=tuple(one for one in judged if isinstance(one, Obstacle)),
    )


def _judged(gpu: Gpu, before: Gpu, uses: Sequence[GpuProcess], now: Frame) -> list[Candidate | Obstacle]:
    name = str(gpu.index)
    if gpu.state is not GpuState.OK:
        return [Obstacle(place=name, reason=Missing(gpu.state.value).text, is_failure=True)]
    silence = gpu.missing.get("processes") or now.host.missing.get("processes")
    if silence is not None:
        return [Obstacle(place=name, reason=f"its processes are unknown: {silence.text}", is_failure=True)]
    reason = refusal(gpu, uses)
    if reason:
        return [Obstacle(place=name, reason=reason)]
    return [_weighed(place) for place in places(gpu, before, uses)] or [Obstacle(place=name, reason=NO_INSTANCE)]


def _weighed(place: Place) -> Candidate | Obstacle:
    if place.readings[1][MEMORY_USED] is None:
        return Obstacle(place=place.name, reason="its used memory is unknown", is_failure=True)
    reason = why_taken(place)
    return Obstacle(place=place.name, reason=reason) if reason else candidate(place, is_free=True)


def why_taken(place: Place) -> str:
    """Return what uses a place whose processes are known; empty if it is free.

    A process that only draws does not count, but its load does. An unknown utilization does not count either: a program
    that computes is a process and holds memory.
    """
    computing = sum(use.type != "G" for use in place.uses)
    busy = place.utilization_percent
    parts = [f"{computing} process{'es' if computing > 1 else ''}"] if computing else []
    if busy is not None and busy > BUSY_PERCENT:
        parts.append(f"{busy:.0f} % busy")
    held = 0 if computing else _held_by_none(place)
    if held:
        parts.append(f"{bytes_text(held)} of its memory are used by no visible process")
    return ", ".join(parts)


def candidate(place: Place, *, is_free: bool) -> Candidate:
    """Return what is known of a place."""
    return Candidate(
        place=place.name,
        uuid=place.uuid,
        name=place.model,
        is_instance=place.is_instance,
        is_free=is_free,
        free_bytes=place.readings[1][MEMORY_FREE],
        utilization_percent=place.utilization_percent,
        processes=len(place.uses),
    )


def summary(found: Vacancies, *, has_names: bool = True) -> str:
    """Return the free GPUs in a line: 3 of 8 GPUs free: 1 4 7. Instances count apart: a program can use only one."""
    unknown = sum(one.is_failure for one in found.others)
    counts = [_counted(found, is_instance=kind, has_names=has_names) for kind in (False, True)]
    return " · ".join(text for text in (*counts, f"{unknown} unknown" if unknown else "") if text)


def _counted(found: Vacancies, *, is_instance: bool, has_names: bool) -> str:
    free = [one.place for one in found.free if one.is_instance == is_instance]
    total = len(free) + sum((":" in one.place) == is_instance for one in found.others)
    what = "instances" if is_instance else "GPUs"
    listed = f": {' '.join(_ranges(free))}" if free and has_names else ""
    return f"{len(free)} of {total} {what} free{listed}" if total else ""


def _ranges(names: Sequence[str]) -> list[str]:
    """Return names, with three or more numbers in sequence as 0-2."""
    runs: list[list[str]] = []
    for name in names:
        follows = runs and name.isdecimal() and runs[-1][-1].isdecimal() and int(name) == int(runs[-1][-1]) + 1
        runs[-1].append(name) if follows else runs.append([name])
    return [word for run in runs for word in ([f"{run[0]}-{run[-1]}"] if len(run) > _PAIR else run)]


def _held_by_none(place: Place) -> int:
    """Return the used memory that no listed process holds, if it is more than the driver itself may need."""
    used, total = place.readings[1][MEMORY_USED] or 0, place.readings[1][MEMORY_TOTAL] or 0
    held = used - sum(use.memory_bytes or 0 for use in place.uses)
    return held if is_held(held, total) else 0
