"""Progress of a run: how far each worker is, for an observer."""

import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from gputop.app.probing.devices import Device
from gputop.app.probing.driver_watch import DriverWatch
from gputop.core.probing.result import DeviceResult, ProbeReport
from gputop.machine.probe.runner import WorkerJob
from gputop.report.probe import DeviceProgress


class Observer(Protocol):
    """A terminal or a program that follows a run."""

    def begin(self, devices: Sequence[Device], refused: Sequence[DeviceResult]) -> None:
        """Show all devices, and which of them are not tested."""
        ...

    def update(self, jobs: Sequence[WorkerJob], progress: Sequence[DeviceProgress]) -> None:
        """Show the progress of each job. Called many times a second."""
        ...

    def end(self, report: ProbeReport) -> None:
        """Finish; all tests are over."""
        ...


class RunProgress:
    """The progress of a run. ``seconds``: by test; ``driver``: read while the workers run."""

    def __init__(self, driver: DriverWatch | None, seconds: Mapping[str, float], observer: Observer) -> None:
        self._driver = driver
        self._seconds = seconds
        self._observer = observer

    def update(self, jobs: Sequence[WorkerJob]) -> None:
        """Read the driver if it is due, and inform the observer."""
        if self._driver is not None:
            self._driver.update(jobs, time.monotonic())
        self._observer.update(jobs, self._devices(jobs))

    def _devices(self, jobs: Sequence[WorkerJob]) -> list[DeviceProgress]:
        """Return the progress of all jobs; one that waits for others takes their time as well."""
        found, ahead_s = list[DeviceProgress](), 0.0
        for job in jobs:
            heat = self._driver.heat(job.task.plan.uuid) if self._driver is not None else ""
            one = _progress(job, self._seconds, heat)
            if job.is_waiting:
                one = replace(one, left_s=one.left_s + ahead_s)
            ahead_s = max(ahead_s, one.left_s)
            found.append(one)
        return found


def _progress(job: WorkerJob, seconds: Mapping[str, float], heat: str) -> DeviceProgress:
    """Return the progress of a worker, by the planned seconds of its tests."""
    record = job.record
    total = sum(seconds[key] for key in record.wanted) or 1.0
    left = sum(seconds[key] for key in record.left)
    current = seconds.get(record.current or "", 0.0) * (1 - record.done)
    test = "done" if job.is_over else record.current or ("waiting" if job.is_waiting else "starting")
    return DeviceProgress(
        label=job.task.label, test=test, done=0.0 if record.hello is None else 1 - (left + current) / total,
        left_s=0.0 if job.is_over else left + current, text="" if job.is_over else record.text, heat=heat,
    )  # fmt: skip
