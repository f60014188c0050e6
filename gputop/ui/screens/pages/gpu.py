"""GPU page: every metric of the catalogue, with its value or the reason why it is missing."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, Readings
from gputop.core.model.units import NOTHING, value_text
from gputop.core.table_rows import added_keys
from gputop.core.text.text import fit
from gputop.ui.panels import values
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.finding_lines import findings_part
from gputop.ui.screens.pages.page import Page
from gputop.ui.screens.pages.process_lines import wrapped
from gputop.ui.state.view import View

# A group goes from its first metric to the next group's, in the order of the catalogue.
_GROUPS: Final = {
    "serial": "Identity", "gpu_utilization_percent": "Utilization", "memory_total_bytes": "Memory",
    "temperature_c": "Temperature and fan", "power_average_w": "Power and energy", "clock_sm_hz": "Clocks",
    "pcie_generation": "PCIe and NVLink", "ecc_enabled": "Memory health", "persistence_mode": "Modes",
    "graphics_active_percent": "Activity of the chip (GPM)",
}  # fmt: skip
_LABEL: Final = 30
_VALUE: Final = 16
_LEAST_HELP: Final = 20


class GpuScreen(Page):
    """Shows one GPU in full, and each new frame."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES, "detail": "close", "mig": "open_mig", "left": "turn(-1)", "right": "turn(1)",
    }  # fmt: skip

    def __init__(self, gpu: Gpu, view: View) -> None:
        super().__init__()
        self.gpu = gpu
        self._view = view

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return the page of the GPU from the latest frame."""
        wrong = findings_part(self._view.standing.of(self.gpu.uuid), width)
        return gpu_page(self.gpu, width, wrong)

    def keys_line(self) -> str:
        """Return the keys, with those for MIG and for the other GPUs."""
        name = self.name_of
        turn = f"{name('left')} {name('right')} GPU · " if len(self._view.gpus) > 1 else ""
        return f"{super().keys_line()} · {turn}{name('mig')} MIG"

    def title_line(self) -> str:
        """Return the index and name of the GPU."""
        return f"GPU {self.gpu.index} · {self.gpu.name or NOTHING}"

    def turn(self, step: int) -> None:
        """Show the next or previous GPU."""
        gpus = self._view.gpus
        at = next((number for number, gpu in enumerate(gpus) if gpu.uuid == self.gpu.uuid), None)
        if at is not None:
            self.gpu = gpus[(at + step) % len(gpus)]
            self.redraw()

    def open_mig(self) -> None:
        """Open the MIG page of this GPU on top."""
        self.call_later(self.app.run_action, f"page.mig({self.gpu.index})")

    def follow(self, view: View) -> None:
        """Draw the new values."""
        self._view = view
        for gpu in view.gpus:
            if gpu.uuid == self.gpu.uuid:
                self.gpu = gpu
                self.redraw()


def gpu_page(gpu: Gpu, width: int, wrong: Sequence[Line] = ()) -> list[Line]:
    """Return the lines: identity, findings, metrics, instances, errors."""
    lines = [_pair("UUID", gpu.uuid), _pair("Bus id", gpu.bus_id or NOTHING), _pair("State", gpu.state.value)]
    trouble = values.trouble(gpu)
    if trouble is not None:
        lines.append(Line(((f" {trouble[0]} ", "alarm"), (" " + trouble[1], "hot"))))
    lines += [_pair("Xid", f"{event.xid} at {values.clock(event.time_s)}", "hot") for event in gpu.xids]
    lines += wrong
    groups = dict.fromkeys(added_keys("metrics")[:1], "From plugins") | _GROUPS
    for metric in CATALOGUE:
        if metric.key in groups:
            lines += [BLANK, Line(((groups[metric.key], "accent"),))]
        lines += _metric(gpu, metric, width)
    for instance in gpu.instances:
        lines += [BLANK, Line(((f"GPU instance {instance.id} · {instance.profile}", "accent"),))]
        lines += [
            _pair(f"Compute instance {part.id}", f"{part.name} · {part.uuid}") for part in instance.compute_instances
        ]
        for metric in CATALOGUE:
            if metric.key in instance.metrics:
                lines += _metric(instance, metric, width)
    return lines


def _metric(readings: Readings, metric: Metric[Any], width: int) -> list[Line]:
    reason = readings.why(metric)
    value = NOTHING if reason is not None else value_text(readings[metric], metric.unit)
    first, *more = wrapped(metric.help if reason is None else reason.text, max(_LEAST_HELP, width - _LABEL - _VALUE))
    ink = "text" if reason is None else "muted"
    lines = [Line(((fit(metric.label, _LABEL), "muted"), (fit(value, _VALUE - 1) + " ", ink), (first, "muted")))]
    return lines + [Line(((" " * (_LABEL + _VALUE) + part, "muted"),)) for part in more]


def _pair(label: str, text: str, ink: str = "text") -> Line:
    return Line(((fit(label, _LABEL), "muted"), (text, ink)))
