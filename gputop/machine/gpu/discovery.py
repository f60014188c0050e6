"""Which GPUs there are, and what the driver says of itself."""

from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo
from gputop.core.text.text import clean
from gputop.machine.nvml.driver import Driver, Handle, text_of

_MOST_GPUS: Final = 512  # of one box: a driver may answer garbage

Identity = tuple[str, str, str]  # uuid, name, PCI bus id


class Box(Struct, frozen=True):
    """The GPUs that the driver lists: index, handle, and identity; a GPU that is lost may not say who it is.

    A GPU that a container or a job must not use is counted by the driver, and no part of this box. ``refusal``: why the
    driver does not say how many GPUs there are, or why none of them may be used.
    """

    driver: DriverInfo
    gpus: tuple[tuple[int, Handle, Identity | Missing], ...] = ()
    refusal: Missing | None = None

    @property
    def silent(self) -> dict[int, Missing]:
        """Return the indices of the GPUs that do not say who they are, and why."""
        return {index: identity for index, _, identity in self.gpus if isinstance(identity, Missing)}

    @property
    def named(self) -> tuple[tuple[int, Handle, Identity], ...]:
        """Return the GPUs that do."""
        return tuple((index, handle, who) for index, handle, who in self.gpus if not isinstance(who, Missing))


def look(driver: Driver, simulated: str | None) -> Box:
    """Ask the driver for all of it. May hang with the driver."""
    count = driver.ask("nvmlDeviceGetCount")
    if isinstance(count, Missing):
        return Box(driver=_about(driver, simulated), refusal=count)
    counted = [(index, driver.ask("nvmlDeviceGetHandleByIndex", index)) for index in range(min(count, _MOST_GPUS))]
    handles = [(index, handle) for index, handle in counted if handle is not Missing.FORBIDDEN]
    return Box(
        driver=_about(driver, simulated),
        gpus=tuple(
            (index, handle, handle if isinstance(handle, Missing) else _identify(driver, handle))
            for index, handle in handles
        ),
        refusal=Missing.FORBIDDEN if counted and not handles else None,
    )


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
    """Return uuid, name and PCI bus id of a GPU; a `Missing` where it does not even say its uuid."""
    uuid = driver.ask("nvmlDeviceGetUUID", handle)
    if isinstance(uuid, Missing):
        return uuid
    name = driver.ask("nvmlDeviceGetName", handle)
    pci = driver.ask("nvmlDeviceGetPciInfo", handle)
    return clean(uuid), text_of(name), "" if isinstance(pci, Missing) else text_of(pci.busId)
