"""The GPU as dcgm-exporter labels it, and the parts of rows of its series: which reading, in which unit."""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, Readings
from gputop.core.usage.events import GpuEvents
from gputop.report.prometheus.labels import Labels, Number, rendered
from gputop.report.prometheus.series import Entity, Group, Series, Type

LABELS: Final = (
    "gpu", "UUID", "pci_bus_id", "device", "modelName", "GPU_I_PROFILE", "GPU_I_ID", "Hostname", "hostname",
    "DCGM_FI_DRIVER_VERSION", "container", "hpc_job", "namespace", "pod", "vgpu",
)  # fmt: skip


class DcgmPart(Entity):
    """A GPU or a GPU instance, as dcgm-exporter labels it. ``own``: its own readings; ``gpu``: the whole board.

    ``attributes``: the last labels, which dcgm-exporter sorts together with those of a single sample.
    """

    fixed: str
    attributes: Labels
    own: Readings
    gpu: Gpu
    events: GpuEvents

    def labels_with(self, more: Labels) -> str:
        """Return the labels with those of a single sample."""
        return f"{self.fixed},{rendered(tuple(sorted((*self.attributes, *more))))}"

    @property
    def is_instance(self) -> bool:
        """Return whether this is a GPU instance."""
        return self.own is not self.gpu


To = Callable[[Any], Number]


def row(
    name: str, kind: Type, unit: str, about: str, value: Callable[[DcgmPart], Any], **more: Any  # noqa: ANN401 - fields
) -> Series[DcgmPart]:  # fmt: skip
    """Return a row of the default set, unless ``more`` says otherwise."""
    given: dict[str, Any] = {"group": Group.DCGM, "labels": LABELS} | more
    return Series(name=name, type=kind, unit=unit, help=about, of=DcgmPart, value=value, **given)


def of_board(metric: Metric[Any], to: To) -> Callable[[DcgmPart], Number | None]:
    """Return the reading of the board, which dcgm-exporter repeats for each of its instances."""
    return lambda part: _read(part.gpu, metric, to)


def of_part(metric: Metric[Any], to: To) -> Callable[[DcgmPart], Number | None]:
    """Return the reading that an instance has for itself."""
    return lambda part: _read(part.own, metric, to)


def of_whole(metric: Metric[Any], to: To) -> Callable[[DcgmPart], Number | None]:
    """Return the reading that only a board without instances has."""
    return lambda part: None if part.is_instance else _read(part.gpu, metric, to)


def _read(readings: Readings, metric: Metric[Any], to: To) -> Number | None:
    reading = readings[metric]
    return None if reading is None else to(reading)


def mega(hertz: float) -> int:
    """Return hertz as MHz."""
    return int(hertz) // 1_000_000


def mebi(size: int) -> int:
    """Return bytes as MiB."""
    return size >> 20


def milli(value: float) -> int:
    """Return joules as mJ."""
    return round(value * 1000)


def nano(value: float) -> int:
    """Return seconds as ns."""
    return round(value * 1_000_000_000)


def ratio(percent: float) -> float:
    """Return percent as a ratio."""
    return round(percent / 100, 6)
