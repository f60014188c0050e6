"""Generator of the tables in docs/prometheus.md, from the table of series."""

from collections.abc import Iterator
from typing import Any, Final

from gputop.core.model import catalogue as c
from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.sample import (
    ComputeInstance,
    DriverInfo,
    Frame,
    Gpu,
    GpuInstance,
    GpuProcess,
    Host,
    HostProcess,
    Job,
    JobKind,
    MetricValue,
)
from gputop.core.usage.ledger import Ledger
from gputop.core.usage.past import Past
from gputop.report.prometheus.dcgm import ABSENT, DCGM
from gputop.report.prometheus.dcgm_fields import FIELDS, TEXTS
from gputop.report.prometheus.dcgm_part import LABELS as DCGM_LABELS
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group, Series
from gputop.report.prometheus.table import SERIES, of_frame

_SERVED: Final = {Group.DCGM: "default", Group.DCGM_MORE: "`dcgm-more`", Group.DCGM_FIELDS: "`--collectors`"}
_THINGS: Final = (
    ("each GPU", "gpu"), ("each user (`gputop`), each process on one GPU (`processes`)", "process"),
    ("each job on one GPU", "job"), ("each MIG instance", "instance"),
)  # fmt: skip
_TEXTS: Final = (c.SERIAL, c.VBIOS, c.ARCHITECTURE, c.COMPUTE_CAPABILITY, c.RECOVERY_ACTION, c.COMPUTE_MODE)


def own() -> Iterator[tuple[str, ...]]:
    """Yield gputop's own series."""
    yield "series", "type", "unit", "labels", "meaning"
    for row in SERIES:
        if row.name.startswith("gputop_"):
            yield f"`{row.name}`", row.type, row.unit, ", ".join(f"`{label}`" for label in row.labels), row.help


def compatible() -> Iterator[tuple[str, ...]]:
    """Yield the series of dcgm-exporter: the same, better elsewhere, or absent."""
    yield "series of dcgm-exporter", "type", "unit", "served", "in gputop", "note"
    for row in (*DCGM, *FIELDS):
        served = _SERVED[row.group]
        yield f"`{row.name}`", row.type, row.unit, served, _verdict(row), _note(row)
    for name in TEXTS:
        yield f"`{name}`", "label", "", "default" if name in Shape().board_labels else "`--collectors`", "same", ""
    for absent in ABSENT:
        yield f"`{absent.name}`", "", "", "no", "absent", absent.why


def cost() -> Iterator[tuple[str, ...]]:
    """Yield how many series each thing adds to those above it."""
    groups = [group for group in Group if group is not Group.DCGM_FIELDS]
    yield "what", *(f"`{group.value}`" for group in groups)
    before = dict.fromkeys(groups, 0)
    for words, what in _THINGS:
        counts = {group: _count(_frame(what), group) for group in groups}
        yield words, *(str(counts[group] - before[group] or "") for group in groups)
        before = counts


def _verdict(row: "Series[Any]") -> str:
    if "Better:" in row.note:
        return "same; better elsewhere"
    return "near" if "near" in row.note else "partly" if "Absent on" in row.note else "same"


def _note(row: "Series[Any]") -> str:
    more = [f"`{label}`" for label in row.labels if label not in DCGM_LABELS]
    return " ".join(filter(None, (f"Labels: {', '.join(more)}." if more else "", row.note)))


def _frame(what: str) -> Frame:
    """Return a frame with one thing and all of its readings."""
    uuid = "GPU-1"
    readings: dict[str, MetricValue] = {metric.key: 1 for metric in CATALOGUE} | dict.fromkeys(
        (metric.key for metric in _TEXTS), "x"
    )
    readings |= {c.EVENT_REASONS.key: (), c.VIRTUALIZATION.key: "none"}
    part = GpuInstance(
        id=1, profile="1g", metrics=readings, compute_instances=(ComputeInstance(id=0, uuid="M", name=""),)
    )
    gpu = Gpu(
        index=0, uuid=uuid, name="H100", bus_id="0", metrics=readings, instances=(part,) if what == "instance" else (),
    )  # fmt: skip
    use = GpuProcess(gpu=uuid, gpu_index=0, type="C", memory_bytes=1, sm_percent=1.0, gpu_seconds=1.0, energy_j=1.0)
    process = HostProcess(pid=1, start_ticks=1, user="ann", cpu_percent=1.0, memory_bytes=1, started_s=1.0, gpus=(use,))
    job = Job(key="", kind=JobKind.LAUNCHER, label="", members=(process.id,))
    return Frame(
        time_s=1.0, interval_s=1.0, driver=DriverInfo(), host=Host(name="node"), gpus=(gpu,),
        processes=() if what == "gpu" else (process,), jobs=(job,) if what in {"job", "instance"} else (),
    )  # fmt: skip


def _count(frame: Frame, group: Group) -> int:
    past = Past(Ledger(processes=1))
    past.take(frame, 0.0)
    lines = of_frame(frame, Shape(groups=(group,), devices="g+i"), past).splitlines()
    return sum(not line.startswith("#") for line in lines)
