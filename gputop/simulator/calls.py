"""THE CALLS: a row per driver function whose first argument is a GPU or a MIG device."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace as Answer
from typing import Any, Final

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError
from gputop.simulator.curve import Curve
from gputop.simulator.fields import read_field
from gputop.simulator.gpu import MIB, MigDevice, SimulatedGpu, percent, used_bytes
from gputop.simulator.plan import ProcessPlan, Use

ProcessEntry = tuple[int, int | None, int | None, int | None]
UtilizationEntry = tuple[int, int, int, int, int, int]
Call = Callable[..., Any]

NOT_WITH_MIG: Final = frozenset({
    "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization",
    "nvmlDeviceGetJpgUtilization", "nvmlDeviceGetOfaUtilization", "nvmlDeviceGetProcessUtilization",
    "nvmlGpmSampleGet",
})  # fmt: skip
_ENGINE_PERIOD_US: Final = 167_000
_SAMPLES_PER_S: Final = 6
_BUFFER_S: Final = 10.0  # the driver's ring of utilization samples then wraps
_XID, _ECC, _MIG_CHANGE = 0x8, 0x2 | 0x200 | 0x400, 0x100


def _memory_info(total: int, reserved: int, used: int) -> Answer:
    return Answer(version=0x02000028, total=total, reserved=reserved, free=total - reserved - used, used=used)


def _memory(gpu: SimulatedGpu, version: int | None = None) -> Answer:
    total, reserved = gpu.board.memory_mib * MIB, gpu.board.reserved_mib * MIB
    used = gpu.memory_used(gpu.clock.now())
    if version is None:  # the first version counts reserved memory as used
        return Answer(total=total, free=total - reserved - used, used=used + reserved)
    return _memory_info(total, reserved, used)


def _instance_memory(device: MigDevice, version: int | None = None) -> Answer:
    used = device.memory_used(device.gpu.clock.now())
    total = device.profile.memory_mib * MIB
    return Answer(total=total, free=total - used, used=used) if version is None else _memory_info(total, 0, used)


def _bar1(gpu: SimulatedGpu) -> Answer:
    total = gpu.board.bar1_mib * MIB
    used = min(total // 2, (2 + 2 * len(gpu.uses)) * MIB)
    return Answer(bar1Total=total, bar1Free=total - used, bar1Used=used)


def _pci(gpu: SimulatedGpu) -> Answer:
    return Answer(
        busId=gpu.bus_id, domain=0, bus=gpu.plan.bus, device=0, pciDeviceId=gpu.board.pci_id, pciSubSystemId=0x16C110DE
    )


def _pcie_throughput(gpu: SimulatedGpu, direction: int) -> int:
    traffic = gpu.activity.pcie_rx if direction else gpu.activity.pcie_tx
    return int(traffic.at(gpu.clock.now()) / 1024)


def _rates(gpu: SimulatedGpu) -> Answer:
    now = gpu.clock.now()
    return Answer(gpu=percent(gpu.activity.gpu, now), memory=percent(gpu.activity.memory, now))


def _engine(pick: Callable[[SimulatedGpu], Curve]) -> Call:
    return lambda gpu: [percent(pick(gpu), gpu.clock.now()), _ENGINE_PERIOD_US]


def _clock(gpu: SimulatedGpu, kind: int) -> int:
    now = gpu.clock.now()
    sm = gpu.sm_clock(now)
    board = gpu.board
    awake = sm > board.idle_mhz
    memory = board.memory_mhz if awake or not board.is_consumer else 405
    return _of_four(kind, sm, sm, memory, min(board.video_mhz, sm) if awake else board.idle_mhz)


def _max_clock(gpu: SimulatedGpu, kind: int) -> int:
    return _of_four(kind, gpu.board.sm_mhz, gpu.board.sm_mhz, gpu.board.memory_mhz, gpu.board.video_mhz)


def _of_four(kind: int, graphics: int, sm: int, memory: int, video: int) -> int:
    if kind not in range(4):
        raise NVMLError(codes.INVALID_ARGUMENT)
    return (graphics, sm, memory, video)[kind]


def _temperature(gpu: SimulatedGpu, sensor: int) -> int:
    if sensor != 0:
        raise NVMLError(codes.INVALID_ARGUMENT)
    return gpu.chip_c(gpu.clock.now())


def _threshold(gpu: SimulatedGpu, kind: int) -> int:
    if kind not in gpu.board.thresholds_c:
        raise NVMLError(codes.NOT_SUPPORTED)
    return gpu.board.thresholds_c[kind]


def _link_state(gpu: SimulatedGpu, link: int) -> int:
    if not gpu.board.nvlinks:
        raise NVMLError(codes.NOT_SUPPORTED)
    if link not in range(gpu.board.nvlinks):
        raise NVMLError(codes.INVALID_ARGUMENT)
    return int(link not in gpu.plan.health.links_down)


def _field_values(gpu: SimulatedGpu, ids: Sequence[tuple[int, int]]) -> list[tuple[int, int | float, int]]:
    now = gpu.clock.now()
    stamp = gpu.clock.microseconds(now)
    return [(*read_field(gpu, field, scope, now), stamp) for field, scope in ids]


def _processes(*types: str) -> Call:
    def listed(device: SimulatedGpu | MigDevice) -> list[ProcessEntry]:
        gpu = device.gpu if isinstance(device, MigDevice) else device
        return [_process(p, use, gpu) for p, use in device.uses if use.type in types]

    return listed


def _process(process: ProcessPlan, use: Use, gpu: SimulatedGpu) -> ProcessEntry:
    return process.pid, used_bytes(use, gpu.clock.now()), use.gpu_instance, use.compute_instance


def _process_utilization(gpu: SimulatedGpu, last_seen_us: int) -> list[UtilizationEntry]:
    """Charge the samples since ``last_seen_us``, of at most the last 10 s, to the processes."""
    end = int(gpu.clock.now() * _SAMPLES_PER_S) / _SAMPLES_PER_S
    stamp = gpu.clock.microseconds(end)
    if stamp <= last_seen_us:
        return []
    start = max(end - _BUFFER_S, last_seen_us / 1e6 - gpu.clock.boot_s)
    entries = []
    for process, use in gpu.uses:
        did = use.activity
        curves = (did.gpu, did.memory, did.encoder, did.decoder)
        sm, memory, encoder, decoder = (percent(curve, end, end - start) for curve in curves)
        if sm or memory or encoder or decoder:
            entries.append((process.pid, stamp, sm, memory, encoder, decoder))
    return entries


def _spare_rows(gpu: SimulatedGpu) -> Answer:
    """Return the banks of memory by the number of their spare rows."""
    worn = sum(gpu.plan.health.remapped[:2])
    return Answer(max=640 - worn, high=worn, partial=0, low=0, none=0)


def _mig_mode(gpu: SimulatedGpu) -> list[int]:
    if not gpu.board.mig_devices:
        raise NVMLError(codes.NOT_SUPPORTED)
    return [int(gpu.partition.is_on), int(gpu.partition.is_on_next)]


def _mig_device(gpu: SimulatedGpu, slot: int) -> MigDevice:
    if not gpu.board.mig_devices:
        raise NVMLError(codes.NOT_SUPPORTED)
    if slot not in range(gpu.board.mig_devices):
        raise NVMLError(codes.INVALID_ARGUMENT)
    if slot not in gpu.mig_devices:
        raise NVMLError(codes.NOT_FOUND)
    return gpu.mig_devices[slot]


def _attributes(device: MigDevice) -> Answer:
    return Answer(
        multiprocessorCount=device.multiprocessors, gpuInstanceSliceCount=device.profile.slices,
        computeInstanceSliceCount=device.slices, memorySizeMB=device.profile.memory_mib, sharedCopyEngineCount=1,
        sharedDecoderCount=0, sharedEncoderCount=0, sharedJpegCount=0, sharedOfaCount=0,
    )  # fmt: skip


_LISTS: Final[dict[str, Call]] = {
    "nvmlDeviceGetComputeRunningProcesses": _processes("C", "C+G"),
    "nvmlDeviceGetGraphicsRunningProcesses": _processes("G", "C+G"),
    "nvmlDeviceGetMPSComputeRunningProcesses": _processes("M"),
}
GPU_CALLS: Final[dict[str, Call]] = _LISTS | {
    "nvmlDeviceGetUUID": lambda gpu: gpu.uuid,
    "nvmlDeviceGetName": lambda gpu: gpu.board.name,
    "nvmlDeviceGetIndex": lambda gpu: gpu.index,
    "nvmlDeviceGetPciInfo": _pci,
    "nvmlDeviceGetSerial": lambda gpu: f"16530230{gpu.plan.bus:03d}{gpu.index:02d}",
    "nvmlDeviceGetVbiosVersion": lambda gpu: gpu.board.vbios,
    "nvmlDeviceGetArchitecture": lambda gpu: gpu.board.architecture,
    "nvmlDeviceGetCudaComputeCapability": lambda gpu: gpu.board.capability,
    "nvmlDeviceGetNumGpuCores": lambda gpu: gpu.board.cores,
    "nvmlDeviceGetMinorNumber": lambda gpu: gpu.index,
    "nvmlDeviceGetUtilizationRates": _rates,
    "nvmlDeviceGetEncoderUtilization": _engine(lambda gpu: gpu.activity.encoder),
    "nvmlDeviceGetDecoderUtilization": _engine(lambda gpu: gpu.activity.decoder),
    "nvmlDeviceGetJpgUtilization": _engine(lambda gpu: gpu.activity.jpeg),
    "nvmlDeviceGetOfaUtilization": _engine(lambda gpu: gpu.activity.ofa),
    "nvmlDeviceGetMemoryInfo": _memory,
    "nvmlDeviceGetBAR1MemoryInfo": _bar1,
    "nvmlDeviceGetTemperatureV": _temperature,
    "nvmlDeviceGetTemperature": _temperature,
    "nvmlDeviceGetMarginTemperature": lambda gpu: gpu.board.thresholds_c[1] - gpu.chip_c(gpu.clock.now()),
    "nvmlDeviceGetTemperatureThreshold": _threshold,
    "nvmlDeviceGetFanSpeed": lambda gpu: gpu.fan(gpu.clock.now()),
    "nvmlDeviceGetNumFans": lambda gpu: gpu.board.fans,  # the example in docs/plugins.md reads it
    "nvmlDeviceGetPowerUsage": lambda gpu: round(gpu.power_w(gpu.clock.now()) * 1000),
    "nvmlDeviceGetEnforcedPowerLimit": lambda gpu: round(gpu.limit_w * 1000),
    "nvmlDeviceGetPowerManagementDefaultLimit": lambda gpu: round(gpu.board.default_w * 1000),
    "nvmlDeviceGetPowerManagementLimitConstraints": lambda gpu: [
        round(gpu.board.min_w * 1000), round(gpu.board.max_w * 1000),
    ],
    "nvmlDeviceGetTotalEnergyConsumption": lambda gpu: int(gpu.power.integral(gpu.clock.now()) * 1000),
    "nvmlDeviceGetClockInfo": _clock,
    "nvmlDeviceGetMaxClockInfo": _max_clock,
    "nvmlDeviceGetPerformanceState": lambda gpu: gpu.performance_state(gpu.clock.now()),
    "nvmlDeviceGetCurrentClocksEventReasons": lambda gpu: gpu.reasons(gpu.clock.now()),
    "nvmlDeviceGetCurrentClocksThrottleReasons": lambda gpu: gpu.reasons(gpu.clock.now()),
    "nvmlDeviceGetCurrPcieLinkGeneration": lambda gpu: (
        1 if gpu.performance_state(gpu.clock.now()) == 8 else gpu.board.pcie_generation
    ),
    "nvmlDeviceGetCurrPcieLinkWidth": lambda gpu: gpu.plan.pcie_width,
    "nvmlDeviceGetMaxPcieLinkGeneration": lambda gpu: gpu.board.pcie_generation,
    "nvmlDeviceGetMaxPcieLinkWidth": lambda _: 16,
    "nvmlDeviceGetPcieThroughput": _pcie_throughput,
    "nvmlDeviceGetNvLinkState": _link_state,
    "nvmlDeviceGetEccMode": lambda _: [1, 1],
    "nvmlDeviceGetTotalEccErrors": lambda gpu, error, counter: gpu.plan.health.ecc.get((error, counter), 0),
    "nvmlDeviceGetRemappedRows": lambda gpu: gpu.plan.health.remapped,
    "nvmlDeviceGetRepairStatus": lambda _: [0, 0],
    "nvmlDeviceGetRowRemapperHistogram": _spare_rows,
    "nvmlDeviceValidateInforom": lambda _: None,
    "nvmlDeviceGetPersistenceMode": lambda gpu: int(not gpu.board.is_consumer),
    "nvmlDeviceGetComputeMode": lambda _: 0,
    "nvmlDeviceGetVirtualizationMode": lambda _: 0,
    "nvmlDeviceGetEncoderStats": lambda gpu: [int(percent(gpu.activity.encoder, gpu.clock.now()) > 0), 0, 0],
    "nvmlDeviceGetFieldValues": _field_values,
    "nvmlDeviceGetProcessUtilization": _process_utilization,
    "nvmlDeviceGetMigMode": _mig_mode,
    "nvmlDeviceGetMaxMigDeviceCount": lambda gpu: gpu.board.mig_devices if gpu.is_split else 0,
    "nvmlDeviceGetMigDeviceHandleByIndex": _mig_device,
    "nvmlDeviceGetSupportedEventTypes": lambda gpu: (
        _XID | (_ECC if gpu.board.has_ecc else 0) | (_MIG_CHANGE if gpu.board.mig_devices else 0)
    ),
    "nvmlGpmQueryDeviceSupport": lambda gpu: gpu.board.has_gpm,
}  # fmt: skip
MIG_CALLS: Final[dict[str, Call]] = _LISTS | {
    "nvmlDeviceGetUUID": lambda device: device.uuid,
    "nvmlDeviceGetName": lambda device: device.name,
    "nvmlDeviceGetMemoryInfo": _instance_memory,
    "nvmlDeviceGetGpuInstanceId": lambda device: device.plan.gpu_instance,
    "nvmlDeviceGetComputeInstanceId": lambda device: device.plan.compute_instance,
    "nvmlDeviceGetAttributes_v2": _attributes,
    "nvmlGpmQueryDeviceSupport": lambda device: device.gpu.board.has_gpm,
}
