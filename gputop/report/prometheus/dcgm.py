"""The series of dcgm-exporter, with its names, types, units and labels, so that dashboards made for it work unchanged.

Their known faults are part of them; gputop's own series (`gpus.py`, `use.py`) have none of these. The source is
dcgm-exporter 4.8: its default-counters.csv, and DCGM 4.6 for the values.
"""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from gputop.core.model import catalogue as c
from gputop.core.model.xid import explained
from gputop.core.usage.events import WINDOW_S
from gputop.report.prometheus.dcgm_part import (
    LABELS,
    DcgmPart,
    mebi,
    mega,
    milli,
    nano,
    of_board,
    of_part,
    of_whole,
    ratio,
    row,
)  # fmt: skip
from gputop.report.prometheus.labels import Number
from gputop.report.prometheus.series import Group, Labelled, Series

_WINDOW: Final = ("window_size_in_ms", f"{WINDOW_S * 1000:.0f}")
_KILO: Final = 1000
_UNLICENSED: Final = ("none", "passed through")
_CLOCK_EVENTS: Final = {
    "idle": "gpu_idle", "application clocks": "clocks_setting", "power cap": "power_cap",
    "hardware slowdown": "hw_slowdown", "sync boost": "sync_boost", "software thermal": "sw_thermal",
    "hardware thermal": "hw_thermal", "power brake": "hw_power_brake", "display clocks": "display_clocks",
}  # fmt: skip


def _nvlink_rate(part: DcgmPart) -> Number | None:
    """Return what DCGM computes: KiB per second divided by 1000, as a whole number."""
    sent, received = part.gpu[c.NVLINK_TX], part.gpu[c.NVLINK_RX]
    return None if sent is None or received is None else int((sent + received) / 1024 / _KILO)


def _licence(part: DcgmPart) -> Number | None:
    """Return 0 for a GPU that needs no licence, as DCGM does."""
    mode = part.gpu[c.VIRTUALIZATION]
    return 0 if mode is not None and mode in _UNLICENSED else None


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
_PROF: Final = "Absent on Volta to Ada, where DCGM has it: gputop reads it by NVML's GPM, on Hopper and newer."
_GPM: Final[dict[str, Any]] = {"note": _PROF}
_GPM_MORE: Final[dict[str, Any]] = _GPM | _MORE
_REPEATED: Final = "On MIG, every instance repeats the value of the board: use avg by (gpu), not sum."
_REPEATS: Final[dict[str, Any]] = {"note": _REPEATED}


DCGM: Final[tuple[Series[DcgmPart], ...]] = (
    row("DCGM_FI_DEV_SM_CLOCK", "gauge", "MHz", "SM clock.", of_board(c.CLOCK_SM, mega), **_REPEATS),
    row("DCGM_FI_DEV_MEM_CLOCK", "gauge", "MHz", "Memory clock.", of_board(c.CLOCK_MEMORY, mega), **_REPEATS),
    row(
        "DCGM_FI_DEV_MEMORY_TEMP",
        "gauge",
        "°C",
        "Temperature of the memory.",
        of_board(c.MEMORY_TEMPERATURE, int),
        **_REPEATS,
    ),
    row(
        "DCGM_FI_DEV_GPU_TEMP", "gauge", "°C", "Temperature of the GPU chip.", of_board(c.TEMPERATURE, int), **_REPEATS
    ),
    row("DCGM_FI_DEV_POWER_USAGE", "gauge", "W", "Power draw.", of_board(c.POWER_AVERAGE, float), **_REPEATS),
    row(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "mJ",
        "Energy since the driver was loaded.",
        of_board(c.ENERGY, milli),
        **_REPEATS,
    ),
    row(
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "counter",
        "",
        "PCIe packets that were sent again.",
        of_board(c.PCIE_REPLAYS, int),
    ),
    row(
        "DCGM_FI_DEV_GPU_UTIL",
        "gauge",
        "%",
        "Share of time in which a kernel ran.",
        of_whole(c.GPU_UTILIZATION, int),
        note="MIG instances do not have it, as in dcgm-exporter.",
    ),
    row(
        "DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "%", "Use of the memory controller.", of_whole(c.MEMORY_UTILIZATION, int)
    ),
    row("DCGM_FI_DEV_ENC_UTIL", "gauge", "%", "Use of the video encoder.", of_whole(c.ENCODER_UTILIZATION, int)),
    row("DCGM_FI_DEV_DEC_UTIL", "gauge", "%", "Use of the video decoder.", of_whole(c.DECODER_UTILIZATION, int)),
    row(
        "DCGM_FI_DEV_XID_ERRORS",
        "gauge",
        "Xid",
        "Number of the last Xid since the exporter started; 0: none.",
        _last_xid,
        labels=(*LABELS, "err_code", "err_msg"),
        note="It stays until the exporter restarts, and hides a second Xid of the same number, as in dcgm-exporter."
        " err_msg has gputop's words. Better: gputop_gpu_xid_errors_total and gputop_gpu_xid_last_timestamp_seconds.",
    ),
    row("DCGM_FI_DEV_FB_FREE", "gauge", "MiB", "Free frame buffer.", of_part(c.MEMORY_FREE, mebi)),
    row(
        "DCGM_FI_DEV_FB_USED",
        "gauge",
        "MiB",
        "Used frame buffer, without the reserved part.",
        of_part(c.MEMORY_USED, mebi),
    ),
    row("DCGM_FI_DEV_FB_RESERVED", "gauge", "MiB", "Reserved frame buffer.", of_part(c.MEMORY_RESERVED, mebi)),
    row(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "counter",
        "about MB/s",
        "Data rate of all NVLinks, both directions.",
        _nvlink_rate,
        note="A rate with the type of a counter, as in dcgm-exporter: rate() of it is meaningless. Better:"
        " gputop_gpu_nvlink_transmit_bytes_per_second and gputop_gpu_nvlink_receive_bytes_per_second.",
    ),
    row(
        "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
        "gauge",
        "0 or 1",
        "vGPU licence: 0 on a GPU that is no vGPU.",
        _licence,
        note="0 on bare metal and in a VM with the whole GPU, as in DCGM. Absent on a vGPU: gputop does not read"
        " licences.",
    ),
    row(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "counter",
        "rows",
        "Memory rows remapped after an uncorrectable error.",
        of_board(c.REMAPPED_ROWS_UNCORRECTABLE, int),
    ),
    row(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "counter",
        "rows",
        "Memory rows remapped after correctable errors.",
        of_board(c.REMAPPED_ROWS_CORRECTABLE, int),
    ),
    row(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "gauge",
        "0 or 1",
        "Whether a row remap failed.",
        of_board(c.REMAPPED_ROWS_FAILED, int),
    ),
    row(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "gauge",
        "ratio",
        "Graphics engine active.",
        of_part(c.GRAPHICS_ACTIVE, ratio),
        **_GPM,
    ),
    row(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "gauge",
        "ratio",
        "Tensor pipes active.",
        of_part(c.TENSOR_ACTIVE, ratio),
        **_GPM,
    ),
    row(
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "gauge",
        "ratio",
        "Device memory interface active.",
        of_part(c.DRAM_ACTIVE, ratio),
        **_GPM,
    ),
    row(
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "gauge",
        "B/s",
        "Data rate from the GPU over PCIe.",
        of_whole(c.PCIE_TX, int),
        note="A rate despite its name, as in dcgm-exporter. gputop also has it before Hopper.",
    ),
    row(
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "gauge",
        "B/s",
        "Data rate to the GPU over PCIe.",
        of_whole(c.PCIE_RX, int),
        note="A rate despite its name, as in dcgm-exporter. gputop also has it before Hopper.",
    ),
    # --- commented out in dcgm-exporter's configuration -----------------------------------------------------------
    row(
        "DCGM_FI_DEV_POWER_VIOLATION",
        "counter",
        "ns",
        "Time with lower clocks because of the power limit.",
        of_board(c.THROTTLED_POWER_CAP, nano),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "counter",
        "ns",
        "Time with lower clocks because of heat.",
        of_board(c.THROTTLED_SW_THERMAL, nano),
        **_MORE,
        note="A near value: gputop reads the newer counter of software thermal slowdown, if the driver has it.",
    ),
    row(
        "DCGM_FI_DEV_SYNC_BOOST_VIOLATION",
        "counter",
        "ns",
        "Time with lower clocks because of sync boost.",
        of_board(c.THROTTLED_SYNC_BOOST, nano),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
        "counter",
        "",
        "Corrected ECC errors since driver load.",
        of_board(c.ECC_VOLATILE_CORRECTED, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "counter",
        "",
        "Uncorrected ECC errors since driver load.",
        of_board(c.ECC_VOLATILE_UNCORRECTED, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
        "counter",
        "",
        "Corrected ECC errors over the lifetime of the board.",
        of_board(c.ECC_AGGREGATE_CORRECTED, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
        "counter",
        "",
        "Uncorrected ECC errors over the lifetime of the board.",
        of_board(c.ECC_AGGREGATE_UNCORRECTED, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_RETIRED_SBE",
        "counter",
        "pages",
        "Pages retired after corrected errors.",
        of_board(c.RETIRED_PAGES_SINGLE, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_RETIRED_DBE",
        "counter",
        "pages",
        "Pages retired after an uncorrected error.",
        of_board(c.RETIRED_PAGES_DOUBLE, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_RETIRED_PENDING",
        "counter",
        "0 or 1",
        "Whether pages wait for retirement.",
        of_board(c.RETIRED_PAGES_PENDING, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "counter",
        "",
        "NVLink packets sent again.",
        of_board(c.NVLINK_REPLAYS, int),
        **_MORE,
        note="gputop reads another counter of the link than DCGM. The numbers are near, not equal.",
    ),
    row(
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        "counter",
        "",
        "NVLink failures repaired.",
        of_board(c.NVLINK_RECOVERIES, int),
        **_MORE,
        note="gputop reads another counter of the link than DCGM. The numbers are near, not equal.",
    ),
    row(
        "DCGM_FI_PROF_SM_ACTIVE",
        "gauge",
        "ratio",
        "SMs with at least one warp.",
        of_part(c.SM_ACTIVE, ratio),
        **_GPM_MORE,
    ),
    row(
        "DCGM_FI_PROF_SM_OCCUPANCY", "gauge", "ratio", "Warps on the SMs.", of_part(c.SM_OCCUPANCY, ratio), **_GPM_MORE
    ),
    row(
        "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
        "gauge",
        "ratio",
        "FP64 pipes active.",
        of_part(c.FP64_ACTIVE, ratio),
        **_GPM_MORE,
    ),
    row(
        "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
        "gauge",
        "ratio",
        "FP32 pipes active.",
        of_part(c.FP32_ACTIVE, ratio),
        **_GPM_MORE,
    ),
    row(
        "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
        "gauge",
        "ratio",
        "FP16 pipes active.",
        of_part(c.FP16_ACTIVE, ratio),
        **_GPM_MORE,
    ),
    row(
        "DCGM_FI_PROF_NVLINK_TX_BYTES",
        "gauge",
        "B/s",
        "Data rate sent over NVLink.",
        of_whole(c.NVLINK_TX, int),
        **_MORE,
    ),
    row(
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "gauge",
        "B/s",
        "Data rate received over NVLink.",
        of_whole(c.NVLINK_RX, int),
        **_MORE,
    ),
    row(
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
    row(
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
    """A series of dcgm-exporter that gputop does not serve."""

    name: str
    why: str


_NOT_READ: Final = "gputop does not read this counter."

ABSENT: Final = (
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
    *(
        Absent(f"DCGM_FI_DEV_{name}", "A label; gputop does not read this text.")
        for name in ("BRAND", "OEM_INFOROM_VER", "ECC_INFOROM_VER", "POWER_INFOROM_VER", "INFOROM_IMAGE_VER")
    ),
)
