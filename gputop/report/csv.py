"""A frame as CSV: one row per GPU, or one per process and GPU. The header has the JSON keys."""

from collections.abc import Iterator
from io import StringIO
from typing import Final, Literal

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Frame, GpuInstance, GpuProcess, HostProcess, MetricValue
from gputop.core.text.text import clean

_FORMULA: Final = ("=", "+", "-", "@")  # a spreadsheet would run a field that starts so
_IDENTITY: Final = ("index", "gpu_instance", "profile", "uuid", "name", "bus_id", "state", "read_s")
_METRICS: Final = tuple(metric.key for metric in CATALOGUE)
_PROCESS: Final = tuple(name for name in HostProcess.__struct_fields__ if name not in {"owner", "missing", "gpus"})
_OWNER: Final = (
    "container", "container_name", "pod", "slurm", "unit", "session", "terminal", "environment", "framework", "rank",
    "trusted",
)  # fmt: skip
_USE: Final = tuple(name for name in GpuProcess.__struct_fields__ if name != "missing")

Line = list[MetricValue]


def csv(frame: Frame, what: Literal["gpus", "processes"] = "gpus") -> str:
    """Return header and rows, quoted by RFC 4180; absent and inapplicable fields are empty.

    A MIG instance is a row after its GPU, with the GPU's index. A process has one row per GPU; if a key exists for the
    GPU and the host, such as ``memory_bytes``, that of the GPU starts with ``gpu_``. A text that a spreadsheet would
    run as a formula starts with '.
    """
    from csv import writer  # noqa: PLC0415 - most snapshots are not CSV

    header, lines = (_GPUS_HEADER, _gpus(frame)) if what == "gpus" else (_PROCESSES_HEADER, _processes(frame))
    sheet = StringIO()
    rows = writer(sheet, lineterminator="\n")
    rows.writerow(header)
    rows.writerows([field(value) for value in line] for line in lines)
    return sheet.getvalue()


def _use_key(name: str) -> str:
    return f"gpu_{name}" if name in _PROCESS else name


_GPUS_HEADER: Final = ("time_s", *_IDENTITY, *_METRICS)
_PROCESSES_HEADER: Final = ("time_s", *_PROCESS, *_OWNER, *(_use_key(name) for name in _USE))


def _gpus(frame: Frame) -> Iterator[Line]:
    for gpu in frame.gpus:
        for part in (gpu, *gpu.instances):
            instance = (part.id, part.profile) if isinstance(part, GpuInstance) else (None, None)
            identity: Line = [gpu.index, *instance, gpu.uuid, gpu.name, gpu.bus_id, gpu.state.value, gpu.read_s]
            yield [frame.time_s, *identity, *(part.metrics.get(key) for key in _METRICS)]


def _processes(frame: Frame) -> Iterator[Line]:
    for process in frame.processes:
        known: Line = [getattr(process, name) for name in _PROCESS]
        known += _owner(process.owner)
        for use in process.gpus:
            yield [frame.time_s, *known, *(getattr(use, name) for name in _USE)]


def _owner(owner: Owner) -> Line:
    container, pod, slurm = owner.container, owner.pod, owner.slurm
    return [
        container.id or container.text if container else None,
        container.name if container else None,
        pod.text if pod else None,
        slurm.text if slurm else None,
        *(getattr(owner, name) for name in _OWNER[4:]),
    ]


def field(value: MetricValue) -> str:
    """Return a value as a field of a sheet."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case tuple():
            return _text("; ".join(value))
        case str():
            return _text(value)
        case _:
            return str(value)


def _text(value: str) -> str:
    value = clean(value)
    return f"'{value}" if value.startswith(_FORMULA) else value
