"""Readings of GPUs that only the doctor needs, one thread per GPU."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from gputop.core.doctor.facts import Details
from gputop.core.model.metric import Missing, same
from gputop.core.model.sample import Gpu, GpuState
from gputop.machine.nvml.driver import Driver
from gputop.machine.worker import Worker

_ANSWERS_S: Final = 2.0


def details(driver: Driver, gpus: Iterable[Gpu], seconds: float = _ANSWERS_S) -> Mapping[str, Details]:
    """Return the details by uuid; a GPU that does not answer in time is left out."""
    workers = {gpu.uuid: Worker(partial(_details, driver, gpu.uuid)) for gpu in gpus if gpu.state is GpuState.OK}
    for worker in workers.values():
        worker.ask(0.0)
    answers = {uuid: worker.take(seconds) for uuid, worker in workers.items()}
    return {uuid: answer for uuid, answer in answers.items() if answer is not None}


def _details(driver: Driver, uuid: str, _: float) -> Details:
    handle = driver.ask("nvmlDeviceGetHandleByUUID", uuid)
    if isinstance(handle, Missing):
        return Details()
    fabric = driver.ask("nvmlDeviceGetGpuFabricInfoV", handle)
    state, status, health = (None, None, None) if isinstance(fabric, Missing) else fabric
    return Details(
        ecc_pending=_told(driver.ask("nvmlDeviceGetEccMode", handle), lambda modes: bool(modes[1])),
        banks_without_spares=_told(driver.ask("nvmlDeviceGetRowRemapperHistogram", handle), lambda rows: rows.none),
        repair_pending=_told(driver.ask("nvmlDeviceGetRepairStatus", handle), any),
        sram_exceeded=_told(driver.ask("nvmlDeviceGetSramEccErrorStatus", handle)),
        fabric_state=state,
        fabric_status=status,
        fabric_health=health,
        inforom_is_valid=_is_valid(driver.ask("nvmlDeviceValidateInforom", handle)),
        brand=_told(driver.ask("nvmlDeviceGetBrand", handle)),
        virtualization=_told(driver.ask("nvmlDeviceGetVirtualizationMode", handle)),
    )


def _told(answer: Any, to: Callable[[Any], Any] = same) -> Any:
    """Return a value, a `Missing`, or None if the GPU does not support it."""
    if isinstance(answer, Missing):
        return None if answer in {Missing.UNSUPPORTED, Missing.OUTDATED} else answer
    return to(answer)


def _is_valid(answer: object) -> Any:
    """Return the result of a validation call: it returns nothing on success, and an error code otherwise."""
    return False if answer is Missing.FAULT else _told(answer, lambda _: True)
