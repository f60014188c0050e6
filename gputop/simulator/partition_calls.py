"""The MIG functions of the simulated driver, with the types of `machine.nvml.mig`."""

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError
from gputop.simulator.gpu import SimulatedGpu
from gputop.simulator.mig import COMPUTE_SLICES
from gputop.simulator.partition import Compute, Instance

_KINDS = 0x12


class PartitionCalls:
    """A mixin of the driver."""

    def _guard(self, name: str, device: object) -> None:
        raise NotImplementedError

    def nvmlDeviceSetMigMode(self, gpu: SimulatedGpu, mode: int) -> int:
        """Set the mode; return 0, or the reason why it is pending."""
        self._guard("nvmlDeviceSetMigMode", gpu)
        status = gpu.partition.set_mode(is_on=bool(mode))
        gpu.follow()
        return status

    def nvmlDeviceGetGpuInstanceProfileInfo(self, gpu: SimulatedGpu, kind: int) -> tuple[int, int, int, int, int, str]:
        """Return a profile by the number of its kind."""
        self._guard("nvmlDeviceGetGpuInstanceProfileInfo", gpu)
        if kind not in range(_KINDS):
            raise NVMLError(codes.INVALID_ARGUMENT)
        for name, profile in gpu.partition.profiles.items():
            if profile.kind == kind:
                shape, sms = profile.shape, profile.multiprocessors
                return shape.id, profile.slices, shape.most, sms, profile.memory_mib, name
        raise NVMLError(codes.NOT_SUPPORTED)

    def nvmlDeviceGetGpuInstancePossiblePlacements(self, gpu: SimulatedGpu, profile_id: int) -> list[tuple[int, int]]:
        """Return (start, size) of all placements."""
        self._guard("nvmlDeviceGetGpuInstancePossiblePlacements", gpu)
        shape = gpu.partition.by_id(profile_id)[1].shape
        return [(start, shape.size) for start in shape.starts]

    def nvmlDeviceGetGpuInstanceRemainingCapacity(self, gpu: SimulatedGpu, profile_id: int) -> int:
        """Return how many more instances of a profile fit."""
        self._guard("nvmlDeviceGetGpuInstanceRemainingCapacity", gpu)
        return gpu.partition.remaining(profile_id)

    def nvmlDeviceGetGpuInstances(self, gpu: SimulatedGpu, profile_id: int, most: int) -> list[Instance]:
        """Return the GPU instances of a profile."""
        self._guard("nvmlDeviceGetGpuInstances", gpu)
        gpu.partition.need_on()
        name, _ = gpu.partition.by_id(profile_id)
        return [instance for instance in gpu.partition.instances.values() if instance.name == name][:most]

    def nvmlGpuInstanceGetInfo(self, instance: Instance) -> tuple[int, int, int, int]:
        """Return id, profile id, start and size."""
        self._need(instance)
        shape = instance.profile.shape
        return instance.number, shape.id, instance.start, shape.size

    def nvmlDeviceCreateGpuInstanceWithPlacement(
        self, gpu: SimulatedGpu, profile_id: int, start: int, size: int
    ) -> Instance:
        """Create a GPU instance at a placement."""
        self._guard("nvmlDeviceCreateGpuInstanceWithPlacement", gpu)
        return gpu.partition.create(profile_id, start, size)

    def nvmlGpuInstanceDestroy(self, instance: Instance) -> None:
        """Destroy a GPU instance."""
        self._need(instance).partition.destroy(instance)

    def nvmlGpuInstanceGetComputeInstanceProfileInfo(self, instance: Instance, kind: int) -> tuple[int, int]:
        """Return id and slices of a compute instance profile."""
        self._need(instance)
        slices, whole = COMPUTE_SLICES.get(kind, 0), instance.profile.slices
        if not slices or slices > whole or (slices, whole) == (3, 4):
            raise NVMLError(codes.NOT_SUPPORTED)
        return kind, slices

    def nvmlGpuInstanceGetComputeInstances(self, instance: Instance, profile_id: int) -> list[Compute]:
        """Return the compute instances of a profile."""
        self._need(instance)
        slices = COMPUTE_SLICES.get(profile_id)
        return [compute for compute in instance.computes.values() if compute.slices == slices]

    def nvmlComputeInstanceGetInfo(self, compute: Compute) -> tuple[int, int, int, int]:
        """Return id, profile id, start and size."""
        self._need(compute.instance)
        kind = next(kind for kind, slices in COMPUTE_SLICES.items() if slices == compute.slices)
        return compute.number, kind, compute.start, compute.slices

    def nvmlGpuInstanceCreateComputeInstanceWithPlacement(
        self, instance: Instance, profile_id: int, start: int, size: int
    ) -> Compute:
        """Create a compute instance at a placement."""
        gpu = self._need(instance)
        made = gpu.partition.create_compute(instance, profile_id, start, size)
        gpu.follow()
        return made

    def nvmlComputeInstanceDestroy(self, compute: Compute) -> None:
        """Destroy a compute instance."""
        gpu = self._need(compute.instance)
        gpu.partition.destroy_compute(compute)
        gpu.follow()

    def _need(self, instance: Instance) -> SimulatedGpu:
        """Return the GPU of an existing instance."""
        gpu = instance.gpu
        self._guard("nvmlGpuInstance", gpu)
        if not isinstance(gpu, SimulatedGpu) or gpu.partition.instances.get(instance.number) is not instance:
            raise NVMLError(codes.INVALID_ARGUMENT)
        return gpu
