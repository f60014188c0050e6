"""What is to be tested: GPUs and MIG devices of this machine, or CPUs in their place; who uses them."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Final

from msgspec import Struct

from gputop.cli.args.exits import fail
from gputop.core.model.catalogue import PCIE_GENERATION_MAX, PCIE_WIDTH_MAX, POWER_LIMIT, SERIAL, VBIOS
from gputop.core.model.sample import Gpu, GpuState, Sample
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.newcomers import users
from gputop.core.probing.result import DeviceResult
from gputop.core.query.selection import Selection
from gputop.machine.source import MachineSource

_ERROR: Final = 3
_INTERVAL_S: Final = 1.0


class Target(Struct, frozen=True, kw_only=True):
    """A device. ``uuid``: of a GPU or a MIG device; ``gpu``: that of the GPU; ``instance``: the GPU instance on it."""

    label: str
    uuid: str
    name: str
    kind: str
    index: int
    gpu: str = ""
    instance: int | None = None

    def lock(self, held: ExitStack) -> str:
        """Keep other probes off as long as ``held`` is open; return why that cannot be."""
        if self.kind == "cpu":
            return ""
        from gputop.machine.mig.lock import TakenError, named_lock

        try:
            held.enter_context(named_lock(f"probe-{self.uuid}"))
        except TakenError as error:
            return f"another probe tests it: pid {error.pid}"
        except OSError:
            return ""  # no such locks here: a container without a network namespace of Linux
        return ""


class Box(Struct, frozen=True, kw_only=True):
    """The devices, and the machine behind them: none for CPUs."""

    targets: tuple[Target, ...]
    source: MachineSource | None = None
    sample: Sample | None = None
    demo: str | None = None

    @property
    def is_simulated(self) -> bool:
        """Say whether there is nothing behind the GPUs."""
        return self.demo is not None

    @property
    def driver(self) -> str | None:
        """Return the version of the driver."""
        return self.sample.driver.version if self.sample else None

    @property
    def links(self) -> dict[str, tuple[int | None, int | None]]:
        """Return by uuid the best that the PCIe link of a GPU and its slot can be: an idle link is slower."""
        return {gpu.uuid: (gpu[PCIE_GENERATION_MAX], gpu[PCIE_WIDTH_MAX]) for gpu in self._gpus().values()}

    @property
    def busy(self) -> frozenset[str]:
        """Return the devices that are used by somebody, and are tested all the same."""
        return frozenset(target.uuid for target in self.targets if self.users(target))

    def users(self, target: Target) -> tuple[str, ...]:
        """Say who uses a device, as it was when this began."""
        gpu = self._gpus().get(target.gpu)
        if gpu is None or self.sample is None:
            return ()
        return users(self.sample, gpu, (os.getpid(),), target.instance)

    def fault(self, target: Target) -> str:
        """Say why a device cannot be tested at all; nothing where it can."""
        gpu = self._gpus().get(target.gpu)
        if gpu is None or gpu.state is GpuState.OK:
            return ""
        return f"the GPU is {gpu.state.value}: gputop doctor says what to do"

    def against(self, target: Target, ceiling: Ceiling) -> str:
        """Say why a device cannot be kept below a ceiling; nothing where it can."""
        gpu = self._gpus().get(target.gpu)
        return ceiling.against(gpu) if gpu is not None else ""

    def near(self, target: Target) -> tuple[int, ...]:
        """Return the CPUs next to a device."""
        from gputop.machine.probe.cpu_affinity import near_cpus

        gpu = self._gpus().get(target.gpu)
        return near_cpus(gpu.bus_id) if gpu is not None else ()

    def about(self, target: Target) -> DeviceResult:
        """Return what is known of a device without testing it."""
        gpu = self._gpus().get(target.gpu)
        return DeviceResult(
            label=target.label, uuid=target.uuid, name=target.name, kind=target.kind,
            bus_id=gpu.bus_id if gpu else None, serial=gpu[SERIAL] if gpu else None, vbios=gpu[VBIOS] if gpu else None,
        )  # fmt: skip

    def power_limit_w(self, uuid: str) -> float | None:
        """Return the limit that is in force."""
        gpu = self._gpus().get(uuid)
        return gpu[POWER_LIMIT] if gpu else None

    def _gpus(self) -> Mapping[str, Gpu]:
        return {gpu.uuid: gpu for gpu in self.sample.gpus} if self.sample else {}


def box_of_cpus(count: int) -> Box:
    """Return CPUs that stand in for GPUs."""
    return Box(
        targets=tuple(Target(label=f"CPU {n}", uuid=f"CPU-{n}", name="CPU", kind="cpu", index=n) for n in range(count))
    )


def box_of_gpus(gpus: tuple[str, ...], demo: str | None) -> Box:
    """Return the GPUs that are selected. Raises ValueError for one that is not there; ends gputop without a driver."""
    source = opened(gpus, demo)
    sample = source.read()
    if not sample.gpus:
        fail(_ERROR, "there is no GPU here; gputop probe --device cpu tries the tests out")
    return Box(
        targets=tuple(target for gpu in sample.gpus for target in _targets(gpu)),
        source=source,
        sample=sample,
        demo=demo,
    )


def opened(gpus: tuple[str, ...], demo: str | None) -> MachineSource:
    """Return the machine, its GPUs found."""
    from gputop.cli.backend.monitoring import machine
    from gputop.machine.nvml.driver import NoDriverError

    source = machine(Selection(gpus=gpus), _INTERVAL_S, demo, is_once=False)
    source.limits = type(source.limits)(patience_s=3.0)
    try:
        source.open()
    except NoDriverError as error:
        fail(_ERROR, f"{error} What exactly is wrong: gputop doctor. Without a GPU: gputop probe --device cpu")
    return source


def _targets(gpu: Gpu) -> tuple[Target, ...]:
    """Return the MIG devices of a GPU that is split, else the GPU."""
    parts = tuple(
        Target(
            label=f"GPU {gpu.index} {part.name}", uuid=part.uuid, name=gpu.name, kind="cuda", index=gpu.index,
            gpu=gpu.uuid, instance=instance.id,
        )
        for instance in gpu.instances
        for part in instance.compute_instances
    )  # fmt: skip
    whole = Target(label=f"GPU {gpu.index}", uuid=gpu.uuid, name=gpu.name, kind="cuda", index=gpu.index, gpu=gpu.uuid)
    return parts or (whole,)
