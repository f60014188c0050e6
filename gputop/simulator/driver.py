"""The simulated driver: an object with pynvml's function names, and the improved types of `machine.nvml.binding`.

Every call of a device goes through `_call`, so that a GPU that is lost, hangs or lacks a function behaves the same in
all calls. Only event sets and MIG layouts persist between calls: several threads may call at once.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError
from gputop.simulator.calls import GPU_CALLS, MIG_CALLS, NOT_WITH_MIG
from gputop.simulator.clock import BoxClock
from gputop.simulator.gpm import GpmSample, metrics_between
from gputop.simulator.gpu import MigDevice, SimulatedGpu
from gputop.simulator.partition_calls import PartitionCalls
from gputop.simulator.plan import BoxPlan, Fault, Use

_XID_EVENT: Final = 0x8
_MIG_EVENT: Final = 0x100
_FELL_OFF_THE_BUS: Final = 79

Device = SimulatedGpu | MigDevice


class EventSet:
    """The GPUs that a set watches, each with the time of the last event that was returned."""

    def __init__(self) -> None:
        self.told_s: dict[SimulatedGpu, float] = {}
        self.told_changes: dict[SimulatedGpu, int] = {}


def _faults(gpu: SimulatedGpu) -> tuple[Fault, ...]:
    """Return the faults that the driver reports of a GPU; a lost one fell off the bus."""
    return (*gpu.plan.faults, *((Fault(_FELL_OFF_THE_BUS, gpu.plan.lost),) if gpu.plan.lost else ()))


class Driver(PartitionCalls):
    """A driver for the GPUs of a plan."""

    NVMLError = NVMLError

    def __init__(self, name: str, plan: BoxPlan, clock: BoxClock) -> None:
        self._plan = plan
        self._clock = clock
        self._gpus = [SimulatedGpu(gpu, n, plan.processes, name, clock) for n, gpu in enumerate(plan.gpus)]
        self._is_started = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function of a device, as a module would."""
        if name in GPU_CALLS or name in MIG_CALLS:
            return partial(self._call, name)
        raise AttributeError(name)

    # --- the library and the host --------------------------------------------------------------------------------
    def nvmlInit(self) -> None:
        """Start; without it every other call fails."""
        self._is_started = True

    def nvmlSystemGetDriverVersion(self) -> str:
        """Return the version of the kernel driver."""
        return self._started()._plan.driver

    def nvmlSystemGetNVMLVersion(self) -> str:
        """Return the version of the library: CUDA's version, then the driver's."""
        return f"{self._started()._plan.cuda // 1000}.{self._plan.driver}"

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        """Return 12080 for CUDA 12.8."""
        return self._started()._plan.cuda

    # --- devices -------------------------------------------------------------------------------------------------
    def nvmlDeviceGetCount(self) -> int:
        """Return the number of GPUs; a lost one still counts."""
        return len(self._started()._gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> SimulatedGpu:
        """Return a GPU by its index."""
        if index not in range(self.nvmlDeviceGetCount()):
            raise NVMLError(codes.INVALID_ARGUMENT)
        return self._found(lambda gpu: gpu.index == index)

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Device:
        """Return a GPU, or a MIG device, by its UUID."""
        for gpu in self._started()._gpus:
            for device in gpu.mig_devices.values():
                if device.uuid == uuid:
                    return device
        return self._found(lambda gpu: gpu.uuid == uuid)

    # --- GPM -----------------------------------------------------------------------------------------------------
    def nvmlGpmSampleAlloc(self) -> GpmSample:
        """Return an empty sample."""
        return GpmSample()

    def nvmlGpmSampleGet(self, device: Device, sample: GpmSample) -> GpmSample:
        """Take a sample of a whole GPU without MIG, or of a MIG device's GPU instance."""
        self._guard("nvmlGpmSampleGet", device)
        self._need_gpm(device)
        sample.take(device.uuid, device.activity, self._clock.now())
        return sample

    def nvmlGpmMigSampleGet(self, gpu: SimulatedGpu, gpu_instance: int, sample: GpmSample) -> GpmSample:
        """Take a sample of a GPU instance."""
        self._guard("nvmlGpmMigSampleGet", gpu)
        self._need_gpm(gpu)
        for device in gpu.mig_devices.values():
            if device.plan.gpu_instance == gpu_instance:
                sample.take(device.uuid, device.activity, self._clock.now())
                return sample
        raise NVMLError(codes.INVALID_ARGUMENT)

    def nvmlGpmMetricsGet(self, older: GpmSample, newer: GpmSample, ids: Sequence[int]) -> list[tuple[int, float]]:
        """Return (return code, value) for each metric between two samples."""
        return metrics_between(older, newer, ids)

    # --- events --------------------------------------------------------------------------------------------------
    def nvmlEventSetCreate(self) -> EventSet:
        """Return an empty set."""
        self._started()
        return EventSet()

    def nvmlDeviceRegisterEvents(self, gpu: SimulatedGpu, mask: int, event_set: EventSet) -> None:
        """Add a GPU to a set; only later events are returned."""
        self._guard("nvmlDeviceRegisterEvents", gpu)
        if mask & _XID_EVENT:
            event_set.told_s[gpu] = self._clock.running()
        if mask & _MIG_EVENT:
            event_set.told_changes[gpu] = gpu.partition.changes

    def nvmlEventSetWait(self, event_set: EventSet, timeout_ms: int) -> tuple[str, int, int]:
        """Return the next event: (UUID, type, data). Raises NVMLError 10 on a time-out."""
        for gpu, changes in event_set.told_changes.items():
            if gpu.partition.changes != changes:
                event_set.told_changes[gpu] = gpu.partition.changes
                return gpu.uuid, _MIG_EVENT, 0
        upcoming = [
            (fault.when.next_start(told_s), gpu.index, fault.xid, gpu)
            for gpu, told_s in event_set.told_s.items()
            for fault in _faults(gpu)
        ]
        if not upcoming:
            self._clock.sleep(timeout_ms / 1000)
            raise NVMLError(codes.TIMEOUT)
        when_s, _, xid, gpu = min(upcoming)
        wait_s = when_s - self._clock.running()
        if wait_s > 0:
            self._clock.sleep(min(wait_s, timeout_ms / 1000))
        if self._clock.running() < when_s:
            raise NVMLError(codes.TIMEOUT)
        event_set.told_s[gpu] = when_s
        return gpu.uuid, _XID_EVENT, xid

    # --- changes of processes --------------------------------------------------------------------------------------
    def change(self, pid: int, follow: Callable[[Use], Use], *, has_ended: bool = False) -> None:
        """Change the work of a process on its GPUs from now on; see `SimulatedGpu.change`."""
        for gpu in self._gpus:
            gpu.change(pid, follow, has_ended=has_ended)

    # --- helpers -------------------------------------------------------------------------------------------------
    def _call(self, name: str, device: Device, *args: Any, **options: Any) -> Any:
        self._guard(name, device)
        call = (MIG_CALLS if isinstance(device, MigDevice) else GPU_CALLS).get(name)
        if call is None:
            raise NVMLError(codes.NOT_SUPPORTED)
        return call(device, *args, **options)

    def _guard(self, name: str, device: object) -> None:
        """Hang, raise that the GPU is lost, or that it lacks this call, as the plan says."""
        self._started()
        if name in self._plan.outdated:
            raise NVMLError(codes.FUNCTION_NOT_FOUND)
        if not isinstance(device, (SimulatedGpu, MigDevice)):
            raise NVMLError(codes.INVALID_ARGUMENT)
        gpu = device.gpu if isinstance(device, MigDevice) else device
        self._wait_while_hung(gpu)
        self._need_present(gpu)
        if name in gpu.board.calls or (device is gpu and gpu.is_split and name in NOT_WITH_MIG):
            raise NVMLError(codes.NOT_SUPPORTED)

    def _wait_while_hung(self, gpu: SimulatedGpu) -> None:
        left_s = gpu.plan.hung.left(self._clock.running()) if gpu.plan.hung else 0.0
        if left_s:
            self._clock.sleep(left_s)

    def _need_present(self, gpu: SimulatedGpu) -> None:
        if gpu.plan.lost and gpu.plan.lost.left(self._clock.running()):
            raise NVMLError(codes.GPU_IS_LOST)

    def _need_gpm(self, device: Device) -> None:
        gpu = device.gpu if isinstance(device, MigDevice) else device
        if not gpu.board.has_gpm:
            raise NVMLError(codes.NOT_SUPPORTED)

    def _found(self, is_it: Callable[[SimulatedGpu], bool]) -> SimulatedGpu:
        for gpu in self._started()._gpus:
            if is_it(gpu):
                self._need_present(gpu)
                return gpu
        raise NVMLError(codes.NOT_FOUND)

    def _started(self) -> "Driver":
        if not self._is_started:
            raise NVMLError(codes.UNINITIALIZED)
        return self
