"""gputop's own series of GPUs and MIG instances, in base units."""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from gputop.core.model import catalogue as c
from gputop.core.model.catalogue import CLOCKS_EVENT_REASONS
from gputop.core.model.metric import Metric, Missing, Unit
from gputop.core.model.sample import Gpu, GpuInstance, GpuState, Readings
from gputop.core.usage.events import GpuEvents
from gputop.report.prometheus.labels import Labels, Number, rendered
from gputop.report.prometheus.series import Entity, Labelled, Series

LABELS: Final = ("gpu", "uuid")
INSTANCE_LABELS: Final = (*LABELS, "gpu_instance_id", "profile")
_EXPECTED: Final = (Missing.NOT_YET, Missing.UNSUPPORTED)
_RATIOS: Final = (Unit.PERCENT, Unit.FAN)


class OwnGpu(Entity):
    """A GPU. ``processes``: how many are on it; None if the driver does not list them."""

    gpu: Gpu
    events: GpuEvents
    processes: int | None


class OwnInstance(Entity):
    """A GPU instance."""

    instance: GpuInstance


def labels_of(gpu: Gpu) -> Labels:
    """Return the labels of a GPU in gputop's own series."""
    return (("gpu", str(gpu.index)), ("uuid", gpu.uuid))


def own_gpu(gpu: Gpu, events: GpuEvents, processes: int | None) -> OwnGpu:
    """Return a GPU with its labels."""
    return OwnGpu(rendered(labels_of(gpu)), gpu, events, processes)


def own_instance(gpu: Gpu, instance: GpuInstance) -> OwnInstance:
    """Return a GPU instance with its labels."""
    own = (("gpu_instance_id", str(instance.id)), ("profile", instance.profile))
    return OwnInstance(rendered((*labels_of(gpu), *own)), instance)


# --- values ------------------------------------------------------------------------------------------------------
def _reading(metric: Metric[Any]) -> Callable[[Readings], Number | None]:
    """Return a function to a reading in its base unit; a share is a ratio, 0-1."""
    if metric.unit not in _RATIOS:
        return lambda readings: readings[metric]

    def ratio(readings: Readings) -> Number | None:
        value: Number | None = readings[metric]
        return None if value is None else round(value / 100, 6)

    return ratio


def _reasons(entity: OwnGpu) -> list[Labelled] | None:
    present = entity.gpu[c.EVENT_REASONS]
    if present is None:
        return None
    known = dict.fromkeys((*CLOCKS_EVENT_REASONS.values(), *present))
    return [((("reason", _snake(reason)),), reason in present) for reason in known]


def _present(metric: Metric[str], label: str) -> Callable[[OwnGpu], list[Labelled]]:
    """Return a function to the present one of several states."""

    def value(entity: OwnGpu) -> list[Labelled]:
        state = entity.gpu[metric]
        return [] if state is None else [(((label, _snake(state)),), 1)]

    return value


def _snake(words: str) -> str:
    return words.lower().replace(" ", "_")


def _states(entity: OwnGpu) -> list[Labelled]:
    return [((("state", state.value),), entity.gpu.state is state) for state in GpuState]


def _info(entity: OwnGpu) -> list[Labelled]:
    gpu = entity.gpu
    read = {"vbios_version": c.VBIOS, "serial": c.SERIAL, "architecture": c.ARCHITECTURE}
    read |= {"compute_capability": c.COMPUTE_CAPABILITY}
    known = tuple((name, gpu[metric] or "") for name, metric in read.items())
    minor = gpu[c.MINOR_NUMBER]
    number = "" if minor is None else str(minor)
    return [((("name", gpu.name), ("pci_bus_id", gpu.bus_id), ("minor_number", number), *known), 1)]


def _xids(entity: OwnGpu) -> list[Labelled]:
    return [((("xid", str(xid)),), each.count) for xid, each in sorted(entity.events.xids.items())]


def _xid_times(entity: OwnGpu) -> list[Labelled]:
    return [((("xid", str(xid)),), round(each.last_s, 3)) for xid, each in sorted(entity.events.xids.items())]


def _missing(entity: OwnGpu) -> list[Labelled]:
    """Return how many readings are missing, by reason. Of a lost GPU, these are all."""
    reasons = Counter(why for why in entity.gpu.missing.values() if why is not Missing.NOT_YET)
    return [((("reason", why.value),), count) for why, count in sorted(reasons.items())]


def _missing_metrics(entity: OwnGpu) -> list[Labelled]:
    """Return the missing readings that a better permission, driver or GPU would have; a lost GPU lacks all."""
    if entity.gpu.state is not GpuState.OK:
        return []
    why = sorted(entity.gpu.missing.items())
    return [((("metric", key), ("reason", reason.value)), 1) for key, reason in why if reason not in _EXPECTED]


def _compute_instances(entity: OwnInstance) -> list[Labelled]:
    return [
        ((("compute_instance_id", str(one.id)), ("mig_uuid", one.uuid), ("name", one.name)), 1)
        for one in entity.instance.compute_instances
    ]


# --- rows --------------------------------------------------------------------------------------------------------
_THROTTLED: Final = {
    "power_cap": c.THROTTLED_POWER_CAP, "sync_boost": c.THROTTLED_SYNC_BOOST,
    "software_thermal": c.THROTTLED_SW_THERMAL, "hardware_thermal": c.THROTTLED_HW_THERMAL,
    "power_brake": c.THROTTLED_POWER_BRAKE,
}  # fmt: skip
_ECC: Final = {
    ("volatile", "corrected"): c.ECC_VOLATILE_CORRECTED, ("volatile", "uncorrected"): c.ECC_VOLATILE_UNCORRECTED,
    ("aggregate", "corrected"): c.ECC_AGGREGATE_CORRECTED, ("aggregate", "uncorrected"): c.ECC_AGGREGATE_UNCORRECTED,
}  # fmt: skip


def _throttled(entity: OwnGpu) -> list[Labelled]:
    known = ((reason, entity.gpu[metric]) for reason, metric in _THROTTLED.items())
    return [((("reason", reason),), value) for reason, value in known if value is not None]


def _ecc(entity: OwnGpu) -> list[Labelled]:
    known = ((counter, error, entity.gpu[metric]) for (counter, error), metric in _ECC.items())
    return [((("counter", counter), ("error", error)), value) for counter, error, value in known if value is not None]


def _row(
    name: str, unit: str, about: str, value: Callable[[OwnGpu], Any], *more: str
) -> Series[OwnGpu]:  # fmt: skip
    kind: Any = "counter" if name.endswith("_total") else "gauge"
    return Series(name=name, type=kind, unit=unit, help=about, labels=(*LABELS, *more), of=OwnGpu, value=value)


def _gpu(name: str, metric: Metric[Any], about: str = "") -> Series[OwnGpu]:
    """Return the row of a metric of the catalogue."""
    read = _reading(metric)
    return _row(name, _unit(metric), about or metric.help, lambda entity: read(entity.gpu))


def _instance(name: str, metric: Metric[Any], about: str = "") -> Series[OwnInstance]:
    read = _reading(metric)
    return Series(
        name=name, type="gauge", unit=_unit(metric), help=about or metric.help, labels=INSTANCE_LABELS, of=OwnInstance,
        value=lambda entity: read(entity.instance),
    )  # fmt: skip


def _unit(metric: Metric[Any]) -> str:
    return "ratio" if metric.unit in _RATIOS else metric.unit.sign


GPUS: Final[tuple[Series[Any], ...]] = (
    _row(
        "gputop_gpu_info", "", "Identity of the GPU; the value is 1.", _info,
        "name", "pci_bus_id", "minor_number", "vbios_version", "serial", "architecture", "compute_capability",
    ),
    _row("gputop_gpu_state", "0 or 1", "Whether the GPU answers (ok), is lost or hangs.", _states, "state"),
    _row("gputop_gpu_processes", "", "Processes that the driver lists on the GPU.", lambda entity: entity.processes),
    _gpu("gputop_gpu_utilization_ratio", c.GPU_UTILIZATION),
    _gpu("gputop_gpu_memory_utilization_ratio", c.MEMORY_UTILIZATION),
    _gpu("gputop_gpu_encoder_utilization_ratio", c.ENCODER_UTILIZATION),
    _gpu("gputop_gpu_decoder_utilization_ratio", c.DECODER_UTILIZATION),
    _gpu("gputop_gpu_encoder_sessions", c.ENCODER_SESSIONS),
    _gpu("gputop_gpu_memory_total_bytes", c.MEMORY_TOTAL),
    _gpu("gputop_gpu_memory_used_bytes", c.MEMORY_USED),
    _gpu("gputop_gpu_memory_reserved_bytes", c.MEMORY_RESERVED),
    _gpu("gputop_gpu_memory_free_bytes", c.MEMORY_FREE),
    _gpu("gputop_gpu_temperature_celsius", c.TEMPERATURE),
    _gpu("gputop_gpu_memory_temperature_celsius", c.MEMORY_TEMPERATURE),
    _gpu("gputop_gpu_temperature_slowdown_celsius", c.TEMPERATURE_SLOWDOWN),
    _gpu("gputop_gpu_temperature_shutdown_celsius", c.TEMPERATURE_SHUTDOWN),
    _gpu("gputop_gpu_fan_speed_ratio", c.FAN),
    _gpu("gputop_gpu_power_watts", c.POWER_AVERAGE),
    _gpu("gputop_gpu_power_limit_watts", c.POWER_LIMIT),
    _gpu("gputop_gpu_power_limit_default_watts", c.POWER_LIMIT_DEFAULT),
    _gpu("gputop_gpu_energy_joules_total", c.ENERGY),
    _gpu("gputop_gpu_sm_clock_hertz", c.CLOCK_SM),
    _gpu("gputop_gpu_sm_clock_max_hertz", c.CLOCK_SM_MAX),
    _gpu("gputop_gpu_memory_clock_hertz", c.CLOCK_MEMORY),
    _gpu("gputop_gpu_performance_state", c.PSTATE),
    _row(
        "gputop_gpu_clocks_event_reason", "0 or 1", "Whether this reason lowers the clocks now.",
        _reasons, "reason",
    ),
    _row("gputop_gpu_throttled_seconds_total", "s", "Time with lower clocks, by reason.", _throttled, "reason"),
    _gpu("gputop_gpu_pcie_transmit_bytes_per_second", c.PCIE_TX),
    _gpu("gputop_gpu_pcie_receive_bytes_per_second", c.PCIE_RX),
    _gpu("gputop_gpu_pcie_link_generation", c.PCIE_GENERATION),
    _gpu("gputop_gpu_pcie_link_generation_max", c.PCIE_GENERATION_MAX),
    _gpu("gputop_gpu_pcie_link_width", c.PCIE_WIDTH),
    _gpu("gputop_gpu_pcie_link_width_max", c.PCIE_WIDTH_MAX),
    _gpu("gputop_gpu_pcie_replays_total", c.PCIE_REPLAYS),
    _gpu("gputop_gpu_nvlink_transmit_bytes_per_second", c.NVLINK_TX),
    _gpu("gputop_gpu_nvlink_receive_bytes_per_second", c.NVLINK_RX),
    _gpu("gputop_gpu_nvlink_links", c.NVLINK_LINKS),
    _gpu("gputop_gpu_nvlink_links_down", c.NVLINK_LINKS_DOWN),
    _gpu("gputop_gpu_nvlink_crc_errors_total", c.NVLINK_CRC),
    _gpu("gputop_gpu_nvlink_replays_total", c.NVLINK_REPLAYS),
    _gpu("gputop_gpu_nvlink_recoveries_total", c.NVLINK_RECOVERIES),
    _row(
        "gputop_gpu_ecc_errors_total", "", "Memory errors, since driver load (volatile) or over the board's lifetime.",
        _ecc, "counter", "error",
    ),
    _gpu("gputop_gpu_remapped_rows_correctable_total", c.REMAPPED_ROWS_CORRECTABLE),
    _gpu("gputop_gpu_remapped_rows_uncorrectable_total", c.REMAPPED_ROWS_UNCORRECTABLE),
    _gpu("gputop_gpu_row_remap_pending", c.REMAPPED_ROWS_PENDING),
    _gpu("gputop_gpu_row_remap_failed", c.REMAPPED_ROWS_FAILED),
    _gpu("gputop_gpu_retired_pages_pending", c.RETIRED_PAGES_PENDING),
    _row(
        "gputop_gpu_recovery_action", "", "The action that the driver requests to repair the GPU; the value is 1.",
        _present(c.RECOVERY_ACTION, "action"), "action",
    ),
    _gpu("gputop_gpu_ecc_enabled", c.ECC_ENABLED),
    _gpu("gputop_gpu_persistence_mode", c.PERSISTENCE),
    _gpu("gputop_gpu_mig_mode", c.MIG_MODE),
    _row(
        "gputop_gpu_compute_mode", "", "Which processes may use the GPU at the same time; the value is 1.",
        _present(c.COMPUTE_MODE, "mode"), "mode",
    ),
    _row(
        "gputop_gpu_virtualization_mode", "", "Whether the GPU is virtual, or passed through; the value is 1.",
        _present(c.VIRTUALIZATION, "mode"), "mode",
    ),
    _gpu("gputop_gpu_graphics_active_ratio", c.GRAPHICS_ACTIVE),
    _gpu("gputop_gpu_sm_active_ratio", c.SM_ACTIVE),
    _gpu("gputop_gpu_sm_occupancy_ratio", c.SM_OCCUPANCY),
    _gpu("gputop_gpu_tensor_active_ratio", c.TENSOR_ACTIVE),
    _gpu("gputop_gpu_dram_active_ratio", c.DRAM_ACTIVE),
    _row("gputop_gpu_xid_errors_total", "", "Xids since the exporter started. No series: none came.", _xids, "xid"),
    _row(
        "gputop_gpu_xid_last_timestamp_seconds", "s", "When this Xid came for the last time, since the epoch.",
        _xid_times, "xid",
    ),
    _row("gputop_gpu_missing_readings", "", "How many readings of the GPU are missing, by reason.", _missing, "reason"),
    _row(
        "gputop_gpu_missing_reading", "", "A reading that the GPU supports and gputop could not take; the value is 1.",
        _missing_metrics, "metric", "reason",
    ),
    Series(
        name="gputop_gpu_instance_info", type="gauge", unit="", help="A GPU instance (MIG); the value is 1.",
        labels=INSTANCE_LABELS, of=OwnInstance, value=lambda _: 1,
    ),
    Series(
        name="gputop_gpu_instance_compute_instance_info", type="gauge", unit="",
        help="A compute instance of a GPU instance; the value is 1.",
        labels=(*INSTANCE_LABELS, "compute_instance_id", "mig_uuid", "name"), of=OwnInstance, value=_compute_instances,
    ),
    _instance("gputop_gpu_instance_memory_total_bytes", c.MEMORY_TOTAL, "Frame buffer of the GPU instance."),
    _instance("gputop_gpu_instance_memory_used_bytes", c.MEMORY_USED),
    _instance("gputop_gpu_instance_memory_free_bytes", c.MEMORY_FREE),
    _instance("gputop_gpu_instance_graphics_active_ratio", c.GRAPHICS_ACTIVE),
    _instance("gputop_gpu_instance_sm_active_ratio", c.SM_ACTIVE),
    _instance("gputop_gpu_instance_sm_occupancy_ratio", c.SM_OCCUPANCY),
    _instance("gputop_gpu_instance_tensor_active_ratio", c.TENSOR_ACTIVE),
    _instance("gputop_gpu_instance_dram_active_ratio", c.DRAM_ACTIVE),
)  # fmt: skip
