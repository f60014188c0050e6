"""The reasons for dashes: one line per reason that matters to a user."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame, GpuState, HostProcess, Reasons
from gputop.core.model.units import NOTHING

_UNUSUAL: Final = (Missing.LOST, Missing.HUNG, Missing.FORBIDDEN, Missing.FAULT)


def reasons(frame: Frame, metrics: Iterable[Metric[Any]]) -> Iterator[str]:
    """Return the lines at the end of the table. A GPU that does not respond says so in its own line.

    ``metrics``: of the table.
    """
    shown = ("processes", *(metric.key for metric in metrics))
    for reason in _UNUSUAL:
        subjects = [subject for subject in _subjects(frame, reason, shown) if subject]
        if subjects:
            yield f"{NOTHING} {'; '.join(subjects)}: {reason.text}"


def _subjects(frame: Frame, reason: Missing, shown: Iterable[str]) -> Iterator[str]:
    if reason in frame.driver.missing.values():
        yield "driver"
    if reason in frame.host.missing.values():
        yield "host"
    behind = (gpu for gpu in frame.gpus if any(gpu.missing.get(key) is reason for key in shown))
    indices = [str(gpu.index) for gpu in behind if gpu.state is GpuState.OK]
    if indices:
        yield f"GPU {', '.join(indices)}"
    silent = {gpu.uuid for gpu in frame.gpus if gpu.state is not GpuState.OK}
    count = sum(any(reason in held.values() for held in _missing(process, silent)) for process in frame.processes)
    if count:
        yield f"{count} process{'es' if count > 1 else ''}"


def _missing(process: HostProcess, silent: set[str]) -> Iterator[Reasons]:
    yield process.missing
    yield from (use.missing for use in process.gpus if use.gpu not in silent)
