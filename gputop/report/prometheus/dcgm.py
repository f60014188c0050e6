"""The series of dcgm-exporter, with its names, types, units and labels, so that dashboards made for it work unchanged.

Their known faults are part of them; gputop's own series (`gpus.py`, `use.py`) have none of these. The source is
dcgm-exporter 4.8: its default-counters.csv, and DCGM 4.6 for the values.
"""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from gputop.core.model import catalogue as c
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, Readings
from gputop.core.model.xid import explained
from gputop.core.usage.events import WINDOW_S, GpuEvents
from gputop.report.prometheus.labels import Labels, Number, rendered
from gputop.report.prometheus.series import Entity, Group, Labelled, Series, Type

LABELS: Final = (
    "gpu", "UUID", "pci_bus_id", "device", "modelName", "GPU_I_PROFILE", "GPU_I_ID", "Hostname", "hostname",
    "DCGM_FI_DRIVER_VERSION", "container", "hpc_job", "namespace", "pod", "vgpu",
)  # fmt: skip
_WINDOW: Final = ("window_size_in_ms", f"{WINDOW_S * 1000:.0f}")
_KILO: Final = 1000
_CLOCK_EVENTS: Final = {
    "idle": "gpu_idle", "application clocks": "clocks_setting", "power cap": "power_cap",
    "hardware slowdown": "hw_slowdown", "sync boost": "sync_boost", "software thermal": "sw_thermal",
    "hardware thermal": "hw_thermal", "power brake": "hw_power_brake", "display clocks": "display_clocks",
}  # fmt: skip


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


_To = Callable[[Any], Number]


def _row(
    name: str, kind: Type, unit: str, about: str, value: Callable[[DcgmPart], Any], **more: Any  # noqa: ANN401 - fields
) -> Series[DcgmPart]:  # fmt: skip
    given: dict[str, Any] = {"group": Group.DCGM, "labels": LABELS} | more
    return Series(name=name, type=kind, unit=unit, help=about, of=DcgmPart, value=value, **given)


def _board(metric: Metric[Any], to: _To) -> Callable[[DcgmPart], Number | None]:
    """Return the reading of the board, which dcgm-exporter repeats for each of its instances."""
    return lambda part: _read(part.gpu, metric, to)


def _own(metric: Metric[Any], to: _To) -> Callable[[DcgmPart], Number | None]:
    """Return the reading that an instance has for itself."""
    return lambda part: _read(part.own, metric, to)


def _whole(metric: Metric[Any], to: _To) -> Callable[[DcgmPart], Number | None]:
    """Return the reading that only a board without instances has."""
    return lambda part: None if part.is_instance else _read(part.gpu, metric, to)


def _read(readings: Readings, metric: Metric[Any], to: _To) -> Number | None:
    reading = readings[metric]
    return None if reading is None else to(reading)


def _mega(hertz: float) -> int:
    return int(hertz) // 1_000_000


def _mebi(size: int) -> int:
    return size >> 20


def _milli(value: float) -> int:
    return round(value * 1000)


def _nano(value: float) -> int:
    return round(value * 1_000_000_000)


def _ratio(percent: float) -> float:
    return round(percent / 100, 6)


def _nvlink_rate(part: DcgmPart) -> Number | None:
    """Return what DCGM computes: KiB per second divided by 1000, as a whole number."""
    sent, received = part.gpu[c.NVLINK_TX], part.gpu[c.NVLINK_RX]
    return None if sent is None or received is None else int((sent + received) / 1024 / _KILO)


def _last_xid(part: DcgmPart) -> list[Labelled]:
    last = part.events.last
    if last is None:
        return [((("err_code", "0"), ("err_msg", "No Error")), 0)]
    known = explained(last)
    return [((("err_code", str(last)), ("err_msg", known.name or "Unknown Error")), last)]


def _recent_xids(part: DcgmPart) -> list[Labelled]:
    recent = part.events.recent
    return [((_WINDOW, ("xid", str(xid))), count) for xid, count in sorted(recent.items())] or [((_WINDOW,), 0)]


def _clock_events(part: DcgmPart) -> list[Labelled]:
    lowered = part.events.lowered
    return [((("clock_event", name), _WINDOW), lowered[key]) for key, name in _CLOCK_EVENTS.items() if key in lowered]


_MORE: Final[dict[str, Any]] = {"group": Group.DCGM_MORE}
_PROF: Final = "On Hopper and newer, by NVML's GPM; DCGM also has it from Volta to Ada."
_GPM: Final[dict[str, Any]] = {"note": _PROF}
_GPM_MORE: Final[dict[str, Any]] = _GPM | _MORE
_REPEATED: Final = "On MIG, every instance repeats the value of the board: use avg by (gpu), not sum."
_REPEATS: Final[dict[str, Any]] = {"note": _REPEATED}


DCGM: Final[tuple[Series[DcgmPart], ...]] = (
    _row("DCGM_FI_DEV_SM_CLOCK", "gauge", "MHz", "SM clock.", _board(c.CLOCK_SM, _mega), **_REPEATS),
    _row("DCGM_FI_DEV_MEM_CLOCK", "gauge", "MHz", "Memory clock.", _board(c.CLOCK_MEMORY, _mega), **_REPEATS),
    _row(
        "DCGM_FI_DEV_MEMORY_TEMP",
        "gauge",
        "°C",
        "Temperature of the memory.",
        _board(c.MEMORY_TEMPERATURE, int),
        **_REPEATS,
    ),
    _row("DCGM_FI_DEV_GPU_TEMP", "gauge", "°C", "Temperature of the GPU chip.", _board(c.TEMPERATURE, int), **_REPEATS),
    _row("DCGM_FI_DEV_POWER_USAGE", "gauge", "W", "Power draw.", _board(c.POWER_AVERAGE, float), **_REPEATS),
    _row(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "mJ",
        "Energy since the driver was loaded.",
        _board(c.ENERGY, _milli),
        **_REPEATS,
    ),
    _row(
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "counter",
        "",
        "PCIe packets that were sent again.",
        _board(c.PCIE_REPLAYS, int),
    ),
    _row(
        "DCGM_FI_DEV_GPU_UTIL",
        "gauge",
        "%",
        "Share of time in which a kernel ran.",
        _whole(c.GPU_UTILIZATION, int),
        note="MIG instances do not have it, as in dcgm-exporter.",
    ),
    _row("DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "%", "Use of the memory controller.", _whole(c.MEMORY_UTILIZATION, int)),
    _row("DCGM_FI_DEV_ENC_UTIL", "gauge", "%", "Use of the video encoder.", _whole(c.ENCODER_UTILIZATION, int)),
    _row("DCGM_FI_DEV_DEC_UTIL", "gauge", "%", "Use of the video decoder.", _whole(c.DECODER_UTILIZATION, int)),
    _row(
        "DCGM_FI_DEV_XID_ERRORS",
        "gauge",
        "Xid",
        "Number of the last Xid since the exporter started; 0: none.",
        _last_xid,
        labels=(*LABELS, "err_code", "err_msg"),
        note="It stays until the exporter restarts, and hides a second Xid of the same number, as in dcgm-exporter."
        " err_msg has gputop's words. Better: gputop_gpu_xid_errors_total and gputop_gpu_xid_last_timestamp_seconds.",
    ),
    _row("DCGM_FI_DEV_FB_FREE", "gauge", "MiB", "Free frame buffer.", _own(c.MEMORY_FREE, _mebi)),
    _row(
        "DCGM_FI_DEV_FB_USED",
        "gauge",
        "MiB",
        "Used frame buffer, without the reserved part.",
        _own(c.MEMORY_USED, _mebi),
    ),
    _row("DCGM_FI_DEV_FB_RESERVED", "gauge", "MiB", "Reserved frame buffer.", _own(c.MEMORY_RESERVED, _mebi)),
    _row(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "counter",
        "about MB/s",
        "Data rate of all NVLinks, both directions.",
        _nvlink_rate,
        note="A rate with the type of a counter, as in dcgm-exporter: rate() of it is meaningless. Better:"
        " gputop_gpu_nvlink_transmit_bytes_per_second and gputop_gpu_nvlink_receive_bytes_per_second.",
    ),
    _row(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "counter",
        "rows",
        "Memory rows remapped after an uncorrectable error.",
        _board(c.REMAPPED_ROWS_UNCORRECTABLE, int),
    ),
    _row(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "counter",
        "rows",
        "Memory rows remapped after correctable errors.",
        _board(c.REMAPPED_ROWS_CORRECTABLE, int),
    ),
    _row(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "gauge",
        "0 or 1",
        "Whether a row remap failed.",
        _board(c.REMAPPED_ROWS_FAILED, int),
    ),
    _row(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "gauge",
        "ratio",
        "Graphics engine active.",
        _own(c.GRAPHICS_ACTIVE, _ratio),
        **_GPM,
    ),
    _row(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "gauge",
        "ratio",
        "Tensor pipes active.",
        _own(c.TENSOR_ACTIVE, _ratio),
        **_GPM,
    ),
    _row(
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "gauge",
        "ratio",
        "Device memory interface active.",
        _own(c.DRAM_ACTIVE, _ratio),
        **_GPM,
    ),
    _row(
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "gauge",
        "B/s",
        "Data rate from the GPU over PCIe.",
        _whole(c.PCIE_TX, int),
        note="A rate despite its name, as in dcgm-exporter. gputop also has it before Hopper.",
    ),
    _row(
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "gauge",
        "B/s",
        "Data rate to the GPU over PCIe.",
        _whole(c.PCIE_RX, int),
        note="A rate despite its name, as in dcgm-exporter. gputop also has it before Hopper.",
    ),
    # --- commented out in dcgm-exporter's configuration -----------------------------------------------------------
    _row(
        "DCGM_FI_DEV_POWER_VIOLATION",
        "counter",
        "ns",
        "Time with lower clocks because of the power limit.",
        _board(c.THROTTLED_POWER_CAP, _nano),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "counter",
        "ns",
        "Time with lower clocks because of heat.",
        _board(c.THROTTLED_SW_THERMAL, _nano),
        **_MORE,
        note="gputop reads the newer counter of software thermal slowdown, if the driver has it.",
    ),
    _row(
        "DCGM_FI_DEV_SYNC_BOOST_VIOLATION",
        "counter",
        "ns",
        "Time with lower clocks because of sync boost.",
        _board(c.THROTTLED_SYNC_BOOST, _nano),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
        "counter",
        "",
        "Corrected ECC errors since driver load.",
        _board(c.ECC_VOLATILE_CORRECTED, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "counter",
        "",
        "Uncorrected ECC errors since driver load.",
        _board(c.ECC_VOLATILE_UNCORRECTED, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
        "counter",
        "",
        "Corrected ECC errors over the lifetime of the board.",
        _board(c.ECC_AGGREGATE_CORRECTED, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
        "counter",
        "",
        "Uncorrected ECC errors over the lifetime of the board.",
        _board(c.ECC_AGGREGATE_UNCORRECTED, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_RETIRED_SBE",
        "counter",
        "pages",
        "Pages retired after corrected errors.",
        _board(c.RETIRED_PAGES_SINGLE, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_RETIRED_DBE",
        "counter",
        "pages",
        "Pages retired after an uncorrected error.",
        _board(c.RETIRED_PAGES_DOUBLE, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_RETIRED_PENDING",
        "counter",
        "0 or 1",
        "Whether pages wait for retirement.",
        _board(c.RETIRED_PAGES_PENDING, int),
        **_MORE,
    ),
    _row(
        "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "counter",
        "",
        "NVLink packets sent again.",
        _board(c.NVLINK_REPLAYS, int),
        **_MORE,
        note="gputop reads another counter of the link than DCGM. The numbers are near, not equal.",
    ),
    _row(
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        "counter",
        "",
        "NVLink failures repaired.",
        _board(c.NVLINK_RECOVERIES, int),
        **_MORE,
        note="gputop reads another counter of the link than DCGM. The numbers are near, not equal.",
    ),
    _row(
        "DCGM_FI_PROF_SM_ACTIVE",
        "gauge",
        "ratio",
        "SMs with at least one warp.",
        _own(c.SM_ACTIVE, _ratio),
        **_GPM_MORE,
    ),
    _row("DCGM_FI_PROF_SM_OCCUPANCY", "gauge", "ratio", "Warps on the SMs.", _own(c.SM_OCCUPANCY, _ratio), **_GPM_MORE),
    _row(
        "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
        "gauge",
        "ratio",
        "FP64 pipes active.",
        _own(c.FP64_ACTIVE, _ratio),
        **_GPM_MORE,
    ),
    _row(
        "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
        "gauge",
        "ratio",
        "FP32 pipes active.",
        _own(c.FP32_ACTIVE, _ratio),
        **_GPM_MORE,
    ),
    _row(
        "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
        "gauge",
        "ratio",
        "FP16 pipes active.",
        _own(c.FP16_ACTIVE, _ratio),
        **_GPM_MORE,
    ),
    _row(
        "DCGM_FI_PROF_NVLINK_TX_BYTES", "gauge", "B/s", "Data rate sent over NVLink.", _whole(c.NVLINK_TX, int), **_MORE
    ),
    _row(
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "gauge",
        "B/s",
        "Data rate received over NVLink.",
        _whole(c.NVLINK_RX, int),
        **_MORE,
    ),
    _row(
        "DCGM_EXP_XID_ERRORS_COUNT",
        "counter",
        "",
        "Xids in the last 5 minutes.",
        _recent_xids,
        group=Group.DCGM_MORE,
        labels=(*LABELS, "window_size_in_ms", "xid"),
        note="It counts the last 5 minutes only, so it can fall, as in dcgm-exporter."
        " Better: gputop_gpu_xid_errors_total.",
    ),
    _row(
        "DCGM_EXP_CLOCK_EVENTS_COUNT",
        "counter",
        "samples",
        "Samples of the last 5 minutes with the reason.",
        _clock_events,
        group=Group.DCGM_MORE,
        labels=(*LABELS, "clock_event", "window_size_in_ms"),
        note="It counts the last 5 minutes only, so it can fall, as in dcgm-exporter."
        " Better: gputop_gpu_throttled_seconds_total.",
    ),
)


class Absent(Struct, frozen=True):
    """A series of dcgm-exporter that gputop does not serve. ``is_usual``: dcgm-exporter serves it unasked."""

    name: str
    why: str
    is_usual: bool = False


_NOT_READ: Final = "gputop does not read this counter."

ABSENT: Final = (
    Absent(
        "DCGM_FI_DEV_VGPU_LICENSE_STATUS", "gputop does not read vGPU licences. On bare metal it is always 0.", True
    ),
    Absent("DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", _NOT_READ),
    Absent("DCGM_FI_DEV_LOW_UTIL_VIOLATION", _NOT_READ),
    Absent("DCGM_FI_DEV_RELIABILITY_VIOLATION", _NOT_READ),
    Absent(
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "gputop reads another counter: gputop_gpu_nvlink_crc_errors_total.",
    ),
    Absent(
        "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "gputop reads another counter: gputop_gpu_nvlink_crc_errors_total.",
    ),
    Absent("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0", "gputop reads the sum over all links."),
    Absent("DCGM_EXP_GPU_HEALTH_STATUS", "It needs the health rules of DCGM. Better: gputop_finding."),
    Absent("DCGM_EXP_P2P_STATUS", "gputop does not read the P2P matrix repeatedly; gputop doctor does once."),
)
