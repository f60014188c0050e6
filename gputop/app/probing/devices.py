"""The devices of a probe: GPUs and MIG devices of this host, or CPUs in their place; and their users."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.choice import open_backend
from gputop.app.errors import NO_DRIVER, BadRequestError, UseCaseError
from gputop.app.probing.request import ProbeRequest
from gputop.core.model.catalogue import PCIE_GENERATION_MAX, PCIE_WIDTH_MAX, POWER_LIMIT, SERIAL, VBIOS
from gputop.core.model.sample import Gpu, GpuState, Sample
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.newcomers import users
from gputop.core.probing.result import DeviceResult
from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import NoDriverError
from gputop.machine.source import Limits, MachineSource

_PATIENCE_S: Final = 3.0  # with a slow GPU, before the run


class Device(Struct, frozen=True, kw_only=True):
    """A device. ``uuid``: of a GPU or a MIG device; ``gpu``: uuid of the GPU; ``instance``: its GPU instance on it."""

    label: str
    uuid: str
    name: str
    kind: str
    index: int
    gpu: str = ""
    instance: int | None = None

    def lock(self, held: ExitStack) -> str:
        """Lock out other probes while ``held`` is open; return why that failed, or an empty text."""
        if self.kind == "cpu":
            return ""
        from gputop.machine.mig.lock import LockedError, named_lock

        try:
            held.enter_context(named_lock(f"probe-{self.uuid}"))
        except LockedError as error:
            return f"another probe tests it: pid {error.pid}"
        except OSError:
            return ""  # no such locks here: a container without a network namespace of Linux
        return ""


class Devices(Struct, frozen=True, kw_only=True):
    """The selected devices, and the source behind them: None for CPUs. ``sample``: read before the run."""

    all: tuple[Device, ...]
    source: MachineSource | None = None
    sample: Sample | None = None
    is_simulated: bool = False

    @property
    def driver_version(self) -> str | None:
        """Return the version of the driver."""
        return self.sample.driver.version if self.sample else None

    @property
    def best_links(self) -> dict[str, tuple[int | None, int | None]]:
        """Return by uuid the best PCIe link of a GPU and its slot; an idle link is slower."""
        return {gpu.uuid: (gpu[PCIE_GENERATION_MAX], gpu[PCIE_WIDTH_MAX]) for gpu in self._gpus().values()}

    @property
    def busy(self) -> frozenset[str]:
        """Return the UUIDs of devices in use."""
        return frozenset(device.uuid for device in self.all if self.users(device))

    def users(self, device: Device) -> tuple[str, ...]:
        """Return a line for each process that used the device before the run."""
        gpu = self._gpus().get(device.gpu)
        if gpu is None or self.sample is None:
            return ()
        return users(self.sample, gpu, (os.getpid(),), device.instance)

    def obstacle(self, device: Device, ceiling: Ceiling) -> str:
        """Return why a device cannot be tested, or not below this ceiling; an empty text if it can."""
        gpu = self._gpus().get(device.gpu)
        if gpu is None:
            return ""
        if gpu.state is not GpuState.OK:
            return f"the GPU is {gpu.state.value}: gputop doctor says what to do"
        return ceiling.against(gpu)

    def near_cpus(self, device: Device) -> tuple[int, ...]:
        """Return the CPUs next to a device."""
        from gputop.machine.probe.cpu_affinity import near_cpus

        gpu = self._gpus().get(device.gpu)
        return near_cpus(gpu.bus_id) if gpu is not None else ()

    def untested(self, device: Device) -> DeviceResult:
        """Return the result of a device before any test."""
        gpu = self._gpus().get(device.gpu)
        return DeviceResult(
            label=device.label, uuid=device.uuid, name=device.name, kind=device.kind,
            bus_id=gpu.bus_id if gpu else None, serial=gpu[SERIAL] if gpu else None, vbios=gpu[VBIOS] if gpu else None,
        )  # fmt: skip

    def power_limit_w(self, uuid: str) -> float | None:
        """Return the enforced power limit of a GPU."""
        gpu = self._gpus().get(uuid)
        return gpu[POWER_LIMIT] if gpu else None

    def _gpus(self) -> Mapping[str, Gpu]:
        return {gpu.uuid: gpu for gpu in self.sample.gpus} if self.sample else {}


def cpu_devices(count: int) -> Devices:
    """Return CPUs in place of GPUs."""
    return Devices(
        all=tuple(Device(label=f"CPU {n}", uuid=f"CPU-{n}", name="CPU", kind="cpu", index=n) for n in range(count))
    )


def open_devices(request: ProbeRequest) -> Devices:
    """Return the GPUs of the chosen box, or CPUs in their place. Raises UseCaseError if there are none."""
    if request.cpus:
        return cpu_devices(request.cpus)
    try:
        box = BackendRequest(demo=request.demo, selection=Selection(gpus=request.gpus))
        source = open_backend(box).source(is_once=False)
    except NoDriverError as error:
        text = f"{error} For details: gputop doctor. Without a GPU: gputop probe --device cpu"
        raise UseCaseError(NO_DRIVER, text) from None
    if not isinstance(source, MachineSource):
        raise BadRequestError("a probe needs a driver: it cannot test the GPUs of a plugin's source")
    source.limits = Limits(patience_s=_PATIENCE_S)
    sample = source.read()
    if not sample.gpus:
        raise UseCaseError(NO_DRIVER, "no GPU found. To try the tests: gputop probe --device cpu")
    found = tuple(device for gpu in sample.gpus for device in _parts(gpu))
    return Devices(all=found, source=source, sample=sample, is_simulated=sample.driver.simulated is not None)


def _parts(gpu: Gpu) -> tuple[Device, ...]:
    """Return the MIG devices of a GPU, or the GPU itself if it is not split."""
    parts = tuple(
        Device(
            label=f"GPU {gpu.index} {part.name}", uuid=part.uuid, name=gpu.name, kind="cuda", index=gpu.index,
            gpu=gpu.uuid, instance=instance.id,
        )
        for instance in gpu.instances
        for part in instance.compute_instances
    )  # fmt: skip
    whole = Device(label=f"GPU {gpu.index}", uuid=gpu.uuid, name=gpu.name, kind="cuda", index=gpu.index, gpu=gpu.uuid)
    return parts or (whole,)
