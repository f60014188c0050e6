"""Discovery of the GPUs, and the versions of the driver."""

from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo
from gputop.core.text.text import clean
from gputop.machine.nvml.driver import Driver, Handle, text_of

_MOST_GPUS: Final = 512  # per host: a driver may return garbage

Identity = tuple[str, str, str]  # uuid, name, PCI bus id


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


def discover(driver: Driver, simulated: str | None) -> Inventory:
    """Read the list of GPUs. May hang with the driver."""
    count = driver.ask("nvmlDeviceGetCount")
    if isinstance(count, Missing):
        return Inventory(driver=_about(driver, simulated), refusal=count)
    counted = [(index, driver.ask("nvmlDeviceGetHandleByIndex", index)) for index in range(min(count, _MOST_GPUS))]
    handles = [(index, handle) for index, handle in counted if handle is not Missing.FORBIDDEN]
    return Inventory(
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
    """Return UUID, name and PCI bus id of a GPU; a `Missing` if the driver does not report its UUID."""
    uuid = driver.ask("nvmlDeviceGetUUID", handle)
    if isinstance(uuid, Missing):
        return uuid
    name = driver.ask("nvmlDeviceGetName", handle)
    pci = driver.ask("nvmlDeviceGetPciInfo", handle)
    return clean(uuid), text_of(name), "" if isinstance(pci, Missing) else text_of(pci.busId)
