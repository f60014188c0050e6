"""The workers of one run: what was asked for, and what each of them is told."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.cli.probing.driver_watch import GAVE_WAY
from gputop.cli.probing.targets import Target
from gputop.cli.probing.watch import Watch
from gputop.core.probing.limits import GUARD, Ceiling
from gputop.core.probing.plan import PlannedTest, WorkerPlan
from gputop.core.probing.probe import Level, Probe, ProbeTest
from gputop.core.probing.result import Finding, Status, TestResult
from gputop.core.probing.slurm import station
from gputop.machine.probe.python import worker_environment
from gputop.machine.probe.runner import Job, Limits, Task, joint_command, run, worker_command

_LEAST: Final = 2
_MOST_WORDS: Final = 5
_BAD: Final = frozenset({Status.FAIL, Status.ERROR})


class Ask(Struct, frozen=True, kw_only=True):
    """What somebody asked for. ``cpus``: so many in place of GPUs; ``budget``: bytes of each device at the most."""

    probe: Probe
    level: Level = Level.STANDARD
    tests: tuple[str, ...] = ()
    time_s: float | None = None
    memory: float = 0.9
    budget: int | None = None
    python: str | None = None
    cpus: int | None = None
    gpus: tuple[str, ...] = ()
    demo: str | None = None
    seed: int = 1
    is_forced: bool = False
    is_strict: bool = False
    patience_s: float = 30.0
    json: str | None = None
    junit: str | None = None
    baseline: str | None = None
    least_busbw: float | None = None
    is_serial: bool = False
    ceiling: Ceiling = Ceiling()


class Session(Struct, frozen=True, kw_only=True):
    """What all workers of a run have in common. ``cpus``: those next to each device."""

    ask: Ask
    python: str
    seconds: Mapping[str, float]
    environment: Mapping[str, str]
    folder: str
    watch: Watch
    targets: Sequence[Target]
    cpus: Mapping[str, tuple[int, ...]]

    def single(self, tests: Sequence[ProbeTest]) -> list[Job]:
        """Run a worker for each device, all at the same time unless somebody wants one after another."""
        tasks = [self._task(target, tests) for target in self.targets] if tests else []
        return self._run(tasks, is_serial=self.ask.is_serial) if tasks else []

    def over_all(self, tests: Sequence[ProbeTest], before: Sequence[TestResult]) -> tuple[TestResult, ...]:
        """Run one worker that sees all devices. ``before``: what was run so far; after a stop nothing more is."""
        if not tests or (left := self._left_out(tests, before)):
            return left if tests else ()
        task = Task(
            label="all together", command=worker_command(self.python, self.ask.probe),
            plan=replace(
                self._plan(tests), count=self._count, numbers=tuple(target.index for target in self.targets),
                threads=1 if self.ask.cpus else None,
            ),
            environment=self._environment(),
        )  # fmt: skip
        return self._run([task])[0].record.results()

    def joint(self, tests: Sequence[ProbeTest], before: Sequence[TestResult]) -> tuple[TestResult, ...]:
        """Run a process for each device, started by torchrun; with those of other boxes, where Slurm has them."""
        where = station(self.environment)
        if not tests or (left := self._left_out(tests, before, is_alone=where is None)):
            return left if tests else ()
        debug = {"NCCL_DEBUG": self.environment.get("NCCL_DEBUG", "WARN"), "OMP_NUM_THREADS": "1"}
        task = Task(
            label="all together", command=joint_command(self.python, self.ask.probe, self._count, where), is_joint=True,
            plan=self._plan(tests), environment=self._environment() | debug,
        )  # fmt: skip
        job = self._run([task])[0]
        return tuple(_with_words(test, job.last_words, self.environment) for test in job.record.results())

    @property
    def _count(self) -> int:
        """Return the number of devices; one CPU is asked twice."""
        return max(_LEAST, len(self.targets)) if self.ask.cpus else len(self.targets)

    def _left_out(
        self, tests: Sequence[ProbeTest], before: Sequence[TestResult], *, is_alone: bool = True
    ) -> tuple[TestResult, ...]:
        """Return the results of tests that cannot be made; nothing where they can."""
        if any(test.status is Status.ABORTED for test in before):
            return tuple(TestResult(key=test.key, status=Status.ABORTED, reason="stopped") for test in tests)
        codes = {finding.code for test in before for finding in test.findings}
        if GAVE_WAY in codes or any(code.startswith(GUARD) for code in codes):
            why = "a GPU of them is not free any more" if GAVE_WAY in codes else "a GPU of them was above its ceiling"
            return tuple(TestResult(key=test.key, status=Status.SKIP, reason=why) for test in tests)
        why = "it takes two GPUs" if is_alone and self._count < _LEAST else ""
        if any(target.uuid.startswith("MIG-") for target in self.targets):
            why = "parts of a GPU cannot be joined"
        return tuple(TestResult(key=test.key, status=Status.SKIP, reason=why) for test in tests) if why else ()

    def _run(self, tasks: Sequence[Task], *, is_serial: bool = False) -> list[Job]:
        return run(tasks, self.watch.tell, Limits(silence_s=self.ask.patience_s), is_serial=is_serial)

    def _task(self, target: Target, tests: Sequence[ProbeTest]) -> Task:
        is_cpu = target.kind == "cpu"
        plan = replace(
            self._plan(tests), uuid=target.uuid, index=target.index, cpus=self.cpus.get(target.uuid, ()),
            threads=1 if is_cpu else None,  # several that wait for each other on busy cores are 30 times slower
        )  # fmt: skip
        return Task(
            label=target.label, command=worker_command(self.python, self.ask.probe), plan=plan,
            environment=worker_environment(self.environment, "" if is_cpu else target.uuid, self.folder),
        )  # fmt: skip

    def _plan(self, tests: Sequence[ProbeTest]) -> WorkerPlan:
        ask = self.ask
        return WorkerPlan(
            device=self.targets[0].kind, uuid="", index=0, memory=ask.memory, budget=ask.budget, seed=ask.seed,
            tests=tuple(PlannedTest(test.key, self.seconds[test.key], test.key in ask.tests) for test in tests),
        )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        visible = "" if self.ask.cpus else ",".join(target.uuid for target in self.targets)
        return worker_environment(self.environment, visible, self.folder)


def _with_words(test: TestResult, words: str, environment: Mapping[str, str]) -> TestResult:
    """Return a joint test that went wrong with what NCCL said, and where to look."""
    if test.status not in _BAD:
        return test
    lines = [line for line in words.splitlines() if "NCCL WARN" in line][-_MOST_WORDS:]
    name = environment.get("NCCL_SOCKET_IFNAME") or environment.get("GLOO_SOCKET_IFNAME") or "not set"
    text = f"NCCL_SOCKET_IFNAME is {name}; where data is wrong or it hangs, look at PCIe ACS and the IOMMU"
    finding = Finding(code="collective.hint", status=test.status, text=". ".join((text, *lines)))
    return replace(test, findings=(*test.findings, finding))
