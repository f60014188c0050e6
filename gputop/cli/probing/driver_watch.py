"""Reads the driver while workers run: counters after each test, power and heat under the soak, who else comes."""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from gputop.cli.probing.targets import Target
from gputop.core.doctor.facts import Details
from gputop.core.model.catalogue import PCIE_GENERATION_MAX, PCIE_WIDTH_MAX, POWER_AVERAGE, TEMPERATURE
from gputop.core.model.sample import Gpu, Sample
from gputop.core.probing.counters import Board, counters
from gputop.core.probing.limits import UNKNOWN, Ceiling
from gputop.core.probing.newcomers import newcomers
from gputop.core.probing.result import DeviceResult, Status, TestResult, worst
from gputop.core.probing.telemetry import link, negotiated, series, soak
from gputop.machine.doctor.boards import details
from gputop.machine.nvml.driver import Driver
from gputop.machine.probe.runner import Job

_READ_EVERY_S: Final = 1.0
_SOAK: Final = "soak"
_COPIES: Final = ("bandwidth.h2d", "bandwidth.d2h", "bandwidth.both")
_MOST_SAMPLES: Final = 100_000
_STAYS: Final = 3  # looks in a row: who is gone before that did not want the GPU
GAVE_WAY: Final = "gave_way"


class Readable(Protocol):
    """A `MachineSource`, as far as it is asked here."""

    @property
    def driver(self) -> Driver:
        """Return the driver."""
        ...

    def look_again(self, uuid: str) -> None:
        """Read with the next sample what would have its turn later."""
        ...

    def read(self) -> Sample:
        """Take a sample."""
        ...


class DriverWatch:
    """Of one run. ``before``: what the driver said before anything began. ``last``: what it said last, by uuid.

    ``gives_way``: the workers of a GPU are ended when somebody comes to it and stays.
    """

    def __init__(
        self, source: Readable, before: Sample, targets: Sequence[Target], *, gives_way: bool = True,
        ceiling: Ceiling = Ceiling(),  # noqa: B008 - frozen
    ) -> None:  # fmt: skip
        self._source = source
        self._ceiling = ceiling
        self._untold: dict[str, int] = {}
        self._gives_way = gives_way
        self._guests: dict[str, int] = {}
        self._before = {gpu.uuid: gpu for gpu in before.gpus}
        self._known = frozenset(process.id for process in before.processes)
        self._targets = {target.uuid: target for target in targets}
        self.last: Mapping[str, Gpu] = self._before
        self._after: dict[str, Gpu] = {}
        self._soaks: dict[str, list[Gpu]] = {}
        self._copies: dict[str, list[Gpu]] = {}
        self._marks: dict[str, list[tuple[str, Gpu]]] = {}
        self._running: dict[str, str | None] = {}
        self._came: dict[str, tuple[str, ...]] = {}
        self._read_s = 0.0

    def look(self, jobs: Sequence[Job], now: float) -> None:
        """Read the driver once a second, and its counters whenever a test has ended."""
        ended = self._ended(jobs)
        if not ended and now - self._read_s < _READ_EVERY_S:
            return
        self._read_s = now
        running = {self._gpu(job.task.plan.uuid): job.record.current for job in jobs}
        for gpu, test in running.items():
            if test in _COPIES or gpu in ended:
                self._source.look_again(gpu)  # some readings are slow, and have their turn twice a minute else
        sample = self._source.read()
        self.last = {gpu.uuid: gpu for gpu in sample.gpus}
        self._take(sample, running, ended)
        self._greet(sample, jobs)
        self._guard(jobs)

    def finish(self) -> None:
        """Read all counters for the last time."""
        for uuid in self._before:
            self._source.look_again(uuid)
        self._after = {gpu.uuid: gpu for gpu in self._source.read().gpus}

    def links(self) -> dict[str, tuple[int | None, int | None]]:
        """Return by GPU what its PCIe link was while it carried copies; its best where that is not told."""
        found = {}
        for uuid, samples in self._copies.items():
            generation, width = negotiated(samples)
            last = samples[-1]
            found[uuid] = (generation or last[PCIE_GENERATION_MAX], width or last[PCIE_WIDTH_MAX])
        return found

    def heat(self, uuid: str) -> str:
        """Return a device's temperature and power as they were read last: 71°C 689W."""
        gpu = self.last.get(self._gpu(uuid))
        if gpu is None:
            return ""
        temperature, power = gpu[TEMPERATURE], gpu[POWER_AVERAGE]
        celsius = f"{temperature:.0f}°C" if temperature is not None else ""
        return " ".join(filter(None, (celsius, f"{power:.0f}W" if power is not None else "")))

    def came(self) -> Mapping[str, tuple[str, ...]]:
        """Return by device who came while it was tested."""
        return self._came

    def completed(self, device: DeviceResult) -> DeviceResult:
        """Return a device with what the driver said of it: in its tests, and as a test of its own."""
        uuid = self._gpu(device.uuid)
        tests = tuple(self._completed(uuid, test) for test in device.tests)
        before, after = self._before.get(uuid), self._after.get(uuid)
        if before is not None and after is not None and tests:
            told = details(self._source.driver, (after,)).get(uuid)
            tests = (*tests, counters(before, after, self._marks.get(uuid, ()), _board(told)))
        return replace(device, tests=tests, samples=series(self._soaks.get(uuid, ())))

    def _completed(self, gpu: str, test: TestResult) -> TestResult:
        if test.key == _SOAK and self._soaks.get(gpu):
            figures, findings = soak(self._soaks[gpu])
        elif test.key == _COPIES[0] and self._copies.get(gpu):
            figures, findings = (), link(self._copies[gpu])
        else:
            return test
        status = worst((test.status, *(finding.status for finding in findings)))
        return replace(
            test, figures=(*test.figures, *figures), findings=(*test.findings, *findings), status=status
        )  # fmt: skip

    def _gpu(self, uuid: str) -> str:
        target = self._targets.get(uuid)
        return target.gpu if target else uuid

    def _ended(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Return by GPU the test that has ended since the last look."""
        found: dict[str, str] = {}
        for job in jobs:
            label, current = job.task.label, job.record.current
            last = self._running.get(label)
            if last is not None and last != current:
                uuids = (job.task.plan.uuid,) if job.task.plan.uuid else tuple(self._targets)
                found |= {self._gpu(uuid): last for uuid in uuids}
            self._running[label] = current
        return found

    def _take(self, sample: Sample, running: Mapping[str, str | None], ended: Mapping[str, str]) -> None:
        for gpu in sample.gpus:
            if gpu.uuid in ended:
                self._marks.setdefault(gpu.uuid, []).append((ended[gpu.uuid], gpu))
            test = running.get(gpu.uuid)
            where = self._soaks if test == _SOAK else self._copies if test in _COPIES else None
            if where is not None and len(held := where.setdefault(gpu.uuid, [])) < _MOST_SAMPLES:
                held.append(gpu)

    def _greet(self, sample: Sample, jobs: Sequence[Job]) -> None:
        """Take down who has come to a GPU that is tested, and make way for who stays."""
        own = {os.getpid(), *(job.child.pid for job in jobs if job.child is not None)}
        gpus = {gpu.uuid: gpu for gpu in sample.gpus}
        for target in self._targets.values():
            gpu = gpus.get(target.gpu)
            found = newcomers(sample, gpu, own, self._known, target.instance) if gpu is not None else ()
            self._guests[target.uuid] = self._guests.get(target.uuid, 0) + 1 if found else 0
            if found:
                self._came.setdefault(target.uuid, found)
            if self._gives_way and self._guests[target.uuid] == _STAYS:
                text = f"gave way to somebody who came: {'; '.join(found)}"
                for job in _on(target, jobs):
                    job.stop((Status.INCONCLUSIVE, GAVE_WAY, text), is_final=True)

    def _guard(self, jobs: Sequence[Job]) -> None:
        """Take the load from a GPU that is above a ceiling, or does not tell any more whether it is."""
        for target in self._targets.values():
            gpu = self.last.get(target.gpu)
            untold = self._ceiling.untold(gpu) if gpu is not None else ""
            self._untold[target.uuid] = self._untold.get(target.uuid, 0) + 1 if untold else 0
            over = self._ceiling.over(gpu) if gpu is not None else None
            if over is None and self._untold[target.uuid] < _STAYS:
                continue
            why = (Status.ERROR, UNKNOWN, untold)
            if over is not None:
                why = (Status.FAIL, over[0], f"{over[1]}: the load was taken away")
            for job in _on(target, jobs):
                if not job.is_waiting:  # it may have cooled down by then
                    job.stop(why, is_final=True, rest=Status.SKIP)


def _on(target: Target, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs that load a device: its own, and those over all."""
    return [job for job in jobs if job.task.plan.uuid in (target.uuid, "")]


def _board(told: Details | None) -> Board:
    """Return what a board told; what it gave a reason for is not known."""
    if told is None:
        return Board()
    banks, sram = told.banks_without_spares, told.sram_exceeded
    return Board(
        banks_without_spares=banks if isinstance(banks, int) else None,
        sram_exceeded=sram if isinstance(sram, bool) else None,
    )
