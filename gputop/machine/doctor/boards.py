"""What is asked of a GPU for the doctor alone, each GPU in a thread of its own."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from gputop.core.checks.facts import Details
from gputop.core.metric import Missing
from gputop.core.sample import Gpu, GpuState
from gputop.machine.nvml import Driver
from gputop.machine.worker import Worker

_ANSWERS_S: Final = 2.0


def details(driver: Driver, gpus: Iterable[Gpu], seconds: float = _ANSWERS_S) -> Mapping[str, Details]:
    """Return by uuid what the GPUs say; one that does not answer in time is not in it."""
    workers = {gpu.uuid: Worker(partial(_details, driver, gpu.uuid)) for gpu in gpus if gpu.state is GpuState.OK}
    for worker in workers.values():
        worker.ask(0.0)
    answers = {uuid: worker.take(seconds) for uuid, worker in workers.items()}
    return {uuid: answer for uuid, answer in answers.items() if answer is not None}


def _details(driver: Driver, uuid: str, _: float) -> Details:
    handle = driver.ask("nvmlDeviceGetHandleByUUID", uuid)
    if isinstance(handle, Missing):
        return Details()
    ecc = _told(driver.ask("nvmlDeviceGetEccMode", handle))
    rows = _told(driver.ask("nvmlDeviceGetRowRemapperHistogram", handle))
    state, status, health = _told(driver.ask("nvmlDeviceGetGpuFabricInfoV", handle)) or (None, None, None)
    return Details(
        ecc_pending=bool(ecc[1]) if ecc else None,
        banks_without_spares=rows.none if rows is not None else None,
        sram_exceeded=_told(driver.ask("nvmlDeviceGetSramEccErrorStatus", handle)),
        fabric_state=state,
        fabric_status=status,
        fabric_health=health,
        inforom_is_valid=_is_valid(driver.ask("nvmlDeviceValidateInforom", handle)),
    )


def _told(answer: Any) -> Any:
    return None if isinstance(answer, Missing) else answer


def _is_valid(answer: object) -> bool | None:
    """Return what a validation says: nothing where it is well, an error where it is not; None: it was not made."""
    if answer is Missing.FAULT:
        return False
    return None if isinstance(answer, Missing) else True
