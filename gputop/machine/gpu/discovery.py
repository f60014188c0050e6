"""Discovery of the GPUs, and the versions of the driver."""

import time
from functools import partial
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo
from gputop.core.text.text import clean
from gputop.machine.nvml.driver import Driver, Handle, text_of
from gputop.machine.worker import Worker

_MOST_GPUS: Final = 512  # per host: a driver may return garbage

_HEAD_START_S: Final = 0.02  # most drivers answer at once, and threads that compete cost more than they gain

Identity = tuple[str, str, str]  # uuid, name, PCI bus id
_Found = tuple[Handle, Identity | Missing]


class Inventory(Struct, frozen=True):
    """The GPUs that the driver lists: index, handle and identity. A lost GPU may not report its identity.

    The driver counts a GPU that a container or a job must not use, but it is not listed here. ``refusal``: why the
    driver does not report the number of GPUs, or why all of them are forbidden.
    """

    driver: DriverInfo
    gpus: tuple[tuple[int, Handle, Identity | Missing], ...] = ()
    refusal: Missing | None = None

    @property
    def silent(self) -> dict[int, Missing]:
        """Return the index of each GPU without an identity, and the reason."""
        return {index: identity for index, _, identity in self.gpus if isinstance(identity, Missing)}

    @property
    def named(self) -> tuple[tuple[int, Handle, Identity], ...]:
        """Return the GPUs that have an identity."""
        return tuple((index, handle, who) for index, handle, who in self.gpus if not isinstance(who, Missing))


class Discovery:
    """Finds the GPUs. Each is looked up in a thread of its own, so a GPU that hangs does not hide the others."""

    def __init__(self, driver: Driver, simulated: str | None, patience_s: float) -> None:
        self._driver = driver
        self._simulated = simulated
        self._patience_s = patience_s
        self._lookups: dict[int, Worker[_Found]] = {}

    def read(self) -> Inventory:
        """Read the list of GPUs; those that do not answer within ``patience_s`` are HUNG.

        A look-up that hangs is not started again; its answer counts whenever it comes. Hangs if the driver does not
        report the number of GPUs.
        """
        count = self._driver.ask("nvmlDeviceGetCount")
        about = _about(self._driver, self._simulated)
        if isinstance(count, Missing):
            return Inventory(driver=about, refusal=count)
        found = self._look_up_all(min(count, _MOST_GPUS))
        gpus = tuple((index, *one) for index, one in found.items() if one[0] is not Missing.FORBIDDEN)
        return Inventory(driver=about, gpus=gpus, refusal=Missing.FORBIDDEN if found and not gpus else None)

    def _look_up_all(self, count: int) -> dict[int, _Found]:
        deadline = time.monotonic() + self._patience_s
        begun: dict[int, tuple[Worker[_Found], _Found | None]] = {}
        for index in range(count):
            worker = self._lookups.setdefault(index, Worker(partial(self._look_up, index)))
            worker.ask(0.0)
            begun[index] = worker, worker.take(_HEAD_START_S)
        hung = Missing.HUNG, Missing.HUNG
        return {i: now or worker.take(deadline - time.monotonic()) or hung for i, (worker, now) in begun.items()}

    def _look_up(self, index: int, _: float) -> _Found:
        handle = self._driver.ask("nvmlDeviceGetHandleByIndex", index)
        return handle, handle if isinstance(handle, Missing) else _identify(self._driver, handle)


def _about(driver: Driver, simulated: str | None) -> DriverInfo:
    version = driver.ask("nvmlSystemGetDriverVersion")
    nvml = driver.ask("nvmlSystemGetNVMLVersion")
    cuda = driver.ask("nvmlSystemGetCudaDriverVersion_v2")
    answers = {"version": version, "nvml_version": nvml, "cuda_version": cuda}
    return DriverInfo(
        version=None if isinstance(version, Missing) else clean(version),
        nvml_version=None if isinstance(nvml, Missing) else clean(nvml),
        cuda_version=None if isinstance(cuda, Missing) else f"{cuda // 1000}.{cuda % 1000 // 10}",
        simulated=simulated,
        missing={name: answer for name, answer in answers.items() if isinstance(answer, Missing)},
    )


def _identify(driver: Driver, handle: Handle) -> Identity | Missing:
    """Return UUID, name and PCI bus id of a GPU; a `Missing` if the driver does not report its UUID."""
    uuid = driver.ask("nvmlDeviceGetUUID", handle)
    if isinstance(uuid, Missing):
        return uuid
    name = driver.ask("nvmlDeviceGetName", handle)
    pci = driver.ask("nvmlDeviceGetPciInfo", handle)
    return clean(uuid), text_of(name), "" if isinstance(pci, Missing) else text_of(pci.busId)
