"""The MIG side of a GPU: its GPU instances and compute instances. The driver's slots may have gaps."""

from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import CATALOGUE, MEMORY_FREE, MEMORY_RESERVED, MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.metric import Gpm, Missing, Unit
from gputop.core.model.sample import ComputeInstance, GpuInstance, MetricValue, Reasons
from gputop.machine.gpu import readings
from gputop.machine.gpu.gpm import GpmReader
from gputop.machine.nvml.driver import Driver, Handle, text_of

_GPM: Final = tuple(  # shares only: for PCIe the driver may return 0 without an error
    (metric, origin.id)
    for metric in CATALOGUE
    for origin in metric.origins
    if isinstance(origin, Gpm) and metric.unit is Unit.PERCENT
)
_GPM_IDS: Final = tuple(metric_id for _, metric_id in _GPM)
_MOST_SLOTS: Final = 64  # for MIG devices; a driver has 7 or 8, but may return garbage
_MEMORY: Final = (
    (MEMORY_TOTAL, readings.memory_total),
    (MEMORY_USED, readings.memory_used),
    (MEMORY_RESERVED, readings.memory_reserved),
    (MEMORY_FREE, readings.memory_free),
)


class MigDevice(Struct, frozen=True):
    """A MIG device, as the driver calls it: a compute instance with its GPU instance."""

    handle: Handle
    gpu_instance: int
    profile: str
    compute: ComputeInstance


class InstanceReader:
    """Follows the layout of a GPU and reads the memory and activity of each GPU instance."""

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._gpm: dict[int, GpmReader] = {}
        self.devices: tuple[MigDevice, ...] = ()

    def enumerate(self) -> None:
        """Read the layout again. Any slot may be empty, so all are read."""
        slots = self._driver.ask("nvmlDeviceGetMaxMigDeviceCount", self._handle)
        found = (self._device(slot) for slot in range(min(slots, _MOST_SLOTS) if isinstance(slots, int) else 0))
        self.devices = tuple(device for device in found if device is not None)
        present = {device.gpu_instance for device in self.devices}
        self._gpm = {gi: self._gpm.get(gi) or GpmReader(self._driver, self._handle, gi) for gi in sorted(present)}

    def read(self, now: float) -> tuple[GpuInstance, ...]:
        """Return the GPU instances with their values, in the order of their ids."""
        return tuple(self._instance(gi, now) for gi in self._gpm)

    def _device(self, slot: int) -> MigDevice | None:
        ask = self._driver.ask
        handle = ask("nvmlDeviceGetMigDeviceHandleByIndex", self._handle, slot)
        if isinstance(handle, Missing):
            return None
        gpu_instance = ask("nvmlDeviceGetGpuInstanceId", handle)
        compute_instance = ask("nvmlDeviceGetComputeInstanceId", handle)
        if isinstance(gpu_instance, Missing) or isinstance(compute_instance, Missing):
            return None  # it was destroyed between the two calls
        attributes = ask("nvmlDeviceGetAttributes_v2", handle)
        profile = _profile(ask("nvmlDeviceGetName", handle))
        compute = ComputeInstance(
            id=compute_instance,
            uuid=text_of(ask("nvmlDeviceGetUUID", handle)),
            name=profile,
            multiprocessors=None if isinstance(attributes, Missing) else attributes.multiprocessorCount,
        )
        return MigDevice(handle, gpu_instance, profile.removeprefix(_compute_part(profile)), compute)

    def _instance(self, gi: int, now: float) -> GpuInstance:
        devices = [device for device in self.devices if device.gpu_instance == gi]
        metrics: dict[str, MetricValue] = {}
        missing: Reasons = {}
        answers: dict[str, Any] = {metric.key: read(self._asker(devices[0].handle)) for metric, read in _MEMORY}
        activity = self._gpm[gi].read(_GPM_IDS, now)
        answers |= {metric.key: activity[metric_id] for metric, metric_id in _GPM}
        for key, value in answers.items():
            metrics[key] = None if isinstance(value, Missing) else value
            if isinstance(value, Missing):
                missing[key] = value
        return GpuInstance(
            id=gi,
            profile=devices[0].profile,
            compute_instances=tuple(device.compute for device in devices),
            metrics=metrics,
            missing=missing,
        )

    def _asker(self, handle: Handle) -> readings.Ask:
        answers: dict[tuple[Any, ...], Any] = {}

        def ask(name: str, *args: Any) -> Any:
            question = (name, *args)
            if question not in answers:
                answers[question] = self._driver.ask(name, handle, *args)
            return answers[question]

        return ask


def _profile(name: object) -> str:
    """Return ``1c.3g.40gb`` out of ``NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb``."""
    return text_of(name).rpartition(" MIG ")[2]


def _compute_part(profile: str) -> str:
    """Return ``1c.`` of ``1c.3g.40gb``: a compute instance smaller than its GPU instance."""
    first, dot, _ = profile.partition(".")
    return first + dot if first.endswith("c") else ""
