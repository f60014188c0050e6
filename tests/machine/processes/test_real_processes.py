"""Real processes under the kernel's own /proc."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from children import FAR, UNMAPPED
from children import child as unreadable

from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuProcess, HostProcess, Presence
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.visibility import View
from gputop.machine.processes.reader import ProcessReader, resolve_user

USE = GpuProcess(gpu="GPU-0", gpu_index=0, type="C")
SPENT_S = 0.3
CHILD = f"""
import sys, threading, time
def spin():
    sys.stdin.readline()
    while time.thread_time() < {SPENT_S}:
        pass
    print("spun", flush=True)
    sys.stdin.readline()
end = threading.Event()
threading.Thread(target=end.wait, daemon=True).start()
thread = threading.Thread(target=spin)
thread.start()
print("ready", flush=True)
thread.join()
"""


class Child:
    """A process of three threads; one spins when it is told to."""

    def __init__(self, process: "subprocess.Popen[str]", told: IO[str], said: IO[str]) -> None:
        self.process = process
        self.pid = process.pid
        self._told = told
        self._said = said

    def expect(self, word: str) -> None:
        assert self._said.readline().strip() == word

    def tell(self) -> None:
        self._told.write("\n")
        self._told.flush()

    def become_zombie(self) -> None:
        self.process.kill()
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)


@contextmanager
def child(*arguments: str) -> Iterator[Child]:
    command = [sys.executable, "-c", CHILD, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        held = Child(process, process.stdin, process.stdout)
        try:
            held.expect("ready")
            yield held
        finally:
            process.kill()


def read(reader: ProcessReader, pid: int, now: float) -> HostProcess:
    return reader.read({pid: (USE,)}, now)[0]


def test_a_spinning_thread_of_a_real_process_is_found() -> None:
    reader = ProcessReader(RealProc(), resolve_user)
    with child() as held:
        first = read(reader, held.pid, 0.0)
        held.tell()
        held.expect("spun")

        row = read(reader, held.pid, 1.0)

    assert first.busiest_thread_percent is None
    assert row.threads == 3
    assert row.cpu_percent is not None
    assert row.busiest_thread_percent is not None
    assert row.cpu_percent >= SPENT_S * 100 * 0.9
    assert SPENT_S * 100 * 0.9 <= row.busiest_thread_percent <= row.cpu_percent + 2


def test_a_real_process_is_described() -> None:
    before_s = time.time()
    with child("--name", "\x1b[2J") as held:
        row = read(ProcessReader(RealProc(), resolve_user), held.pid, 0.0)

    assert row.presence is Presence.ALIVE
    assert row.user == resolve_user(os.getuid()) or row.user == str(os.getuid())
    assert row.command.startswith(f"{sys.executable} -c ␊import sys")
    assert row.command.endswith("--name ␛[2J")
    assert row.parent_pid == os.getpid()
    assert row.memory_bytes
    assert row.started_s is not None
    assert before_s - 5 < row.started_s < time.time() + 5


def test_a_real_zombie_is_called_a_zombie() -> None:
    with child() as held:
        held.become_zombie()
        row = read(ProcessReader(RealProc(), resolve_user), held.pid, 0.0)

    assert (row.presence, row.state) == (Presence.ALIVE, "Z")
    assert row.command.startswith("[python")


def test_a_real_process_that_ends_has_no_values_left() -> None:
    reader = ProcessReader(RealProc(), resolve_user)
    with child() as held:
        read(reader, held.pid, 0.0)
        held.tell()
        held.tell()
        held.process.wait()

        row = read(reader, held.pid, 1.0)

    assert row == HostProcess(pid=held.pid, presence=View(RealProc()).absence(), gpus=(USE,))


def test_a_process_that_unmaps_its_environment_is_said_to_belong_to_no_job() -> None:
    with unreadable(FAR, program=UNMAPPED) as held:
        row = ProcessReader(RealProc(), resolve_user).read({held.pid: (USE,)}, time.monotonic())[0]

    assert row.owner.missing["run_id"] is Missing.UNREADABLE


def test_open_files_of_our_own_processes_are_seen() -> None:
    with child() as held:
        assert View(RealProc()).uses_gpu(held.pid) is False
