"""The reasons for dashes: one line per reason that matters to a user."""

from collections.abc import Iterator
from typing import Final

from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER_AVERAGE,
    POWER_LIMIT,
    SM_ACTIVE,
    TEMPERATURE,
)
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Frame, Gpu, GpuState, HostProcess, Reasons
from gputop.core.model.units import NOTHING

_UNUSUAL: Final = (Missing.LOST, Missing.HUNG, Missing.FORBIDDEN, Missing.FAULT)
_METRICS: Final = (GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED, POWER_AVERAGE, POWER_LIMIT, SM_ACTIVE, TEMPERATURE)
_SHOWN: Final = ("processes", *(metric.key for metric in _METRICS))


def reasons(frame: Frame) -> Iterator[str]:
    """Return the lines at the end of the table. A GPU that does not respond says so in its own line."""
    for reason in _UNUSUAL:
        subjects = [subject for subject in _subjects(frame, reason) if subject]
        if subjects:
            yield f"{NOTHING} {'; '.join(subjects)}: {reason.text}"


def _subjects(frame: Frame, reason: Missing) -> Iterator[str]:
    if reason in frame.driver.missing.values():
        yield "driver"
    if reason in frame.host.missing.values():
        yield "host"
    indices = [str(gpu.index) for gpu in frame.gpus if _is_behind(reason, gpu)]
    if indices:
        yield f"GPU {', '.join(indices)}"
    silent = {gpu.uuid for gpu in frame.gpus if gpu.state is not GpuState.OK}
    count = sum(reason in _process_reasons(process, silent) for process in frame.processes)
    if count:
        yield f"{count} process{'es' if count > 1 else ''}"


def _is_behind(reason: Missing, gpu: Gpu) -> bool:
    return gpu.state is GpuState.OK and any(gpu.missing.get(key) is reason for key in _SHOWN)


def _process_reasons(process: HostProcess, silent: set[str]) -> set[Missing]:
    spoken: list[Reasons] = [process.missing, *(use.missing for use in process.gpus if use.gpu not in silent)]
    return {reason for reasons_ in spoken for reason in reasons_.values()}
