"""Choice of the freest GPUs, with the reasons against the others."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import COMPUTE_MODE, GPU_UTILIZATION, GRAPHICS_ACTIVE, MEMORY_FREE, MIG_MODE, SM_ACTIVE
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame, Gpu, GpuInstance, GpuProcess, GpuState, Readings
from gputop.core.model.units import bytes_text
from gputop.core.query.selection import why_no_gpus

_FREE_STEP_BYTES: Final = 1024**3  # less than a step apart, GPUs count as equally free
_BUSY_STEP_PERCENT: Final = 5
_OF_A_GPU: Final[tuple[Metric[Any], ...]] = (GPU_UTILIZATION,)
_OF_AN_INSTANCE: Final[tuple[Metric[Any], ...]] = (SM_ACTIVE, GRAPHICS_ACTIVE)  # instances have no utilization


class Wish(Struct, frozen=True, kw_only=True):
    """The requirements. ``max_utilization_percent``: None is no limit. ``with_instances``: accept MIG instances."""

    count: int = 1
    min_free_bytes: float = 0.0
    max_utilization_percent: float | None = None
    with_instances: bool = False


class Candidate(Struct, frozen=True, kw_only=True):
    """A suitable GPU or compute instance.

    ``place``: the index; 0:3 with a GPU instance, 0:3:1 with one of its compute instances. ``uuid``: as
    CUDA_VISIBLE_DEVICES accepts it. ``utilization_percent``: the higher of two readings; None if unknown.
    """

    place: str
    uuid: str
    name: str
    is_instance: bool
    free_bytes: int
    utilization_percent: float | None
    processes: int


class Obstacle(Struct, frozen=True, kw_only=True):
    """The reason why a GPU or an instance is not suitable. ``is_failure``: the GPU is lost or does not answer."""

    place: str
    reason: str
    is_failure: bool = False


class Pick(Struct, frozen=True, kw_only=True):
    """The result, freest first; empty if there are not enough. ``suitable``: the number of suitable ones.

    ``problem``: why no GPU was considered; empty if one was.
    """

    chosen: tuple[Candidate, ...]
    suitable: int
    obstacles: tuple[Obstacle, ...]
    problem: str = ""


class _Place(Struct, frozen=True):
    """A GPU or compute instance with its earlier and current readings, and its processes."""

    name: str
    uuid: str
    model: str
    readings: tuple[Readings, Readings]
    uses: Sequence[GpuProcess]

    @property
    def is_instance(self) -> bool:
        return isinstance(self.readings[1], GpuInstance)


def pick(before: Frame, now: Frame, wish: Wish) -> Pick:
    """Choose by two readings.

    Free memory counts first, in whole GiB, then utilization, then the number of processes. GPUs and instances are never
    mixed, as CUDA sees one kind or the other: instances are chosen if whole GPUs are not enough.
    """
    earlier = {gpu.uuid: gpu for gpu in before.gpus}
    uses = [use for process in now.processes for use in process.gpus]
    judged = [one for gpu in now.gpus for one in _judged(gpu, earlier.get(gpu.uuid, gpu), uses, wish)]
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
    return (-(one.free_bytes // _FREE_STEP_BYTES), busy // _BUSY_STEP_PERCENT, one.processes, *place)


def _judged(gpu: Gpu, before: Gpu, uses: Iterable[GpuProcess], wish: Wish) -> list[Candidate | Obstacle]:
    here = [use for use in uses if use.gpu == gpu.uuid]
    refusal = _refusal(gpu, here)
    if not refusal and gpu[MIG_MODE]:
        refusal = _no_instances(gpu, wish)
    if refusal:
        return [Obstacle(place=str(gpu.index), reason=refusal, is_failure=gpu.state is not GpuState.OK)]
    if gpu[MIG_MODE]:
        return [_weighed(place, wish) for place in _instances(gpu, before, here)]
    return [_weighed(_Place(str(gpu.index), gpu.uuid, gpu.name, (before, gpu), here), wish)]


def _refusal(gpu: Gpu, uses: Sequence[GpuProcess]) -> str:
    """Return why no program can start on a GPU, whatever the requirements; empty if one can."""
    if gpu.state is not GpuState.OK:
        return Missing(gpu.state.value).text
    mode = gpu[COMPUTE_MODE] or ""
    if mode == "prohibited":
        return "its compute mode is prohibited"
    if mode.startswith("exclusive") and any(use.type != "G" for use in uses):
        return f"its compute mode is {mode}, and a process is on it"
    return ""


def _no_instances(gpu: Gpu, wish: Wish) -> str:
    if not wish.with_instances:
        return "it is in MIG mode; use --mig to choose its instances"
    has_any = any(instance.compute_instances for instance in gpu.instances)
    return "" if has_any else "it is in MIG mode and has no compute instance"


def _instances(gpu: Gpu, before: Gpu, uses: Sequence[GpuProcess]) -> Iterator[_Place]:
    earlier = {instance.id: instance for instance in before.instances}
    for instance in gpu.instances:
        here = [use for use in uses if use.gpu_instance == instance.id]
        for part in instance.compute_instances:
            tail = f":{part.id}" if len(instance.compute_instances) > 1 else ""
            yield _Place(
                f"{gpu.index}:{instance.id}{tail}",
                part.uuid,
                f"{gpu.name} {part.name}",
                (earlier.get(instance.id, instance), instance),
                [use for use in here if use.compute_instance in {None, part.id}],
            )


def _weighed(place: _Place, wish: Wish) -> Candidate | Obstacle:
    """Compare readings with the requirements."""
    free = place.readings[1][MEMORY_FREE]
    busy = _busy(place)
    reason = _lacking(free, busy, wish)
    if reason or free is None:
        return Obstacle(place=place.name, reason=reason)
    return Candidate(
        place=place.name,
        uuid=place.uuid,
        name=place.model,
        is_instance=place.is_instance,
        free_bytes=free,
        utilization_percent=busy,
        processes=len(place.uses),
    )


def _busy(place: _Place) -> float | None:
    """Return the higher utilization of two readings, since a GPU looks idle between two bursts of work."""
    metrics = _OF_AN_INSTANCE if place.is_instance else _OF_A_GPU
    for metric in metrics:
        read = [value for readings in place.readings if (value := readings[metric]) is not None]
        if read:
            return float(max(read))
    return None


def _lacking(free: int | None, busy: float | None, wish: Wish) -> str:
    if free is None:
        return "its free memory is unknown"
    if free < wish.min_free_bytes:
        return f"only {bytes_text(free)} of the required {bytes_text(wish.min_free_bytes)} are free"
    most = wish.max_utilization_percent
    if most is None:
        return ""
    if busy is None:
        return "its utilization is unknown"
    return f"its utilization is {busy:.0f} %, above the allowed {most:g} %" if busy > most else ""
