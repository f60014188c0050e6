"""The scene: the entities of a frame that have series, with their labels."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from gputop.core.model.sample import Frame, Gpu, GpuInstance, GpuState, Readings
from gputop.core.usage.holders import Container, Holders
from gputop.core.usage.past import Past
from gputop.report.prometheus.dcgm_fields import TEXTS
from gputop.report.prometheus.dcgm_part import DcgmPart
from gputop.report.prometheus.gpus import OwnGpu, OwnInstance, own_gpu, own_instance
from gputop.report.prometheus.labels import Labels, rendered
from gputop.report.prometheus.series import USUAL, Choice, Group, Scene
from gputop.report.prometheus.use import entities_of

HOSTNAMES: Final = {"both": ("Hostname", "hostname"), "Hostname": ("Hostname",), "hostname": ("hostname",), "none": ()}
DEVICES: Final = ("f", "g", "i", "g+i")
_NO_CONTAINER: Final = Container("", "", "")


class Shape(Struct, frozen=True, kw_only=True):
    """The series that the user wants.

    ``devices``: as ``dcgm-exporter -d``: f: MIG instances of a GPU that has some, else the GPU; g: GPUs; i: instances.
    ``hostname_label``: the names of the label with the name of the host in the series of dcgm-exporter.
    ``chosen``: the series of dcgm that a file of collectors chose; None: those of the groups. ``board_labels``: fields
    of DCGM that are labels.
    """

    groups: tuple[Group, ...] = USUAL
    devices: Literal["f", "g", "i", "g+i"] = "f"
    hostname_label: str = "both"
    hostname: str | None = None
    chosen: tuple[Choice, ...] | None = None
    board_labels: tuple[str, ...] = ("DCGM_FI_DRIVER_VERSION",)


def scene_of(frame: Frame, shape: Shape, past: Past) -> Scene:
    """Return the entities of a frame. ``past``: has taken this frame."""
    events = past.events.of
    held = Counter(use.gpu for process in frame.processes for use in process.gpus)
    return {
        DcgmPart: list(_dcgm_parts(frame, shape, past)),
        OwnGpu: [own_gpu(gpu, events(gpu.uuid), held[gpu.uuid] if _is_listed(gpu) else None) for gpu in frame.gpus],
        OwnInstance: [own_instance(gpu, instance) for gpu in frame.gpus for instance in gpu.instances],
        **entities_of(frame, past.usage),
    }


def _is_listed(gpu: Gpu) -> bool:
    """Return whether the driver lists the processes of a GPU."""
    return gpu.state is GpuState.OK and "processes" not in gpu.missing


def _dcgm_parts(frame: Frame, shape: Shape, past: Past) -> Iterator[DcgmPart]:
    host = tuple((name, shape.hostname or frame.host.name) for name in HOSTNAMES[shape.hostname_label])
    for gpu in frame.gpus:
        events = past.events.of(gpu.uuid)
        texts = tuple((name, TEXTS[name](frame.driver, gpu) or "") for name in shape.board_labels)
        for part in _parts(gpu, shape.devices):
            fixed = rendered((*_identity(gpu, part), *host, *texts))
            for attributes in _attributes(gpu, part, past.holders):
                labels = f"{fixed},{rendered(attributes)}" if attributes else fixed
                yield DcgmPart(labels, fixed, attributes, part, gpu, events)


def _parts(gpu: Gpu, devices: str) -> Sequence[Readings]:
    match devices:
        case "g":
            return (gpu,)
        case "i":
            return gpu.instances
        case "g+i":
            return (gpu, *gpu.instances)
        case _:
            return gpu.instances or (gpu,)


def _attributes(gpu: Gpu, part: Readings, holders: Holders) -> Iterator[Labels]:
    """Yield the labels of each holder of a GPU or GPU instance, in the order of dcgm-exporter; none if it has none."""
    if isinstance(part, GpuInstance):
        names = (*(each.uuid for each in part.compute_instances), f"nvidia{gpu.index}/gi{part.id}")
        jobs = holders.hpc_jobs.get(f"{gpu.index}.{part.id}", ())
    else:
        names = (gpu.uuid, f"nvidia{gpu.index}")
        jobs = holders.hpc_jobs.get(str(gpu.index), ())
    containers = (each for name in names for each in holders.containers.get(name, ()))
    for one in tuple(dict.fromkeys(containers)) or (_NO_CONTAINER,):
        for job in jobs or ("",):
            labels = (
                ("container", one.name), ("hpc_job", job), ("namespace", one.namespace), ("pod", one.pod),
                ("vgpu", one.replica),
            )  # fmt: skip
            yield tuple(pair for pair in labels if pair[1])


def _identity(gpu: Gpu, part: Readings) -> Labels:
    index = str(gpu.index)
    board = (
        ("gpu", index), ("UUID", gpu.uuid), ("pci_bus_id", gpu.bus_id), ("device", f"nvidia{index}"),
        ("modelName", gpu.name),
    )  # fmt: skip
    return (
        (*board, ("GPU_I_PROFILE", part.profile), ("GPU_I_ID", str(part.id)))
        if isinstance(part, GpuInstance)
        else board
    )
