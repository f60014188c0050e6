"""Safety rules of a run: stop for other users' processes, and stop the load of a GPU above its ceiling."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from gputop.app.probing.devices import Device
from gputop.core.model.sample import Gpu, Sample
from gputop.core.probing.limits import UNKNOWN, Ceiling
from gputop.core.probing.newcomers import newcomers
from gputop.core.probing.result import TestStatus
from gputop.machine.probe.runner import WorkerJob

_STAYS: Final = 3  # samples in a row: a process that exits earlier did not need the GPU
GAVE_WAY: Final = "gave_way"


class Guard:
    """The guard of a run. ``newcomers``: by device, the processes that started during its tests.

    ``gives_way``: end the workers of a GPU that another process starts to use and keeps using.
    """

    def __init__(self, before: Sample, devices: Sequence[Device], ceiling: Ceiling, *, gives_way: bool) -> None:
        self.newcomers: dict[str, tuple[str, ...]] = {}
        self._known = frozenset(process.id for process in before.processes)
        self._devices = devices
        self._ceiling = ceiling
        self._gives_way = gives_way
        self._stayed: dict[str, int] = {}  # samples in a row with a newcomer
        self._unknown: dict[str, int] = {}  # samples in a row without a reading to compare with the ceiling

    def check(self, sample: Sample, jobs: Sequence[WorkerJob]) -> None:
        """Apply both rules to a new sample."""
        gpus = {gpu.uuid: gpu for gpu in sample.gpus}
        self._give_way(sample, gpus, jobs)
        self._keep_below(gpus, jobs)

    def _give_way(self, sample: Sample, gpus: Mapping[str, Gpu], jobs: Sequence[WorkerJob]) -> None:
        own = {os.getpid(), *(job.child.pid for job in jobs if job.child is not None)}
        for device in self._devices:
            gpu = gpus.get(device.gpu)
            found = newcomers(sample, gpu, own, self._known, device.instance) if gpu is not None else ()
            self._stayed[device.uuid] = self._stayed.get(device.uuid, 0) + 1 if found else 0
            if found:
                self.newcomers.setdefault(device.uuid, found)
            if self._gives_way and self._stayed[device.uuid] == _STAYS:
                why = (TestStatus.INCONCLUSIVE, GAVE_WAY, f"stopped for a new process: {'; '.join(found)}")
                for job in _on(device, jobs):
                    job.stop(why, is_final=True)

    def _keep_below(self, gpus: Mapping[str, Gpu], jobs: Sequence[WorkerJob]) -> None:
        """Stop the load of a GPU above a ceiling, or of one that stops reporting the value."""
        for device in self._devices:
            gpu = gpus.get(device.gpu)
            unknown = self._ceiling.unenforceable(gpu) if gpu is not None else ""
            self._unknown[device.uuid] = self._unknown.get(device.uuid, 0) + 1 if unknown else 0
            over = self._ceiling.over(gpu) if gpu is not None else None
            if over is None and self._unknown[device.uuid] < _STAYS:
                continue
            why = (TestStatus.ERROR, UNKNOWN, unknown)
            if over is not None:
                why = (TestStatus.FAIL, over[0], f"{over[1]}: the load was stopped")
            for job in _on(device, jobs):
                if not job.is_waiting:  # it may have cooled down by then
                    job.stop(why, is_final=True, rest=TestStatus.SKIP)


def _on(device: Device, jobs: Sequence[WorkerJob]) -> list[WorkerJob]:
    """Return the jobs on a device: its own, and those over all devices."""
    return [job for job in jobs if job.task.plan.uuid in (device.uuid, "")]
