"""Real processes, all of them children of the tests, and a door to change them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gputop.core.protocol.command import SendSignal, Target
from gputop.core.protocol.outcome import Outcome, Result
from gputop.machine.control.audit import Audit
from gputop.machine.control.control import Control
from gputop.machine.control.handle import TargetOpener
from gputop.machine.control.kernel import Kernel
from gputop.machine.proc.procfs import Proc, RealProc
from gputop.machine.proc.stat import parse_stat
from gputop.machine.processes.reader import resolve_user

CHILD = """
import signal, sys, threading
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), lambda number, _: print(signal.Signals(number).name, flush=True))
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
while sys.stdin.readline():
    pass
"""

UNMAPPED = """
import ctypes, sys
libc = ctypes.CDLL(None)
fields = list(map(int, open("/proc/self/stat").read().rpartition(")")[2].split()[1:]))
begin, end = fields[46] & -4096, (fields[47] + 4095) & -4096
assert libc.clearenv() == 0
assert libc.munmap(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin)) == 0
print("ready", flush=True)
sys.stdin.readline()
"""  # a process whose environment can no longer be read
FAR = "x" * 16_384  # an argument that keeps the environment away from the stack's frames


class Told(Kernel):
    """The kernel, with what was asked of it noted; ``errors`` are raised in the place of an answer."""

    def __init__(self, **errors: int) -> None:
        self.errors = errors
        self.sent: list[tuple[str, int, int]] = []

    def open(self, pid: int) -> int:
        self._fail("open")
        return super().open(pid)

    def send(self, descriptor: int, number: int) -> None:
        self.sent.append(("send", descriptor, number))
        self._fail("send")
        super().send(descriptor, number)

    def kill(self, pid: int, number: int) -> None:
        self.sent.append(("kill", pid, number))
        super().kill(pid, number)

    def _fail(self, name: str) -> None:
        if name in self.errors:
            raise OSError(self.errors[name], os.strerror(self.errors[name]))


class Mute(Told):
    """A kernel that does nothing, for processes that a fake /proc invents."""

    def open(self, pid: int) -> int:  # noqa: ARG002 - the kernel's signature
        self._fail("open")
        return os.open("/dev/null", os.O_RDONLY)

    def send(self, descriptor: int, number: int) -> None:
        self.sent.append(("send", descriptor, number))

    def kill(self, pid: int, number: int) -> None:
        self.sent.append(("kill", pid, number))

    def nice(self, tid: int) -> int:  # noqa: ARG002 - the kernel's signature
        return 0

    def set_nice(self, tid: int, nice: int) -> None:
        self.sent.append(("nice", tid, nice))


class Child:
    """A process of two threads that says which signals it gets."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.pid = process.pid
        self.target = Target(process.pid, start_ticks(process.pid))

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def state(self) -> str:
        stat = parse_stat(RealProc().read(f"{self.pid}/stat"))
        assert stat
        return stat.state


@contextmanager
def child(*handled: str, program: str = CHILD) -> Iterator[Child]:
    command = [sys.executable, "-c", program, *handled]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            held = Child(process)
            assert held.line() == "ready"
            settle(held.pid)
            yield held
        finally:
            process.kill()


def start_ticks(pid: int) -> int:
    stat = parse_stat(RealProc().read(f"{pid}/stat"))
    assert stat
    return stat.start_ticks


def settle(*pids: int) -> None:
    """Wait until the start tick of each process is over: from then on a listing gives it an identity."""
    while max(map(start_ticks, pids)) >= RealProc().ticks() - 1:
        time.sleep(0.01)


def control(
    place: Path,
    proc: Proc | None = None,
    kernel: Kernel | None = None,
    *protected: int,
    own_user: str | None = "ann",
    audit: Audit | None = None,
) -> Control:
    """Return a door whose audit log is in ``place``/state."""
    proc, kernel = proc or RealProc(), kernel or Kernel()
    opener = TargetOpener(proc, resolve_user, kernel, frozenset(protected))
    return Control(proc, kernel, opener, audit or Audit(str(place / "state"), "ann"), own_user)


def only(outcome: Outcome) -> Result:
    assert len(outcome.results) == 1
    return outcome.results[0]


def signal_to(*targets: Target, name: str = "SIGTERM") -> SendSignal:
    return SendSignal(id="a", signal=name, targets=targets)
