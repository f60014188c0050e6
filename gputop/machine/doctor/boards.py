"""What is asked of a GPU for the doctor alone, each GPU in a thread of its own."""

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
    fabric = driver.ask("nvmlDeviceGetGpuFabricInfoV", handle)
    state, status, health = (None, None, None) if isinstance(fabric, Missing) else fabric
    return Details(
        ecc_pending=_told(driver.ask("nvmlDeviceGetEccMode", handle), lambda modes: bool(modes[1])),
        banks_without_spares=_told(driver.ask("nvmlDeviceGetRowRemapperHistogram", handle), lambda rows: rows.none),
        sram_exceeded=_told(driver.ask("nvmlDeviceGetSramEccErrorStatus", handle)),
        fabric_state=state,
        fabric_status=status,
        fabric_health=health,
        inforom_is_valid=_is_valid(driver.ask("nvmlDeviceValidateInforom", handle)),
    )


def _told(answer: Any, to: Callable[[Any], Any] = same) -> Any:
    """Return a value, a reason, or None where the GPU does not have it."""
    if isinstance(answer, Missing):
        return None if answer in {Missing.UNSUPPORTED, Missing.OUTDATED} else answer
    return to(answer)


def _is_valid(answer: object) -> Any:
    """Return what a validation says: it answers nothing where all is well, and an error where it is not."""
    return False if answer is Missing.FAULT else _told(answer, lambda _: True)
