"""Choice of the freest GPUs, with the reasons against the others."""

from collections.abc import Container, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.catalogue import MIG_MODE
from gputop.core.model.load import BUSY_PERCENT
from gputop.core.model.sample import Frame, Gpu, GpuProcess, GpuState
from gputop.core.model.units import bytes_text
from gputop.core.query.free import candidate, vacancies
from gputop.core.query.place import NO_INSTANCE, Candidate, Obstacle, Place, places, refusal, uses_by_gpu
from gputop.core.query.selection import why_no_gpus

_FREE_STEP_BYTES: Final = 1024**3  # less than a step apart, GPUs count as equally free
_BUSY_STEP_PERCENT: Final = 5
ANY_PERCENT: Final = 100.0  # a limit that any GPU keeps, also one whose utilization is unknown


class Wish(Struct, frozen=True, kw_only=True):
    """The requirements; usually the GPU is not busy. ``with_instances``: accept MIG instances."""

    count: int = 1
    min_free_bytes: float = 0.0
    max_utilization_percent: float = BUSY_PERCENT
    with_instances: bool = False


class Pick(Struct, frozen=True, kw_only=True):
    """The result, freest first; empty if there are not enough. ``suitable``: the number of suitable ones.

    ``problem``: why no GPU was considered; empty if one was.
    """

    chosen: tuple[Candidate, ...]
    suitable: int
    obstacles: tuple[Obstacle, ...]
    problem: str = ""


def pick(before: Frame, now: Frame, wish: Wish) -> Pick:
    """Choose by two readings.

    Free ones come first, then free memory counts, in whole GiB, then utilization, then the number of processes. GPUs
    and instances are never mixed, as CUDA sees one kind or the other: instances if whole GPUs are not enough.
    """
    earlier = {gpu.uuid: gpu for gpu in before.gpus}
    uses = uses_by_gpu(now)
    free = {one.place for one in vacancies(before, now).free}
    judged = [one for gpu in now.gpus for one in _judged((earlier.get(gpu.uuid, gpu), gpu), uses[gpu.uuid], free, wish)]
    suitable = sorted((one for one in judged if isinstance(one, Candidate)), key=_rank)
    whole = [one for one in suitable if not one.is_instance]
    instances = [one for one in suitable if one.is_instance]
    enough = next((held for held in (whole, instances) if len(held) >= wish.count), [])
    return Pick(
        chosen=tuple(enough[: wish.count]),
        suitable=max(len(whole), len(instances)),
        obstacles=tuple(one for one in judged if isinstance(one, Obstacle)),
        problem="" if now.gpus else why_no_gpus(now),
    )


def _rank(one: Candidate) -> tuple[float, ...]:
    busy = 100.0 if one.utilization_percent is None else one.utilization_percent  # the unknown may be the worst
    place = (float(part) for part in one.place.split(":"))
    free = (one.free_bytes or 0) // _FREE_STEP_BYTES
    return (not one.is_free, -free, busy // _BUSY_STEP_PERCENT, one.processes, *place)


def _judged(
    readings: tuple[Gpu, Gpu], uses: Sequence[GpuProcess], free: Container[str], wish: Wish
) -> list[Candidate | Obstacle]:
    before, gpu = readings
    reason = refusal(gpu, uses)
    if not reason and gpu[MIG_MODE] and not wish.with_instances:
        reason = "it is in MIG mode; use --mig to choose its instances"
    name = str(gpu.index)
    if reason:
        return [Obstacle(place=name, reason=reason, is_failure=gpu.state is not GpuState.OK)]
    own = [_weighed(place, place.name in free, wish) for place in places(gpu, before, uses)]
    return own or [Obstacle(place=name, reason=NO_INSTANCE)]


def _weighed(place: Place, is_free: bool, wish: Wish) -> Candidate | Obstacle:  # noqa: FBT001
    """Compare readings with the requirements."""
    found = candidate(place, is_free=is_free)
    reason = _lacking(found, wish)
    return Obstacle(place=place.name, reason=reason) if reason else found


def _lacking(found: Candidate, wish: Wish) -> str:
    free, busy, most = found.free_bytes, found.utilization_percent, wish.max_utilization_percent
    if free is None:
        return "its free memory is unknown"
    if free < wish.min_free_bytes:
        return f"only {bytes_text(free)} of the required {bytes_text(wish.min_free_bytes)} are free"
    if busy is None:
        return "" if found.is_free or most >= ANY_PERCENT else "its utilization is unknown"
    return f"its utilization is {busy:.0f} %, above the allowed {most:g} % (--max-util)" if busy > most else ""
