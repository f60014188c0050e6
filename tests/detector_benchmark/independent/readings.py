"""What the driver of a board reports of it: the metrics that it has, and the reasons for those that it lacks."""

from random import Random
from typing import Any, Final

from detector_benchmark.independent.boards import (
    COUNTERS,
    GPM,
    NVLINK,
    PCIE,
    POWER,
    REASONS,
    UTILIZATION,
    Board,
)
from detector_benchmark.independent.circuit import Circuit, Total

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Reasons

_MIB: Final = 1024**2
_GROUPS: Final = {
    GPM: ("graphics_active_percent", "sm_active_percent", "sm_occupancy_percent", "tensor_active_percent",
          "dram_active_percent", "fp64_active_percent", "fp32_active_percent", "fp16_active_percent"),
    PCIE: ("pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"),
    POWER: ("power_average_w", "power_instant_w", "power_limit_w", "power_limit_default_w", "power_limit_min_w",
            "power_limit_max_w", "energy_j"),
    NVLINK: ("nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s", "nvlink_links", "nvlink_links_down",
             "nvlink_replay_errors", "nvlink_recovery_errors", "nvlink_crc_errors"),
    REASONS: ("clocks_event_reasons",),
    COUNTERS: ("throttled_power_cap_s", "throttled_sync_boost_s", "throttled_software_thermal_s",
               "throttled_hardware_thermal_s", "throttled_power_brake_s"),
    UTILIZATION: ("gpu_utilization_percent", "memory_utilization_percent", "encoder_utilization_percent",
                  "decoder_utilization_percent", "jpeg_utilization_percent", "ofa_utilization_percent"),
}  # fmt: skip
_NEVER: Final = (
    "serial", "fan_percent", "memory_temperature_c", "memory_temperature_max_c", "retired_pages_single_bit",
    "retired_pages_double_bit", "retired_pages_pending",
)  # fmt: skip


def lacking(board: Board) -> Reasons:
    """Return the metrics that the driver lacks."""
    names = [*_NEVER, *(name for group, names in _GROUPS.items() if group not in board.has for name in names)]
    return dict.fromkeys(names, Missing.UNSUPPORTED)


def steady(board: Board, index: int) -> dict[str, Any]:
    """Return the values that never change, with a zero for every counter."""
    values: dict[str, Any] = dict.fromkeys((metric.key for metric in CATALOGUE), 0)
    values |= {
        "vbios_version": "96.00.61.00.01", "architecture": board.architecture, "compute_capability": "9.0",
        "cores": 16896, "multiprocessors": 132, "minor_number": index, "memory_total_bytes": board.memory_mib * _MIB,
        "memory_reserved_bytes": board.reserved_mib * _MIB, "bar1_total_bytes": 2**37, "bar1_used_bytes": 10 * _MIB,
        "temperature_slowdown_c": board.slowdown_c, "temperature_shutdown_c": board.slowdown_c + 5,
        "power_limit_w": board.limit_w, "power_limit_default_w": board.limit_w,
        "power_limit_min_w": round(board.limit_w / 3), "power_limit_max_w": board.limit_w,
        "clock_memory_hz": board.memory_mhz * 10**6, "clock_memory_max_hz": board.memory_mhz * 10**6,
        "clock_sm_max_hz": board.boost_mhz * 10**6, "clock_graphics_max_hz": board.boost_mhz * 10**6,
        "clock_video_max_hz": 1545 * 10**6, "clock_video_hz": 1545 * 10**6, "pcie_generation": 4, "pcie_width": 16,
        "pcie_generation_max": 4, "pcie_width_max": 16, "nvlink_links": 18, "ecc_enabled": True,
        "remapped_rows_pending": False, "remapped_rows_failed": False, "recovery_action": "none",
        "persistence_mode": True, "compute_mode": "default", "mig_mode": bool(board.slices),
        "mig_mode_pending": bool(board.slices),
    }  # fmt: skip
    return values | dict.fromkeys(lacking(board))


def changing(circuit: Circuit, total: Total, used_mib: float, random: Random) -> dict[str, Any]:
    """Return the values of this second, those of every group."""
    board = circuit.board
    clock_hz = round(board.boost_mhz * circuit.clock / 15) * 15 * 10**6
    used = int(used_mib * _MIB)
    background = abs(random.gauss(0.62, 0.06))  # MB/s that the driver itself causes
    return {
        "gpu_utilization_percent": round(total.util), "memory_utilization_percent": round(total.mc),
        "encoder_utilization_percent": round(total.encoder), "decoder_utilization_percent": round(total.decoder),
        "memory_used_bytes": used,
        "memory_free_bytes": max(0, (board.memory_mib - board.reserved_mib) * _MIB - used),
        "temperature_c": round(circuit.celsius), "temperature_margin_c": round(board.slowdown_c - circuit.celsius),
        "power_average_w": round(circuit.power_w, 3),
        "power_instant_w": round(circuit.power_w * random.gauss(1, 0.01), 3),
        "energy_j": round(circuit.energy_j, 3), "clock_sm_hz": clock_hz, "clock_graphics_hz": clock_hz,
        "performance_state": 8 if "idle" in circuit.reasons and GPM not in board.has else 0,
        "clocks_event_reasons": circuit.reasons, "throttled_power_cap_s": circuit.power_cap_s,
        "throttled_software_thermal_s": circuit.software_thermal_s,
        "throttled_hardware_thermal_s": circuit.hardware_thermal_s, "throttled_power_brake_s": circuit.power_brake_s,
        "pcie_rx_bytes_per_s": 1e6 * (total.rx + background), "pcie_tx_bytes_per_s": 1e6 * (total.tx + background),
        "nvlink_tx_bytes_per_s": 1e6 * total.nv, "nvlink_rx_bytes_per_s": 1e6 * total.nv,
    }  # fmt: skip


def profiled(total: Total) -> dict[str, Any]:
    """Return the values of GPM."""
    return {
        "graphics_active_percent": round(min(100.0, total.util), 2), "sm_active_percent": round(total.sm, 2),
        "sm_occupancy_percent": round(total.occupancy, 2), "tensor_active_percent": round(total.tensor, 2),
        "dram_active_percent": round(total.dram, 2), "fp64_active_percent": round(total.fp64, 2),
        "fp32_active_percent": round(max(0.0, total.sm * 0.4 - total.fp64), 2), "fp16_active_percent": 0.0,
    }  # fmt: skip
