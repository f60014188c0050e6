"""The kernel of a simulated box, which changes its processes. It makes no system call, so it reaches no real process.

A signal has its default action. A process in uninterruptible sleep never wakes.
"""

import errno
import os
import signal
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from gputop.simulator.clock import BoxClock
from gputop.simulator.driver import Driver
from gputop.simulator.load import Activity, together
from gputop.simulator.plan import BoxPlan, Use
from gputop.simulator.proc import SimulatedProc
from gputop.simulator.procfiles import ProcessFiles

_STOPS: Final = frozenset({signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})
_IGNORED: Final = frozenset({signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH})
_FIRST_DESCRIPTOR: Final = 1_000_000_000  # numbers that no real file has


class SimulatedKernel:
    """Replaces `machine.control.kernel.Kernel`. All methods raise OSError."""

    def __init__(self, plan: BoxPlan, proc: SimulatedProc, driver: Driver, clock: BoxClock) -> None:
        self._plan = plan
        self._proc = proc
        self._driver = driver
        self._clock = clock
        self._planned = {process.pid: process for process in plan.processes}
        self._held: dict[int, int] = {}
        self._opened = _FIRST_DESCRIPTOR
        self._waiting: set[int] = set()
        self._stopped: set[int] = set()
        self._io: dict[int, int] = {}
        self._cpus: dict[int, tuple[int, ...]] = {}

    # --- signals -------------------------------------------------------------------------------------------------
    def open(self, pid: int) -> int:
        """Return a descriptor of a process."""
        self._process(pid)
        self._opened += 1
        self._held[self._opened] = pid
        return self._opened

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        del self._held[descriptor]

    def inode(self, descriptor: int) -> int | None:
        """Return the pid, since no pid is reused here."""
        return self._held[descriptor]

    def send(self, descriptor: int, number: int) -> None:
        """Send a signal to the process behind a descriptor."""
        self.kill(self._held[descriptor], number)

    def kill(self, pid: int, number: int) -> None:
        """Send a signal to a process."""
        process = self._process(pid)
        self._need_right(process)
        state = process.plan.state
        if state == "D" or number in _IGNORED or not number:
            return
        if number in _STOPS:
            self._stop(process)
        elif number == signal.SIGCONT:
            self._go_on(process)
        elif state == "T" and number != signal.SIGKILL:
            self._waiting.add(pid)
        else:
            self._end(process, is_killed=number == signal.SIGKILL)

    def _end(self, process: ProcessFiles, *, is_killed: bool) -> None:
        """End a process, and its children: programs end the processes that they started, unless they were killed.

        After a kill, children on GPUs live on as orphans; the others, such as data loaders, exit because their pipe has
        no reader.
        """
        pid, now = process.plan.pid, self._clock.now()
        for child in self._proc.children(pid):
            if child.plan.uid == process.plan.uid and not (is_killed and child.plan.uses):
                self._end(child, is_killed=is_killed)
        self._proc.end(pid)
        self._driver.change(pid, lambda use: replace(use, activity=use.activity.until(now)), has_ended=True)

    def _stop(self, process: ProcessFiles) -> None:
        if process.plan.state == "T":
            return
        now = self._clock.now()
        threads = tuple(replace(thread, cpu=thread.cpu.until(now)) for thread in process.plan.threads)
        self._proc.change(process, threads=threads, state="T")
        self._driver.change(process.plan.pid, lambda use: replace(use, activity=use.activity.until(now)))
        self._stopped.add(process.plan.pid)

    def _go_on(self, process: ProcessFiles) -> None:
        pid = process.plan.pid
        if pid in self._waiting:
            self._end(process, is_killed=False)
        elif pid in self._stopped:
            self._stopped.remove(pid)
            now, planned = self._clock.now(), self._planned[pid]
            pairs = zip(process.plan.threads, planned.threads, strict=True)
            threads = tuple(replace(is_, cpu=is_.cpu + was.cpu.since(now)) for is_, was in pairs)
            self._proc.change(process, threads=threads, state=planned.state)
            did = {_place(use): use.activity for use in planned.uses}
            self._driver.change(pid, lambda use: _more(use, did[_place(use)].since(now)))
        elif process.plan.state == "T":  # the initial state of the box
            self._proc.change(process, state="")

    # --- priorities ----------------------------------------------------------------------------------------------
    def nice(self, tid: int) -> int:
        """Return the nice value of a thread."""
        return self._process(tid).plan.nice

    def set_nice(self, tid: int, nice: int) -> None:
        """Set the nice value of a thread; here that of its process."""
        process = self._process(tid)
        self._need_right(process, is_more=nice < process.plan.nice)
        process.change(nice=nice)

    def cpus(self, tid: int) -> tuple[int, ...]:
        """Return the CPUs that a thread may run on."""
        return self._cpus.get(self._process(tid).plan.pid, tuple(range(self._plan.cores)))

    def set_cpus(self, tid: int, cpus: Iterable[int]) -> None:
        """Set the CPUs of a thread."""
        process = self._process(tid)
        self._need_right(process)
        there = tuple(sorted(set(cpus) & set(range(self._plan.cores))))
        if not there:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._cpus[process.plan.pid] = there

    def io_priority(self, tid: int) -> int:
        """Return the I/O priority of a thread."""
        return self._io.get(self._process(tid).plan.pid, 0)

    def set_io_priority(self, tid: int, priority: int) -> None:
        """Set the I/O priority of a thread."""
        process = self._process(tid)
        self._need_right(process, is_more=priority >> 13 == 1)  # real time
        self._io[process.plan.pid] = priority

    def _process(self, tid: int) -> ProcessFiles:
        found = self._proc.process(tid)
        if found is None:
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
        return found

    def _need_right(self, process: ProcessFiles, *, is_more: bool = False) -> None:
        """Raise PermissionError unless the process is the viewer's own; with ``is_more`` only root has the right."""
        if self._plan.viewer and (is_more or process.plan.uid != self._plan.viewer):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def _place(use: Use) -> tuple[int, int | None, int | None, str]:
    return use.gpu, use.gpu_instance, use.compute_instance, use.type


def _more(use: Use, activity: Activity) -> Use:
    return replace(use, activity=together(use.activity, activity))
