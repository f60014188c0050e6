"""The workers of one run: one per device, one over all devices, and joint ones started by torchrun."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.probing.devices import Device
from gputop.app.probing.guard import GAVE_WAY
from gputop.app.probing.request import ProbeRequest
from gputop.core.probing.limits import GUARD
from gputop.core.probing.plan import PlannedTest, WorkerPlan
from gputop.core.probing.probe import Level, ProbeTest
from gputop.core.probing.result import TestFinding, TestResult, TestStatus
from gputop.core.probing.slurm import station
from gputop.machine.probe.python import worker_environment
from gputop.machine.probe.runner import Limits, Task, WorkerJob, joint_command, run, worker_command

_LEAST: Final = 2
_MEMORY: Final = 0.9  # of the free memory
_QUICK_MEMORY: Final = 0.25
_MOST_LINES: Final = 5
_BAD: Final = frozenset({TestStatus.FAIL, TestStatus.ERROR})


class Workers(Struct, frozen=True, kw_only=True):
    """The common values of a run's workers. ``near_cpus``: CPUs next to each device; ``update``: gets the progress."""

    request: ProbeRequest
    python: str
    seconds: Mapping[str, float]
    folder: str
    update: Callable[[Sequence[WorkerJob]], None]
    devices: Sequence[Device]
    near_cpus: Mapping[str, tuple[int, ...]]

    def single(self, tests: Sequence[ProbeTest]) -> list[WorkerJob]:
        """Run a worker for each device: all at the same time, unless the request is serial."""
        tasks = [self._task(device, tests) for device in self.devices] if tests else []
        return self._run(tasks, is_serial=self.request.is_serial) if tasks else []

    def over_all(self, tests: Sequence[ProbeTest], before: Sequence[TestResult]) -> tuple[TestResult, ...]:
        """Run one worker that sees all devices. ``before``: results so far; after a stop nothing more runs."""
        if not tests or (left := self._left_out(tests, before)):
            return left if tests else ()
        task = Task(
            label="all together", command=worker_command(self.python, self.request.probe),
            plan=replace(
                self._plan(tests), count=self._count, numbers=tuple(device.index for device in self.devices),
                threads=1 if self.request.cpus else None,
            ),
            environment=self._environment(),
        )  # fmt: skip
        return self._run([task])[0].record.results()

    def joint(self, tests: Sequence[ProbeTest], before: Sequence[TestResult]) -> tuple[TestResult, ...]:
        """Run a process for each device, started by torchrun; in a Slurm job together with those of other hosts."""
        where = station(os.environ)
        if not tests or (left := self._left_out(tests, before, is_alone=where is None)):
            return left if tests else ()
        debug = {"NCCL_DEBUG": os.environ.get("NCCL_DEBUG", "WARN"), "OMP_NUM_THREADS": "1"}
        task = Task(
            label="all together", command=joint_command(self.python, self.request.probe, self._count, where),
            plan=self._plan(tests), environment=self._environment() | debug, is_joint=True,
        )  # fmt: skip
        job = self._run([task])[0]
        return tuple(_with_hint(test, job.last_words) for test in job.record.results())

    @property
    def _count(self) -> int:
        """Return the number of devices; a single CPU counts twice."""
        return max(_LEAST, len(self.devices)) if self.request.cpus else len(self.devices)

    def _left_out(
        self, tests: Sequence[ProbeTest], before: Sequence[TestResult], *, is_alone: bool = True
    ) -> tuple[TestResult, ...]:
        """Return the results of tests that cannot run; none if they can."""
        if any(test.status is TestStatus.ABORTED for test in before):
            return tuple(TestResult(key=test.key, status=TestStatus.ABORTED, reason="stopped") for test in tests)
        codes = {finding.code for test in before for finding in test.findings}
        why = "it takes two GPUs" if is_alone and self._count < _LEAST else ""
        if any(device.uuid.startswith("MIG-") for device in self.devices):
            why = "MIG devices cannot work together"
        if any(code.startswith(GUARD) for code in codes):
            why = "one of the GPUs was above its ceiling"
        if GAVE_WAY in codes:
            why = "another process uses one of the GPUs now"
        return tuple(TestResult(key=test.key, status=TestStatus.SKIP, reason=why) for test in tests) if why else ()

    def _run(self, tasks: Sequence[Task], *, is_serial: bool = False) -> list[WorkerJob]:
        return run(tasks, self.update, Limits(silence_s=self.request.patience_s), is_serial=is_serial)

    def _task(self, device: Device, tests: Sequence[ProbeTest]) -> Task:
        is_cpu = device.kind == "cpu"
        plan = replace(
            self._plan(tests), uuid=device.uuid, index=device.index, cpus=self.near_cpus.get(device.uuid, ()),
            threads=1 if is_cpu else None,  # joint workers that wait for each other on busy cores are 30 times slower
        )  # fmt: skip
        return Task(
            label=device.label, command=worker_command(self.python, self.request.probe), plan=plan,
            environment=worker_environment(os.environ, "" if is_cpu else device.uuid, self.folder),
        )  # fmt: skip

    def _plan(self, tests: Sequence[ProbeTest]) -> WorkerPlan:
        request = self.request
        usual = _QUICK_MEMORY if request.level is Level.QUICK else _MEMORY
        share, most_bytes = request.memory or (usual, None)
        return WorkerPlan(
            device=self.devices[0].kind, uuid="", index=0, memory=share, budget=most_bytes,
            tests=tuple(PlannedTest(test.key, self.seconds[test.key], test.key in request.tests) for test in tests),
            seed=request.seed,
        )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        visible = "" if self.request.cpus else ",".join(device.uuid for device in self.devices)
        return worker_environment(os.environ, visible, self.folder)


def _with_hint(test: TestResult, last_words: str) -> TestResult:
    """Return a failed joint test with the warnings of NCCL and a hint."""
    if test.status not in _BAD:
        return test
    lines = [line for line in last_words.splitlines() if "NCCL WARN" in line][-_MOST_LINES:]
    name = os.environ.get("NCCL_SOCKET_IFNAME") or os.environ.get("GLOO_SOCKET_IFNAME") or "not set"
    text = f"NCCL_SOCKET_IFNAME is {name}; if data is wrong or it hangs, check PCIe ACS and the IOMMU"
    finding = TestFinding(code="collective.hint", status=test.status, text=". ".join((text, *lines)))
    return replace(test, findings=(*test.findings, finding))
