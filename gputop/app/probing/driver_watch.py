"""Readings of the driver during a run: counters after tests, links during copies, power and heat under load."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from gputop.app.probing.devices import Device
from gputop.app.probing.guard import Guard
from gputop.core.doctor.facts import Details
from gputop.core.model.catalogue import PCIE_GENERATION_MAX, PCIE_WIDTH_MAX, POWER_AVERAGE, TEMPERATURE
from gputop.core.model.sample import Gpu, Sample
from gputop.core.probing.counters import Board, counters
from gputop.core.probing.result import DeviceResult, TestResult, worst
from gputop.core.probing.telemetry import link, negotiated, series, soak
from gputop.machine.doctor.boards import details
from gputop.machine.nvml.driver import Driver
from gputop.machine.probe.runner import WorkerJob

_READ_EVERY_S: Final = 1.0
_SOAK: Final = "soak"
_COPIES: Final = ("bandwidth.h2d", "bandwidth.d2h", "bandwidth.both")
_MOST_SAMPLES: Final = 100_000


class Readable(Protocol):
    """The part of a `MachineSource` that a run reads."""

    @property
    def driver(self) -> Driver:
        """Return the driver."""
        ...

    def refresh_layout(self, uuid: str) -> None:
        """Read the slow values of a GPU with the next sample."""
        ...

    def read(self) -> Sample:
        """Take a sample."""
        ...


class DriverWatch:
    """The readings of a run. ``before``: the sample from before the run."""

    def __init__(self, source: Readable, before: Sample, devices: Sequence[Device], guard: Guard) -> None:
        self._source = source
        self._guard = guard
        self._before = {gpu.uuid: gpu for gpu in before.gpus}
        self._gpu_of = {device.uuid: device.gpu for device in devices}
        self._last: Mapping[str, Gpu] = self._before
        self._after: dict[str, Gpu] = {}
        self._soaks: dict[str, list[Gpu]] = {}
        self._copies: dict[str, list[Gpu]] = {}
        self._marks: dict[str, list[tuple[str, Gpu]]] = {}
        self._running: dict[str, str | None] = {}
        self._read_s = 0.0

    def update(self, jobs: Sequence[WorkerJob], now: float) -> None:
        """Read the driver once a second and after each test; then apply the safety rules."""
        ended = self._ended(jobs)
        if not ended and now - self._read_s < _READ_EVERY_S:
            return
        self._read_s = now
        running = {self._gpu(job.task.plan.uuid): job.record.current for job in jobs}
        for gpu, test in running.items():
            if test in _COPIES or gpu in ended:
                self._source.refresh_layout(gpu)  # slow readings come only twice a minute otherwise
        sample = self._source.read()
        self._last = {gpu.uuid: gpu for gpu in sample.gpus}
        self._keep(sample, running, ended)
        self._guard.check(sample, jobs)

    def finish(self) -> None:
        """Read all counters for the last time."""
        for uuid in self._before:
            self._source.refresh_layout(uuid)
        self._after = {gpu.uuid: gpu for gpu in self._source.read().gpus}

    def links(self) -> dict[str, tuple[int | None, int | None]]:
        """Return by GPU its PCIe generation and width during copies; the best possible if unknown."""
        found = {}
        for uuid, samples in self._copies.items():
            generation, width = negotiated(samples)
            last = samples[-1]
            found[uuid] = (generation or last[PCIE_GENERATION_MAX], width or last[PCIE_WIDTH_MAX])
        return found

    def heat(self, uuid: str) -> str:
        """Return the last temperature and power of a device: 71°C 689W."""
        gpu = self._last.get(self._gpu(uuid))
        if gpu is None:
            return ""
        temperature, power = gpu[TEMPERATURE], gpu[POWER_AVERAGE]
        celsius = f"{temperature:.0f}°C" if temperature is not None else ""
        return " ".join(filter(None, (celsius, f"{power:.0f}W" if power is not None else "")))

    def completed(self, device: DeviceResult) -> DeviceResult:
        """Return a result with the driver's readings: in its tests, and as a test of its own."""
        uuid = self._gpu(device.uuid)
        tests = tuple(self._completed(uuid, test) for test in device.tests)
        before, after = self._before.get(uuid), self._after.get(uuid)
        if before is not None and after is not None and tests:
            board = _board(details(self._source.driver, (after,)).get(uuid))
            tests = (*tests, counters(before, after, self._marks.get(uuid, ()), board))
        return replace(device, tests=tests, samples=series(self._soaks.get(uuid, ())))

    def _completed(self, gpu: str, test: TestResult) -> TestResult:
        if test.key == _SOAK and self._soaks.get(gpu):
            figures, findings = soak(self._soaks[gpu])
        elif test.key == _COPIES[0] and self._copies.get(gpu):
            figures, findings = (), link(self._copies[gpu])
        else:
            return test
        status = worst((test.status, *(finding.status for finding in findings)))
        return replace(test, figures=(*test.figures, *figures), findings=(*test.findings, *findings), status=status)

    def _gpu(self, uuid: str) -> str:
        return self._gpu_of.get(uuid, uuid)

    def _ended(self, jobs: Sequence[WorkerJob]) -> dict[str, str]:
        """Return by GPU the test that has ended since the last update."""
        found: dict[str, str] = {}
        for job in jobs:
            label, current = job.task.label, job.record.current
            last = self._running.get(label)
            if last is not None and last != current:
                uuids = (job.task.plan.uuid,) if job.task.plan.uuid else tuple(self._gpu_of)
                found |= {self._gpu(uuid): last for uuid in uuids}
            self._running[label] = current
        return found

    def _keep(self, sample: Sample, running: Mapping[str, str | None], ended: Mapping[str, str]) -> None:
        for gpu in sample.gpus:
            if gpu.uuid in ended:
                self._marks.setdefault(gpu.uuid, []).append((ended[gpu.uuid], gpu))
            test = running.get(gpu.uuid)
            kept = self._soaks if test == _SOAK else self._copies if test in _COPIES else None
            if kept is not None and len(samples := kept.setdefault(gpu.uuid, [])) < _MOST_SAMPLES:
                samples.append(gpu)


def _board(details: Details | None) -> Board:
    """Return the board's memory health; a value with a reason for its absence is unknown."""
    if details is None:
        return Board()
    banks, sram = details.banks_without_spares, details.sram_exceeded
    return Board(
        banks_without_spares=banks if isinstance(banks, int) else None,
        sram_exceeded=sram if isinstance(sram, bool) else None,
    )
