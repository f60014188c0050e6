"""GPUs that are busy although the driver lists no process on them: a kernel outlived its process, or one is hidden."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.orphan.memory import can_be_known
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED, POWER_AVERAGE
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu, HostProcess
from gputop.core.model.units import duration_text

_SURE: Final = 0.5
_REMEDY: Final = (
    "Look for a process that has the device open: sudo fuser -v /dev/nvidia*. If there is none, see sudo dmesg | grep "
    "-i xid, then reset the GPU: sudo nvidia-smi --gpu-reset -i {n}"
)


class UnownedWork:
    """Notes for each GPU since when it is so. In containers it claims nothing: they do not show all processes.

    If a GPU has more memory in use than its driver needs, `MemoryGaps` reports it.
    """

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._after_s, self._least = dials["unowned_s"], dials["unowned_percent"]
        self._most, self._most_percent = dials["unexplained_bytes"], dials["unexplained_percent"]
        self._since_s: dict[str, float] = {}

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU."""
        if context.sample.host.is_initial_pid_namespace is not True:
            return
        busy = [gpu for gpu in context.sample.gpus if (gpu[GPU_UTILIZATION] or 0) >= self._least]
        empty = _without_processes(busy, context.sample.processes)
        unowned = [gpu for gpu in busy if gpu.uuid in empty and can_be_known(gpu) and not self._holds(gpu)]
        self._since_s = {gpu.uuid: self._since_s.get(gpu.uuid, context.now_s) for gpu in unowned}
        for gpu in unowned:
            lasted_s = context.now_s - self._since_s[gpu.uuid]
            if lasted_s >= self._after_s:
                yield _claim(gpu, lasted_s, context)

    def _holds(self, gpu: Gpu) -> bool:
        used, total = gpu[MEMORY_USED], gpu[MEMORY_TOTAL]
        return bool(used and total and used > max(self._most, total * self._most_percent / 100))


def _without_processes(gpus: Iterable[Gpu], processes: Iterable[HostProcess]) -> set[str]:
    """Return the UUIDs of GPUs without a process. It ends early: mostly the first processes use all GPUs."""
    found = {gpu.uuid for gpu in gpus}
    for one in processes:
        if not found:
            break
        found.difference_update([use.gpu for use in one.gpus])
    return found


def _claim(gpu: Gpu, lasted_s: float, context: Context) -> Claim:
    percent, watts = gpu[GPU_UTILIZATION] or 0, gpu[POWER_AVERAGE]
    lasted = duration_text(lasted_s)
    power = f", {watts:.0f} W" if watts is not None else ""
    return Claim(
        code="busy.unowned",
        stage=Stage.OBSERVATION,
        subject=gpu_subject(gpu),
        summary=f"busy for {lasted} at {percent}%{power}, but the driver lists no process on it: a kernel may have "
        "outlived its process, or a virtual machine or the driver itself uses the GPU",
        evidence=(
            Evidence("gpu_utilization_percent", percent, f"at {percent}%"),
            Evidence("lasted_s", round(lasted_s, 1), f"busy for {lasted}"),
        ),
        remedy=_REMEDY.format(n=gpu.index),
        confidence=_SURE,
        began_s=context.now_s - lasted_s,
    )
