"""The runner of a probe's workers: it starts them, reads their events, ends them. A hang or a crash is a result.

Workers are children of the main thread (they ask the kernel to end them with the thread that started them), each the
leader of its own process group; gputop signals nothing else. To stop a worker, the runner closes its stdin; a worker
that does not react in time gets SIGTERM, then SIGKILL; if it survives that, it is reported and gputop waits no longer.
"""

import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from gputop.core.probing.events import Beat, End, FindingEvent, Hello, read
from gputop.core.probing.plan import WorkerPlan, limit_s
from gputop.core.probing.probe import Probe
from gputop.core.probing.record import Record, ended
from gputop.core.probing.result import TestStatus
from gputop.core.probing.slurm import Station
from gputop.machine.probe.child import Child, undisturbed

_POLL_S: Final = 0.1
_RESTARTS: Final = 1


class Limits(Struct, frozen=True, kw_only=True):
    """Time limits of a worker. ``start_s``: until it says hello; ``silence_s``: without a sign of life."""

    start_s: float = 180.0
    silence_s: float = 30.0
    stop_s: float = 5.0
    end_s: float = 5.0
    kill_s: float = 10.0


class Task(Struct, frozen=True, kw_only=True):
    """A worker to run: its command, its plan, its name. ``sees``: for CUDA_VISIBLE_DEVICES.

    ``is_joint``: the plan goes into a variable, because several processes read it.
    """

    label: str
    command: tuple[str, ...]
    plan: WorkerPlan
    environment: Mapping[str, str]
    is_joint: bool = False


class WorkerJob:
    """A running task. ``record``: the events of its worker."""

    def __init__(self, task: Task, limits: Limits, clock: Callable[[], float]) -> None:
        self.task = task
        self.record = Record([test.id for test in task.plan.tests])
        self._limits = limits
        self._clock = clock
        self._restarts = 0
        self._why: tuple[TestStatus, str, str] | None = None
        self._final: tuple[TestStatus, str, str] | None = None
        self._rest: TestStatus | None = None
        self._has_ended = False  # a test ended because it was stopped: the next one is not to blame
        self._asked_s: float | None = None
        self._steps = 0
        self.is_over = False
        self.child: Child | None = None  # the first step starts it, so that an interrupt finds a consistent state

    def step(self) -> None:
        """Read the available events, and end a worker whose time is over."""
        if self.is_over:
            return
        if self.child is None:
            with undisturbed():  # an interrupt finds it either started or not yet
                self.child = self._start()
        now, child = self._clock(), self.child
        for line in child.lines():
            self._take(line, now)
        status = child.status()
        if status is not None:
            for line in child.lines():
                self._take(line, now)
            self._finish(status)
        elif self._asked_s is None:
            self._watch(now)
        else:
            self._press(now, child)

    @property
    def is_waiting(self) -> bool:
        """Return whether it has not started yet."""
        return self.child is None and not self.is_over

    def stop(self, why: tuple[TestStatus, str, str], *, is_final: bool = False, rest: TestStatus | None = None) -> None:
        """Ask the worker to end; ``why``: the status of the running test, and if ``is_final``, of the following ones.

        ``rest``: the status of the following tests, if different.
        """
        if is_final and self._final is None:
            self._final, self._rest = why, rest
        if self._asked_s is None and not self.is_over:
            self._why, self._asked_s, self._steps = why, self._clock(), 0
            if self.child is None:
                self.record.leave(self.record.left, rest or why[0], why[2])
                self.is_over = True
            else:
                self.child.hang_up()

    @property
    def last_words(self) -> str:
        """Return the worker's last output on stderr."""
        return self.child.last_words if self.child is not None else ""

    def descriptors(self) -> list[int]:
        """Return the pipes that may still deliver data."""
        return self.child.descriptors() if self.child is not None and not self.is_over else []

    def close(self) -> None:
        """Close the pipes, and end a worker that still runs."""
        if self.child is not None:
            self.child.close()

    def _start(self) -> Child:
        plan = replace(self.task.plan, tests=tuple(t for t in self.task.plan.tests if t.id in self.record.left))
        line = encode(plan)
        environment = dict(self.task.environment)
        if self.task.is_joint:
            environment["GPUTOP_PROBE_PLAN"] = line.decode()
        child = Child(self.task.command, environment, b"" if self.task.is_joint else line + b"\n")
        self._started_s = self._seen_s = self.began_s = self._clock()
        self._has_spoken = False
        return child

    def _take(self, line: bytes, now: float) -> None:
        """Read a line. A heartbeat counts as a sign of life only if the main loop has advanced since the last one."""
        turns, current = self.record.turns, self.record.current
        try:
            event = read(line)
        except ValueError:
            return  # not of the protocol; a needed value will be missing then
        if event is None:
            return
        if isinstance(event, End) and event.status == TestStatus.ABORTED.value and self._final is not None:
            event = self._stopped(event, self._final)
        self.record.take(event)
        if not isinstance(event, Beat) or event.n != turns:
            self._seen_s = now
        if isinstance(event, Hello):
            self._has_spoken = True  # this child: the previous one may have crashed
        if self.record.current != current:
            self.began_s = now

    def _stopped(self, event: End, final: tuple[TestStatus, str, str]) -> End:
        """Return the end of a test that stopped on request, with the reason of the request."""
        self._has_ended = True
        status, code, text = final
        if status is not TestStatus.ABORTED:
            self.record.take(FindingEvent(id=event.id, sev=status.value, code=code, text=text))
        return End(id=event.id, status=status.value, dur_s=event.dur_s, reason=text)

    def _watch(self, now: float) -> None:
        """Check whether the worker hangs, or takes too long."""
        limits, test = self._limits, self.record.current
        if not self._has_spoken:
            if now - self._started_s > limits.start_s:
                self.stop((TestStatus.ERROR, "worker.start", f"the worker did not start within {limits.start_s:.0f} s"))
            return
        if now - self._seen_s > limits.silence_s:
            text = f"no sign of life for {limits.silence_s:.0f} s in {test or 'the worker'}"
            self.stop((TestStatus.FAIL, "hang", text))
        elif test is not None and now - self.began_s > limit_s(self._seconds(test)):
            self.stop(
                (TestStatus.FAIL, "time_limit", f"{test} did not end within {limit_s(self._seconds(test)):.0f} s")
            )

    def _seconds(self, test: str) -> float:
        return next((one.seconds for one in self.task.plan.tests if one.id == test), 0.0)

    def _press(self, now: float, child: Child) -> None:
        """Escalate against a worker that was asked to end and still runs."""
        limits = self._limits
        waits = (limits.stop_s, limits.end_s, limits.kill_s)
        if now - (self._asked_s or now) < sum(waits[: self._steps + 1]):
            return
        if self._steps == len(waits) - 1:
            self._give_up()
            return
        child.end(is_hard=self._steps > 0)
        self._steps += 1

    def _give_up(self) -> None:
        self.record.close(
            TestStatus.FAIL, "hang.unkillable", "the worker cannot be killed: the kernel waits for the driver. Reboot."
        )
        self.record.leave(self.record.left, TestStatus.SKIP, "the previous worker could not be killed")
        self.is_over = True

    def _finish(self, status: int) -> None:
        """Turn the end of the worker into results; start a new one, once, for the remaining tests."""
        record, why = self.record, self._why
        if why is not None:
            if not self._has_ended:
                record.close(*why)
        elif record.current is not None:
            record.close(*ended(status))
        elif not record.is_summed and record.error is not None and not record.error.id:
            record.leave(record.left, TestStatus.ERROR, record.error.text.partition("\n")[0][:400])
        elif not record.is_summed and (record.hello is None or not record.left):
            record.close(*ended(status))
        if self._final is not None:
            record.leave(record.left, self._rest or self._final[0], self._final[2])
        if record.left and record.hello is not None and self._restarts < _RESTARTS:
            self._restart()
            return
        record.leave(record.left, TestStatus.SKIP, "its worker ended twice before it began")
        self.is_over = True

    def _restart(self) -> None:
        self._restarts += 1
        self._why, self._asked_s = None, None
        self.record.is_summed, self.record.error = False, None
        self.close()
        with undisturbed():
            self.child = self._start()


def run(
    tasks: Sequence[Task],
    notify: Callable[[Sequence[WorkerJob]], None],
    limits: Limits | None = None,
    clock: Callable[[], float] = time.monotonic,
    *,
    is_serial: bool = False,
) -> list[WorkerJob]:
    """Run all tasks to their ends, at the same time or one after another (``is_serial``).

    ``notify`` is called ten times a second with the progress. A KeyboardInterrupt stops the tasks; the call waits for
    their ends, and their results report it.
    """
    jobs = [WorkerJob(task, limits or Limits(), clock) for task in tasks]
    try:
        try:
            _go_on(jobs, notify, is_serial=is_serial)
        except KeyboardInterrupt:
            for job in jobs:
                job.stop((TestStatus.ABORTED, "aborted", "stopped"), is_final=True)
            _go_on(jobs, notify)  # an interrupt arrives once: `interruptible`
    finally:
        for job in jobs:
            job.close()
    return jobs


def _go_on(
    jobs: Sequence[WorkerJob], notify: Callable[[Sequence[WorkerJob]], None], *, is_serial: bool = False
) -> None:
    """Step until all tasks are over. Separate, so that an interrupt between two steps is caught as well."""
    while left := [job for job in jobs if not job.is_over]:
        for job in left[:1] if is_serial else left:
            job.step()
        notify(jobs)
        _wait(jobs)


def _wait(jobs: Sequence[WorkerJob]) -> None:
    """Sleep until a worker writes something, at most a tenth of a second."""
    with selectors.DefaultSelector() as selector:
        for job in jobs:
            for descriptor in job.descriptors():
                selector.register(descriptor, selectors.EVENT_READ)
        if not selector.select(_POLL_S) and not selector.get_map():
            time.sleep(_POLL_S)


def worker_command(python: str, probe: Probe) -> tuple[str, ...]:
    """Return the command line of a worker: only the package is imported from its folder."""
    return (python, "-c", _BOOT, probe.folder, probe.worker)


def joint_command(python: str, probe: Probe, count: int, station: Station | None = None) -> tuple[str, ...]:
    """Return the command line of a joint test: torchrun, as a module of the same Python. ``station``: of many hosts."""
    own = (python, "-c", _BOOT, probe.folder, probe.joint)
    where: tuple[str, ...] = ("--standalone",)
    if station is not None:
        where = (
            f"--nnodes={station.boxes}", f"--node-rank={station.number}", f"--master-addr={station.head}",
            f"--master-port={station.port}",
        )  # fmt: skip
    return (python, "-m", "torch.distributed.run", *where, f"--nproc-per-node={count}", "--no-python", *own)


_BOOT: Final = (
    "import importlib.util as u, runpy, sys\n"
    "sys.path[:] = filter(None, sys.path)\n"
    "folder, module = sys.argv[1:3]\n"
    "name = module.partition('.')[0]\n"
    "spec = u.spec_from_file_location(name, folder + '/__init__.py', submodule_search_locations=[folder])\n"
    "sys.modules[name] = u.module_from_spec(spec)\n"
    "spec.loader.exec_module(sys.modules[name])\n"
    "runpy.run_module(module, run_name='__main__')\n"
)
