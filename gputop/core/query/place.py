"""Places for a program: GPUs, and the compute instances of GPUs in MIG mode."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import COMPUTE_MODE, GPU_UTILIZATION, GRAPHICS_ACTIVE, MIG_MODE, SM_ACTIVE
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame, Gpu, GpuInstance, GpuProcess, GpuState, Readings

_OF_A_GPU: Final[tuple[Metric[Any], ...]] = (GPU_UTILIZATION,)
_OF_AN_INSTANCE: Final[tuple[Metric[Any], ...]] = (SM_ACTIVE, GRAPHICS_ACTIVE)  # instances have no utilization
NO_INSTANCE: Final = "it is in MIG mode and has no compute instance"


class Place(Struct, frozen=True):
    """A GPU or compute instance with its earlier and current readings, and its processes.

    ``name``: the index; 0:3 with a GPU instance, 0:3:1 with one of its compute instances. ``uuid``: as
    CUDA_VISIBLE_DEVICES accepts it.
    """

    name: str
    uuid: str
    model: str
    readings: tuple[Readings, Readings]
    uses: Sequence[GpuProcess]

    @property
    def is_instance(self) -> bool:
        """Whether it is a part of a GPU."""
        return isinstance(self.readings[1], GpuInstance)

    @property
    def utilization_percent(self) -> float | None:
        """The higher utilization of two readings, since a GPU looks idle between two bursts of work."""
        for metric in _OF_AN_INSTANCE if self.is_instance else _OF_A_GPU:
            read = [value for readings in self.readings if (value := readings[metric]) is not None]
            if read:
                return float(max(read))
        return None


class Candidate(Struct, frozen=True, kw_only=True):
    """A suitable place. ``utilization_percent``: the higher of two readings; None if unknown. ``is_free``: see `free`.

    ``processes``: their number, those that only draw included.
    """

    place: str
    uuid: str
    name: str
    is_instance: bool
    is_free: bool
    free_bytes: int | None
    utilization_percent: float | None
    processes: int


class Obstacle(Struct, frozen=True, kw_only=True):
    """The reason against a place. ``is_failure``: the GPU is lost, does not answer, or cannot be judged."""

    place: str
    reason: str
    is_failure: bool = False


def uses_by_gpu(frame: Frame) -> dict[str, list[GpuProcess]]:
    """Return what uses each GPU, by UUID; every GPU has an entry."""
    found: dict[str, list[GpuProcess]] = {gpu.uuid: [] for gpu in frame.gpus}
    for process in frame.processes:
        for use in process.gpus:
            if use.gpu in found:
                found[use.gpu].append(use)
    return found


def refusal(gpu: Gpu, uses: Sequence[GpuProcess]) -> str:
    """Return why no program can start on a GPU, whatever its load; empty if one can."""
    if gpu.state is not GpuState.OK:
        return Missing(gpu.state.value).text
    mode = gpu[COMPUTE_MODE] or ""
    if mode == "prohibited":
        return "its compute mode is prohibited"
    if mode.startswith("exclusive") and any(use.type != "G" for use in uses):
        return f"its compute mode is {mode}, and a process is on it"
    return ""


def places(gpu: Gpu, before: Gpu, uses: Sequence[GpuProcess]) -> Iterator[Place]:
    """Yield the places of a GPU: itself, or in MIG mode its compute instances, of which there may be none."""
    if not gpu[MIG_MODE]:
        yield Place(str(gpu.index), gpu.uuid, gpu.name, (before, gpu), uses)
        return
    earlier = {instance.id: instance for instance in before.instances}
    for instance in gpu.instances:
        here = [use for use in uses if use.gpu_instance == instance.id]
        for part in instance.compute_instances:
            tail = f":{part.id}" if len(instance.compute_instances) > 1 else ""
            yield Place(
                f"{gpu.index}:{instance.id}{tail}",
                part.uuid,
                f"{gpu.name} {part.name}",
                (earlier.get(instance.id, instance), instance),
                [use for use in here if use.compute_instance in {None, part.id}],
            )
