"""The catalogue of metrics, one row per metric of a GPU: key in JSON, unit, driver call, cadence and help.

Sources are nvml.h 13.4 and the driver's documentation; comments say what the name of a call does not.
"""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

from gputop.core.model.metric import ONCE, Field, FieldRate, Gpm, Metric, NvmlCall, Origin, Reading, Unit
from gputop.core.table_rows import joined

MODULE: Final = 1  # the scope of a power value that is of the whole module
ALL_LINKS: Final = 0xFFFFFFFF  # the scope of a field value that is a sum over all NVLinks

ARCHITECTURES: Final = {
    2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere", 8: "Ada", 9: "Hopper",
    10: "Blackwell", 11: "Orin",
}  # fmt: skip
COMPUTE_MODES: Final = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
VIRTUALIZATION_MODES: Final = {0: "none", 1: "passed through", 2: "vGPU", 3: "host of vGPUs", 4: "host of vSGA"}
RECOVERY_ACTIONS: Final = {
    0: "none", 1: "reset GPU", 2: "reboot node", 3: "drain P2P", 4: "drain and reset", 5: "recover IMEX domain",
    6: "reset bus", 7: "reboot system",
}  # fmt: skip
CLOCKS_EVENT_REASONS: Final = {
    0x1: "idle", 0x2: "application clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
    0x20: "software thermal", 0x40: "hardware thermal", 0x80: "power brake", 0x100: "display clocks",
    0x200: "board limit", 0x400: "reliability",
}  # fmt: skip


def _first(answer: Any) -> Any:
    return answer[0]


def _second(answer: Any) -> Any:
    return answer[1]


def _third(answer: Any) -> Any:
    return answer[2]


def _fourth(answer: Any) -> Any:
    return answer[3]


def _milli(answer: float) -> float:
    return answer / 1000


def _nano(answer: float) -> float:
    return answer / 1_000_000_000


def _kibi(answer: float) -> float:
    return answer * 1024


def _mebi(answer: float) -> float:
    return answer * 1024**2


def _mega(answer: int) -> int:
    return answer * 1_000_000


def _flag(answer: int) -> bool:
    return bool(answer)


def _event_reasons(mask: int) -> tuple[str, ...]:
    """Return the names of the bits in the mask; an unknown bit stays a hexadecimal number."""
    bits = (1 << n for n in range(64) if mask >> n & 1)
    return tuple(CLOCKS_EVENT_REASONS.get(bit, hex(bit)) for bit in bits)


def _row(key: str, label: str, unit: Unit, *origins: Origin, every_s: float = 0.0, help: str = "") -> Metric[Any]:  # noqa: A002
    return Metric(key=key, label=label, unit=unit, origins=origins, every_s=every_s, help=help)


# --- identity: once ----------------------------------------------------------------------------------------------
SERIAL: Final[Metric[str]] = _row(
    "serial", "Serial number", Unit.NONE, NvmlCall("nvmlDeviceGetSerial"), every_s=ONCE,
    help="Serial number of the board, as printed on it.",
)  # fmt: skip
VBIOS: Final[Metric[str]] = _row(
    "vbios_version", "VBIOS", Unit.NONE, NvmlCall("nvmlDeviceGetVbiosVersion"), every_s=ONCE,
    help="Version of the firmware on the board.",
)  # fmt: skip
ARCHITECTURE: Final[Metric[str]] = _row(
    "architecture", "Architecture", Unit.NONE,
    NvmlCall("nvmlDeviceGetArchitecture", to=lambda n: ARCHITECTURES.get(n, f"architecture {n}")), every_s=ONCE,
    help="Generation of the chip.",
)  # fmt: skip
COMPUTE_CAPABILITY: Final[Metric[str]] = _row(
    "compute_capability", "Compute capability", Unit.NONE,
    NvmlCall("nvmlDeviceGetCudaComputeCapability", to=lambda pair: f"{pair[0]}.{pair[1]}"), every_s=ONCE,
    help="CUDA feature level, as in nvcc -arch.",
)  # fmt: skip
CORES: Final[Metric[int]] = _row(
    "cores", "CUDA cores", Unit.COUNT, NvmlCall("nvmlDeviceGetNumGpuCores"), every_s=ONCE,
    help="FP32 lanes of all streaming multiprocessors.",
)  # fmt: skip
MULTIPROCESSORS: Final[Metric[int]] = _row(
    "multiprocessors", "SMs", Unit.COUNT, Reading("multiprocessors"), every_s=ONCE,
    help="Number of streaming multiprocessors, computed from the number of CUDA cores.",
)  # fmt: skip
MINOR_NUMBER: Final[Metric[int]] = _row(
    "minor_number", "Device file", Unit.COUNT, NvmlCall("nvmlDeviceGetMinorNumber"), every_s=ONCE,
    help="The N in /dev/nvidiaN.",
)  # fmt: skip

# --- utilization -------------------------------------------------------------------------------------------------
GPU_UTILIZATION: Final[Metric[int]] = _row(
    "gpu_utilization_percent", "GPU utilization", Unit.PERCENT,
    NvmlCall("nvmlDeviceGetUtilizationRates", to=lambda rates: rates.gpu),
    help="Share of time in which a kernel ran. One tiny kernel in a loop makes it 100 %. It does not show useful work.",
)  # fmt: skip
MEMORY_UTILIZATION: Final[Metric[int]] = _row(
    "memory_utilization_percent", "Memory utilization", Unit.PERCENT,
    NvmlCall("nvmlDeviceGetUtilizationRates", to=lambda rates: rates.memory),
    help="Share of time in which the memory controller was busy. It is not the share of used memory.",
)  # fmt: skip
ENCODER_UTILIZATION: Final[Metric[int]] = _row(
    "encoder_utilization_percent", "Encoder", Unit.PERCENT,
    NvmlCall("nvmlDeviceGetEncoderUtilization", to=_first), every_s=5, help="Use of the video encoder (NVENC).",
)  # fmt: skip
DECODER_UTILIZATION: Final[Metric[int]] = _row(
    "decoder_utilization_percent", "Decoder", Unit.PERCENT,
    NvmlCall("nvmlDeviceGetDecoderUtilization", to=_first), every_s=5, help="Use of the video decoder (NVDEC).",
)  # fmt: skip
ENCODER_SESSIONS: Final[Metric[int]] = _row(
    "encoder_sessions", "Encoder sessions", Unit.COUNT, NvmlCall("nvmlDeviceGetEncoderStats", to=_first), every_s=5,
    help="Encodings in progress. GeForce boards limit their number.",
)  # fmt: skip
JPEG_UTILIZATION: Final[Metric[int]] = _row(
    "jpeg_utilization_percent", "JPEG", Unit.PERCENT,
    NvmlCall("nvmlDeviceGetJpgUtilization", to=_first), every_s=5, help="Use of the JPEG decoder (NVJPG).",
)  # fmt: skip
OFA_UTILIZATION: Final[Metric[int]] = _row(
    "ofa_utilization_percent", "Optical flow", Unit.PERCENT,
    NvmlCall("nvmlDeviceGetOfaUtilization", to=_first), every_s=5, help="Use of the optical flow accelerator.",
)  # fmt: skip

# --- memory ------------------------------------------------------------------------------------------------------
MEMORY_TOTAL: Final[Metric[int]] = _row(
    "memory_total_bytes", "Memory total", Unit.BYTES, Reading("memory_total"), help="Frame buffer of the board.",
)  # fmt: skip
MEMORY_USED: Final[Metric[int]] = _row(
    "memory_used_bytes", "Memory used", Unit.BYTES, Reading("memory_used"),
    help="Allocated frame buffer, without the part that the driver reserves.",
)  # fmt: skip
MEMORY_RESERVED: Final[Metric[int]] = _row(
    "memory_reserved_bytes", "Memory reserved", Unit.BYTES, Reading("memory_reserved"),
    help="Frame buffer that the driver and the firmware reserve.",
)  # fmt: skip
MEMORY_FREE: Final[Metric[int]] = _row(
    "memory_free_bytes", "Memory free", Unit.BYTES, Reading("memory_free"), help="Frame buffer that can be allocated.",
)  # fmt: skip
BAR1_TOTAL: Final[Metric[int]] = _row(
    "bar1_total_bytes", "BAR1 total", Unit.BYTES,
    NvmlCall("nvmlDeviceGetBAR1MemoryInfo", to=lambda info: info.bar1Total), every_s=10,
    help="Size of the window through which the CPU and other devices access the frame buffer.",
)  # fmt: skip
BAR1_USED: Final[Metric[int]] = _row(
    "bar1_used_bytes", "BAR1 used", Unit.BYTES,
    NvmlCall("nvmlDeviceGetBAR1MemoryInfo", to=lambda info: info.bar1Used), every_s=10,
    help="Mapped part of the BAR1 window.",
)  # fmt: skip

# --- temperature and fan -----------------------------------------------------------------------------------------
TEMPERATURE: Final[Metric[int]] = _row(
    "temperature_c", "Temperature", Unit.CELSIUS,
    NvmlCall("nvmlDeviceGetTemperatureV", (0,)), NvmlCall("nvmlDeviceGetTemperature", (0,)),
    help="Temperature of the GPU chip.",
)  # fmt: skip
MEMORY_TEMPERATURE: Final[Metric[int]] = _row(
    "memory_temperature_c", "Memory temperature", Unit.CELSIUS, Field(82, to=lambda c: c or None),
    help="Temperature of the memory chips, if the board measures it.",
)  # fmt: skip
TEMPERATURE_MARGIN: Final[Metric[int]] = _row(
    "temperature_margin_c", "Margin", Unit.CELSIUS, NvmlCall("nvmlDeviceGetMarginTemperature"),
    every_s=5,
    help="Degrees until the board lowers its clocks.",
)  # fmt: skip
TEMPERATURE_SLOWDOWN: Final[Metric[int]] = _row(
    "temperature_slowdown_c", "Slowdown at", Unit.CELSIUS, NvmlCall("nvmlDeviceGetTemperatureThreshold", (1,)),
    every_s=ONCE, help="Temperature at which the board lowers its clocks.",
)  # fmt: skip
TEMPERATURE_SHUTDOWN: Final[Metric[int]] = _row(
    "temperature_shutdown_c", "Shutdown at", Unit.CELSIUS, NvmlCall("nvmlDeviceGetTemperatureThreshold", (0,)),
    every_s=ONCE, help="Temperature at which the board switches itself off.",
)  # fmt: skip
TEMPERATURE_MEMORY_MAX: Final[Metric[int]] = _row(
    "memory_temperature_max_c", "Memory maximum", Unit.CELSIUS, NvmlCall("nvmlDeviceGetTemperatureThreshold", (2,)),
    every_s=ONCE, help="Temperature above which the board lowers its clocks to protect the memory.",
)  # fmt: skip
FAN: Final[Metric[int]] = _row(
    "fan_percent", "Fan", Unit.FAN, NvmlCall("nvmlDeviceGetFanSpeed"), every_s=5,
    help="Intended speed, as a share of the maximum. It can exceed 100 %.",
)  # fmt: skip

# --- power and energy --------------------------------------------------------------------------------------------
POWER_AVERAGE: Final[Metric[float]] = _row(
    "power_average_w", "Power draw", Unit.WATTS,
    Field(185, to=_milli), NvmlCall("nvmlDeviceGetPowerUsage", to=_milli), Field(186, to=_milli),
    help="Mean of the last second. On a board without a mean, such as A100 and T4: the value at this moment.",
)  # fmt: skip
POWER_INSTANT: Final[Metric[float]] = _row(
    "power_instant_w", "Power now", Unit.WATTS, Field(186, to=_milli), help="Instantaneous power draw.",
)  # fmt: skip
POWER_MODULE: Final[Metric[float]] = _row(
    "power_module_w", "Module power", Unit.WATTS, Field(185, MODULE, to=_milli), every_s=5,
    help="Mean power draw of a superchip module: its CPU, GPUs and memory.",
)  # fmt: skip
POWER_LIMIT: Final[Metric[float]] = _row(
    "power_limit_w", "Enforced limit", Unit.WATTS, NvmlCall("nvmlDeviceGetEnforcedPowerLimit", to=_milli), every_s=5,
    help="The power limit that applies now: the lowest of all limits, including those of the BMC.",
)  # fmt: skip
POWER_LIMIT_DEFAULT: Final[Metric[float]] = _row(
    "power_limit_default_w", "Default limit", Unit.WATTS,
    NvmlCall("nvmlDeviceGetPowerManagementDefaultLimit", to=_milli), every_s=ONCE, help="Limit of the board at boot.",
)  # fmt: skip
POWER_LIMIT_MIN: Final[Metric[float]] = _row(
    "power_limit_min_w", "Lowest limit", Unit.WATTS,
    NvmlCall("nvmlDeviceGetPowerManagementLimitConstraints", to=lambda pair: pair[0] / 1000), every_s=ONCE,
    help="Lowest limit that can be set.",
)  # fmt: skip
POWER_LIMIT_MAX: Final[Metric[float]] = _row(
    "power_limit_max_w", "Highest limit", Unit.WATTS,
    NvmlCall("nvmlDeviceGetPowerManagementLimitConstraints", to=lambda pair: pair[1] / 1000), every_s=ONCE,
    help="Highest limit that can be set.",
)  # fmt: skip
ENERGY: Final[Metric[float]] = _row(
    "energy_j", "Energy", Unit.JOULES,
    Field(83, to=_milli), NvmlCall("nvmlDeviceGetTotalEnergyConsumption", to=_milli),
    help="Energy since the driver was loaded (Volta and newer).",
)  # fmt: skip

# --- clocks ------------------------------------------------------------------------------------------------------
CLOCK_SM: Final[Metric[int]] = _row(
    "clock_sm_hz", "SM clock", Unit.HERTZ, NvmlCall("nvmlDeviceGetClockInfo", (1,), to=_mega),
    help="Clock of the streaming multiprocessors.",
)  # fmt: skip
CLOCK_MEMORY: Final[Metric[int]] = _row(
    "clock_memory_hz", "Memory clock", Unit.HERTZ, NvmlCall("nvmlDeviceGetClockInfo", (2,), to=_mega),
    every_s=5,
    help="Clock of the frame buffer.",
)  # fmt: skip
CLOCK_GRAPHICS: Final[Metric[int]] = _row(
    "clock_graphics_hz", "Graphics clock", Unit.HERTZ, NvmlCall("nvmlDeviceGetClockInfo", (0,), to=_mega), every_s=10,
    help="Clock of the graphics engine.",
)  # fmt: skip
CLOCK_VIDEO: Final[Metric[int]] = _row(
    "clock_video_hz", "Video clock", Unit.HERTZ, NvmlCall("nvmlDeviceGetClockInfo", (3,), to=_mega), every_s=10,
    help="Clock of the video engines.",
)  # fmt: skip
CLOCK_SM_MAX: Final[Metric[int]] = _row(
    "clock_sm_max_hz", "SM clock maximum", Unit.HERTZ, NvmlCall("nvmlDeviceGetMaxClockInfo", (1,), to=_mega),
    every_s=ONCE, help="Highest SM clock of the board.",
)  # fmt: skip
CLOCK_MEMORY_MAX: Final[Metric[int]] = _row(
    "clock_memory_max_hz", "Memory clock maximum", Unit.HERTZ, NvmlCall("nvmlDeviceGetMaxClockInfo", (2,), to=_mega),
    every_s=ONCE, help="Highest memory clock of the board.",
)  # fmt: skip
CLOCK_GRAPHICS_MAX: Final[Metric[int]] = _row(
    "clock_graphics_max_hz", "Graphics clock maximum", Unit.HERTZ,
    NvmlCall("nvmlDeviceGetMaxClockInfo", (0,), to=_mega), every_s=ONCE, help="Highest graphics clock of the board.",
)  # fmt: skip
CLOCK_VIDEO_MAX: Final[Metric[int]] = _row(
    "clock_video_max_hz", "Video clock maximum", Unit.HERTZ, NvmlCall("nvmlDeviceGetMaxClockInfo", (3,), to=_mega),
    every_s=ONCE, help="Highest video clock of the board.",
)  # fmt: skip
PSTATE: Final[Metric[int]] = _row(
    "performance_state", "P-state", Unit.COUNT,
    NvmlCall("nvmlDeviceGetPerformanceState", to=lambda n: None if n == 32 else n), every_s=5,
    help="0 is the fastest, 15 the slowest.",
)  # fmt: skip
EVENT_REASONS: Final[Metric[tuple[str, ...]]] = _row(
    "clocks_event_reasons", "Clocks event reasons", Unit.NONE,
    NvmlCall("nvmlDeviceGetCurrentClocksEventReasons", to=_event_reasons),
    NvmlCall("nvmlDeviceGetCurrentClocksThrottleReasons", to=_event_reasons),
    help="Why the clocks are below their maximum (throttling). A power cap is normal for a busy GPU.",
)  # fmt: skip
THROTTLED_POWER_CAP: Final[Metric[float]] = _row(
    "throttled_power_cap_s", "Power cap time", Unit.SECONDS, Field(74, to=_nano),
    help="Counter of the time with lower clocks, to stay below the power limit.",
)  # fmt: skip
THROTTLED_SYNC_BOOST: Final[Metric[float]] = _row(
    "throttled_sync_boost_s", "Sync boost time", Unit.SECONDS, Field(76, to=_nano),
    help="Counter of the time with clocks lowered to those of the slowest GPU in the boost group.",
)  # fmt: skip
THROTTLED_SW_THERMAL: Final[Metric[float]] = _row(
    "throttled_software_thermal_s", "Software thermal time", Unit.SECONDS, Field(269, to=_nano), Field(75, to=_nano),
    help="Counter of the time with lower clocks, because the GPU or its memory was too hot.",
)  # fmt: skip
THROTTLED_HW_THERMAL: Final[Metric[float]] = _row(
    "throttled_hardware_thermal_s", "Hardware thermal time", Unit.SECONDS, Field(270, to=_nano),
    help="Counter of the time in which the hardware halved the clocks because of heat.",
)  # fmt: skip
THROTTLED_POWER_BRAKE: Final[Metric[float]] = _row(
    "throttled_power_brake_s", "Power brake time", Unit.SECONDS, Field(271, to=_nano),
    help="Counter of the time with half the clocks, because the power supply or the rack requested it.",
)  # fmt: skip

# --- PCIe and NVLink ---------------------------------------------------------------------------------------------
PCIE_GENERATION: Final[Metric[int]] = _row(
    "pcie_generation", "PCIe generation", Unit.COUNT, NvmlCall("nvmlDeviceGetCurrPcieLinkGeneration"), every_s=30,
    help="Current generation of the link. An idle link may be slower to save power.",
)  # fmt: skip
PCIE_WIDTH: Final[Metric[int]] = _row(
    "pcie_width", "PCIe width", Unit.COUNT, NvmlCall("nvmlDeviceGetCurrPcieLinkWidth"), every_s=30,
    help="Lanes that the link uses now.",
)  # fmt: skip
PCIE_GENERATION_MAX: Final[Metric[int]] = _row(
    "pcie_generation_max", "PCIe generation maximum", Unit.COUNT, NvmlCall("nvmlDeviceGetMaxPcieLinkGeneration"),
    every_s=ONCE, help="Highest generation that board and slot support.",
)  # fmt: skip
PCIE_WIDTH_MAX: Final[Metric[int]] = _row(
    "pcie_width_max", "PCIe width maximum", Unit.COUNT, NvmlCall("nvmlDeviceGetMaxPcieLinkWidth"), every_s=ONCE,
    help="Lanes that both board and slot have.",
)  # fmt: skip
# Fields 197 and 198 have 32 bits on an H100 (driver 580): they wrap each 0.7 s at 6 GB/s, so GPM comes first. Drivers
# before NVML 12.5 have only the call, which takes 20 ms in each direction.
PCIE_TX: Final[Metric[float]] = _row(
    "pcie_tx_bytes_per_s", "PCIe sent", Unit.BYTES_PER_S,
    Gpm(20, to=_mebi), FieldRate(197), NvmlCall("nvmlDeviceGetPcieThroughput", (0,), to=_kibi), every_s=2,
    help="Data from GPU to host. Before Hopper the counter has 32 bits: above 4.3 GB/s the value is too low. "
    "Drivers before R555 measure it for 20 ms only.",
)  # fmt: skip
PCIE_RX: Final[Metric[float]] = _row(
    "pcie_rx_bytes_per_s", "PCIe received", Unit.BYTES_PER_S,
    Gpm(21, to=_mebi), FieldRate(198), NvmlCall("nvmlDeviceGetPcieThroughput", (1,), to=_kibi), every_s=2,
    help="Data from host to GPU. Before Hopper the counter has 32 bits: above 4.3 GB/s the value is too low. "
    "Drivers before R555 measure it for 20 ms only.",
)  # fmt: skip
PCIE_REPLAYS: Final[Metric[int]] = _row(
    "pcie_replays", "PCIe replays", Unit.COUNT, Field(94), every_s=30, help="Counter of packets that were sent again.",
)  # fmt: skip
PCIE_CORRECTABLE: Final[Metric[int]] = _row(
    "pcie_correctable_errors", "PCIe correctable errors", Unit.COUNT, Field(173), every_s=30,
    help="Counter of errors that the link corrected.",
)  # fmt: skip
PCIE_NON_FATAL: Final[Metric[int]] = _row(
    "pcie_non_fatal_errors", "PCIe non-fatal errors", Unit.COUNT, Field(179), every_s=30,
    help="Counter of errors that the link survived.",
)  # fmt: skip
PCIE_FATAL: Final[Metric[int]] = _row(
    "pcie_fatal_errors", "PCIe fatal errors", Unit.COUNT, Field(180), every_s=30,
    help="Counter of errors that made the link unreliable.",
)  # fmt: skip
NVLINK_TX: Final[Metric[float]] = _row(
    "nvlink_tx_bytes_per_s", "NVLink sent", Unit.BYTES_PER_S, FieldRate(138, ALL_LINKS, to=_kibi), FieldRate(202),
    help="Data sent over all links.",
)  # fmt: skip
NVLINK_RX: Final[Metric[float]] = _row(
    "nvlink_rx_bytes_per_s", "NVLink received", Unit.BYTES_PER_S, FieldRate(139, ALL_LINKS, to=_kibi), FieldRate(204),
    help="Data received over all links.",
)  # fmt: skip
NVLINK_LINKS: Final[Metric[int]] = _row(
    "nvlink_links", "NVLinks", Unit.COUNT, Field(91), every_s=ONCE, help="Number of links of the GPU.",
)  # fmt: skip
NVLINK_LINKS_DOWN: Final[Metric[int]] = _row(
    "nvlink_links_down", "NVLinks down", Unit.COUNT, Reading("nvlink_links_down"), every_s=60,
    help="Number of links that are not active.",
)  # fmt: skip
NVLINK_REPLAYS: Final[Metric[int]] = _row(
    "nvlink_replay_errors", "NVLink replays", Unit.COUNT, Field(161), every_s=30,
    help="Counter of packets that were sent again, on all links.",
)  # fmt: skip
NVLINK_RECOVERIES: Final[Metric[int]] = _row(
    "nvlink_recovery_errors", "NVLink recoveries", Unit.COUNT, Field(162), every_s=30,
    help="Counter of link failures that the link repaired itself, on all links.",
)  # fmt: skip
NVLINK_CRC: Final[Metric[int]] = _row(
    "nvlink_crc_errors", "NVLink CRC errors", Unit.COUNT, Field(163), every_s=30,
    help="Counter of packets with a wrong checksum, on all links.",
)  # fmt: skip

# --- memory health -----------------------------------------------------------------------------------------------
ECC_ENABLED: Final[Metric[bool]] = _row(
    "ecc_enabled", "ECC", Unit.NONE, NvmlCall("nvmlDeviceGetEccMode", to=lambda pair: bool(pair[0])), every_s=10,
    help="Whether memory errors are detected and corrected.",
)  # fmt: skip
ECC_VOLATILE_CORRECTED: Final[Metric[int]] = _row(
    "ecc_volatile_corrected", "ECC corrected", Unit.COUNT, Field(3), NvmlCall("nvmlDeviceGetTotalEccErrors", (0, 0)),
    every_s=30, help="Counter since the driver was loaded.",
)  # fmt: skip
ECC_VOLATILE_UNCORRECTED: Final[Metric[int]] = _row(
    "ecc_volatile_uncorrected", "ECC uncorrected", Unit.COUNT,
    Field(4), NvmlCall("nvmlDeviceGetTotalEccErrors", (1, 0)),
    every_s=30, help="Counter since the driver was loaded.",
)  # fmt: skip
ECC_AGGREGATE_CORRECTED: Final[Metric[int]] = _row(
    "ecc_aggregate_corrected", "ECC corrected, lifetime", Unit.COUNT,
    Field(5), NvmlCall("nvmlDeviceGetTotalEccErrors", (0, 1)),
    every_s=60, help="Counter over the lifetime of the board.",
)  # fmt: skip
ECC_AGGREGATE_UNCORRECTED: Final[Metric[int]] = _row(
    "ecc_aggregate_uncorrected", "ECC uncorrected, lifetime", Unit.COUNT,
    Field(6), NvmlCall("nvmlDeviceGetTotalEccErrors", (1, 1)), every_s=60,
    help="Counter over the lifetime of the board.",
)  # fmt: skip
RETIRED_PAGES_SINGLE: Final[Metric[int]] = _row(
    "retired_pages_single_bit", "Retired pages, single bit", Unit.COUNT, Field(29), every_s=60,
    help="Pages taken out of use after several corrected errors (before Ampere).",
)  # fmt: skip
RETIRED_PAGES_DOUBLE: Final[Metric[int]] = _row(
    "retired_pages_double_bit", "Retired pages, double bit", Unit.COUNT, Field(30), every_s=60,
    help="Pages taken out of use after an uncorrected error (before Ampere).",
)  # fmt: skip
RETIRED_PAGES_PENDING: Final[Metric[bool]] = _row(
    "retired_pages_pending", "Retired pages pending", Unit.NONE, Field(31, to=_flag), every_s=60,
    help="Whether pages will be retired at the next reboot or reset.",
)  # fmt: skip
REMAPPED_ROWS_CORRECTABLE: Final[Metric[int]] = _row(
    "remapped_rows_correctable", "Remapped rows, corrected", Unit.COUNT,
    NvmlCall("nvmlDeviceGetRemappedRows", to=_first), every_s=60,
    help="Rows replaced after corrected errors (Ampere and newer).",
)  # fmt: skip
REMAPPED_ROWS_UNCORRECTABLE: Final[Metric[int]] = _row(
    "remapped_rows_uncorrectable", "Remapped rows, uncorrected", Unit.COUNT,
    NvmlCall("nvmlDeviceGetRemappedRows", to=_second), every_s=60, help="Rows replaced after an uncorrected error.",
)  # fmt: skip
REMAPPED_ROWS_PENDING: Final[Metric[bool]] = _row(
    "remapped_rows_pending", "Row remap pending", Unit.NONE,
    NvmlCall("nvmlDeviceGetRemappedRows", to=lambda rows: bool(_third(rows))), every_s=60,
    help="On if a bad row will be replaced at the next reset.",
)  # fmt: skip
REMAPPED_ROWS_FAILED: Final[Metric[bool]] = _row(
    "remapped_rows_failed", "Row remap failed", Unit.NONE,
    NvmlCall("nvmlDeviceGetRemappedRows", to=lambda rows: bool(_fourth(rows))), every_s=60,
    help="On if a bad row had no spare row to replace it. If so, replace the board.",
)  # fmt: skip
RECOVERY_ACTION: Final[Metric[str]] = _row(
    "recovery_action", "Recovery action", Unit.NONE,
    Field(230, to=lambda n: RECOVERY_ACTIONS.get(n, f"action {n}")), every_s=30,
    help="Action that the driver requests to repair the GPU.",
)  # fmt: skip

# --- modes -------------------------------------------------------------------------------------------------------
PERSISTENCE: Final[Metric[bool]] = _row(
    "persistence_mode", "Persistence", Unit.NONE, NvmlCall("nvmlDeviceGetPersistenceMode", to=_flag), every_s=10,
    help="Whether the driver stays loaded while no process uses the GPU.",
)  # fmt: skip
COMPUTE_MODE: Final[Metric[str]] = _row(
    "compute_mode", "Compute mode", Unit.NONE,
    NvmlCall("nvmlDeviceGetComputeMode", to=lambda n: COMPUTE_MODES.get(n, f"mode {n}")), every_s=10,
    help="Which processes may use the GPU at the same time.",
)  # fmt: skip
MIG_MODE: Final[Metric[bool]] = _row(
    "mig_mode", "MIG", Unit.NONE, NvmlCall("nvmlDeviceGetMigMode", to=lambda pair: bool(pair[0])), every_s=5,
    help="Whether MIG mode is on. If so, the GPU can be split into instances.",
)  # fmt: skip
MIG_MODE_PENDING: Final[Metric[bool]] = _row(
    "mig_mode_pending", "MIG after reset", Unit.NONE, NvmlCall("nvmlDeviceGetMigMode", to=lambda pair: bool(pair[1])),
    every_s=5, help="MIG mode after the next reset.",
)  # fmt: skip
VIRTUALIZATION: Final[Metric[str]] = _row(
    "virtualization", "Virtualization", Unit.NONE,
    NvmlCall("nvmlDeviceGetVirtualizationMode", to=lambda n: VIRTUALIZATION_MODES.get(n, f"mode {n}")), every_s=ONCE,
    help="Whether a virtual machine has the GPU: as a whole (passed through) or as a share (vGPU).",
)  # fmt: skip

# --- GPM: profiling metrics, means since the previous reading; Hopper and newer ----------------------------------
GRAPHICS_ACTIVE: Final[Metric[float]] = _row(
    "graphics_active_percent", "Graphics engine active", Unit.PERCENT, Gpm(1), every_s=5,
    help="Share of time in which compute or graphics was active.",
)  # fmt: skip
SM_ACTIVE: Final[Metric[float]] = _row(
    "sm_active_percent", "SM active", Unit.PERCENT, Gpm(2), every_s=2,
    help="Mean share of SMs that had at least one warp. 80 % is good.",
)  # fmt: skip
SM_OCCUPANCY: Final[Metric[float]] = _row(
    "sm_occupancy_percent", "SM occupancy", Unit.PERCENT, Gpm(3), every_s=2,
    help="Warps on the SMs, as a share of the maximum.",
)  # fmt: skip
TENSOR_ACTIVE: Final[Metric[float]] = _row(
    "tensor_active_percent", "Tensor active", Unit.PERCENT, Gpm(5), every_s=2,
    help="Activity of the tensor pipes. About 93 % is the maximum in practice.",
)  # fmt: skip
DRAM_ACTIVE: Final[Metric[float]] = _row(
    "dram_active_percent", "DRAM active", Unit.PERCENT, Gpm(10), every_s=2,
    help="Share of the theoretical memory bandwidth. About 80 % is the maximum in practice.",
)  # fmt: skip
FP64_ACTIVE: Final[Metric[float]] = _row(
    "fp64_active_percent", "FP64 active", Unit.PERCENT, Gpm(11), every_s=5, help="Activity of the FP64 pipe."
)
FP32_ACTIVE: Final[Metric[float]] = _row(
    "fp32_active_percent", "FP32 active", Unit.PERCENT, Gpm(12), every_s=5, help="Activity of the FP32 pipe."
)
FP16_ACTIVE: Final[Metric[float]] = _row(
    "fp16_active_percent", "FP16 active", Unit.PERCENT, Gpm(13), every_s=5, help="Activity of the FP16 pipe."
)

_OWN: Final = tuple(value for value in globals().values() if isinstance(value, Metric))
CATALOGUE: Final[tuple[Metric[Any], ...]] = joined("metrics", _OWN, attrgetter("key"))
