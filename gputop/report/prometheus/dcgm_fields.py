"""Further fields of DCGM, which `--collectors` can choose; dcgm-exporter's own configuration has none of the series."""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gputop.core.model import catalogue as c
from gputop.core.model.metric import Metric
from gputop.core.model.sample import DriverInfo, Gpu
from gputop.report.prometheus.dcgm_part import DcgmPart, To, mebi, mega, of_board, of_part, row
from gputop.report.prometheus.labels import Number
from gputop.report.prometheus.series import Group, Series


def _reasons(present: tuple[str, ...]) -> int:
    """Return the bits of NVML."""
    return sum(bit for bit, name in c.CLOCKS_EVENT_REASONS.items() if name in present)


def _code(metric: Metric[str], words: Mapping[int, str]) -> Callable[[DcgmPart], Number | None]:
    """Return the number of NVML for a state."""
    numbers = {word: number for number, word in words.items()}
    return lambda part: numbers.get(part.gpu[metric] or "")


def _row(name: str, unit: str, about: str, metric: Metric[Any], to: To = int) -> Series[DcgmPart]:
    return row(f"DCGM_FI_DEV_{name}", "gauge", unit, about, of_board(metric, to), group=Group.DCGM_FIELDS)


FIELDS: Final[tuple[Series[DcgmPart], ...]] = (
    row(
        "DCGM_FI_DEV_FB_TOTAL", "gauge", "MiB", "Frame buffer.", of_part(c.MEMORY_TOTAL, mebi), group=Group.DCGM_FIELDS
    ),
    _row("BAR1_TOTAL", "MiB", "BAR1 memory.", c.BAR1_TOTAL, mebi),
    _row("BAR1_USED", "MiB", "Used BAR1 memory.", c.BAR1_USED, mebi),
    _row("POWER_USAGE_INSTANT", "W", "Power draw at this moment.", c.POWER_INSTANT, float),
    _row("ENFORCED_POWER_LIMIT", "W", "Power limit that applies.", c.POWER_LIMIT, float),
    _row("POWER_MGMT_LIMIT_DEF", "W", "Power limit at boot.", c.POWER_LIMIT_DEFAULT, float),
    _row("POWER_MGMT_LIMIT_MIN", "W", "Lowest power limit.", c.POWER_LIMIT_MIN, float),
    _row("POWER_MGMT_LIMIT_MAX", "W", "Highest power limit.", c.POWER_LIMIT_MAX, float),
    _row("SLOWDOWN_TEMP", "°C", "Temperature at which the clocks are lowered.", c.TEMPERATURE_SLOWDOWN),
    _row("SHUTDOWN_TEMP", "°C", "Temperature at which the board switches itself off.", c.TEMPERATURE_SHUTDOWN),
    _row("FAN_SPEED", "%", "Intended fan speed.", c.FAN),
    _row("PSTATE", "", "Performance state, 0 is the fastest.", c.PSTATE),
    _row("VIDEO_CLOCK", "MHz", "Video clock.", c.CLOCK_VIDEO, mega),
    _row("MAX_SM_CLOCK", "MHz", "Highest SM clock.", c.CLOCK_SM_MAX, mega),
    _row("MAX_MEM_CLOCK", "MHz", "Highest memory clock.", c.CLOCK_MEMORY_MAX, mega),
    _row("MAX_VIDEO_CLOCK", "MHz", "Highest video clock.", c.CLOCK_VIDEO_MAX, mega),
    _row("CLOCK_THROTTLE_REASONS", "bits", "Reasons for lower clocks.", c.EVENT_REASONS, _reasons),
    _row("CLOCKS_EVENT_REASONS", "bits", "Reasons for lower clocks.", c.EVENT_REASONS, _reasons),
    _row("PCIE_LINK_GEN", "", "Generation of the PCIe link.", c.PCIE_GENERATION),
    _row("PCIE_LINK_WIDTH", "", "Lanes of the PCIe link.", c.PCIE_WIDTH),
    _row("PCIE_MAX_LINK_GEN", "", "Highest generation of the PCIe link.", c.PCIE_GENERATION_MAX),
    _row("PCIE_MAX_LINK_WIDTH", "", "Most lanes of the PCIe link.", c.PCIE_WIDTH_MAX),
    _row("ROW_REMAP_PENDING", "0 or 1", "Whether a row remap waits for a reset.", c.REMAPPED_ROWS_PENDING),
    _row("ECC_CURRENT", "0 or 1", "Whether ECC is on.", c.ECC_ENABLED),
    _row("PERSISTENCE_MODE", "0 or 1", "Whether the driver stays loaded.", c.PERSISTENCE),
    _row("MIG_MODE", "0 or 1", "Whether MIG mode is on.", c.MIG_MODE),
    row(
        "DCGM_FI_DEV_COMPUTE_MODE", "gauge", "", "Compute mode: 0 default, 2 prohibited, 3 exclusive process.",
        _code(c.COMPUTE_MODE, c.COMPUTE_MODES), group=Group.DCGM_FIELDS,
    ),
    row(
        "DCGM_FI_DEV_VIRTUAL_MODE", "gauge", "",
        "Virtualization: 0 none, 1 passed through, 2 vGPU, 3 host of vGPUs, 4 host of vSGA.",
        _code(c.VIRTUALIZATION, c.VIRTUALIZATION_MODES), group=Group.DCGM_FIELDS,
    ),
)  # fmt: skip

TEXTS: Final[Mapping[str, Callable[[DriverInfo, Gpu], str | None]]] = {
    "DCGM_FI_DRIVER_VERSION": lambda driver, _: driver.version,
    "DCGM_FI_NVML_VERSION": lambda driver, _: driver.nvml_version,
    "DCGM_FI_DEV_SERIAL": lambda _, gpu: gpu[c.SERIAL],
    "DCGM_FI_DEV_VBIOS_VERSION": lambda _, gpu: gpu[c.VBIOS],
    "DCGM_FI_DEV_NAME": lambda _, gpu: gpu.name,
    "DCGM_FI_DEV_UUID": lambda _, gpu: gpu.uuid,
    "DCGM_FI_DEV_PCI_BUSID": lambda _, gpu: gpu.bus_id,
}
"""The fields of the type label: they are labels of all series of DCGM."""
