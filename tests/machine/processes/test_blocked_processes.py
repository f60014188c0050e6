"""Processes that block the readers of their command line: the others are read, and nothing false is reported."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from blocking_proc import BlockingProc
from blocking_process import blocking_or_skip
from children import control, signal_to

from gputop.core.inspection.text import lines
from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuProcess, HostProcess, Presence
from gputop.core.protocol.command import Inspect, Target
from gputop.core.protocol.outcome import Status
from gputop.machine.inspect.costly import CostlyReader
from gputop.machine.inspect.inspector import Inspector
from gputop.machine.proc.patient import PatientProc
from gputop.machine.proc.procfs import Proc, RealProc
from gputop.machine.proc.stat import parse_stat
from gputop.machine.processes.reader import ProcessReader, resolve_user

WITHIN_S = 30.0
PATIENCE_S = 0.2
Rows = dict[int, HostProcess]


class Readings:
    """Readings of processes, 3 s of the reader's clock apart."""

    def __init__(self, proc: Proc) -> None:
        self._reader = ProcessReader(PatientProc(proc, PATIENCE_S), {1000: "ann"}.get, clock_ticks=100)
        self._now = count(1000.0, 3.0)

    def read(self, pids: Iterable[int]) -> Rows:
        """Return the processes and their relatives by pid."""
        uses = {pid: (GpuProcess(gpu="GPU-0", gpu_index=0, type="C"),) for pid in pids}
        now = next(self._now)
        found = self._reader.read(uses, now)
        return {each.pid: each for each in (*found, *self._reader.relatives(found, now))}

    def until(self, wanted: Callable[[Rows], bool], pids: Iterable[int]) -> Rows:
        """Read until the processes are as wanted: a loaded machine may be late for a healthy one."""
        end = time.monotonic() + WITHIN_S
        held = tuple(pids)
        while not wanted(rows := self.read(held)):
            if time.monotonic() > end:
                pytest.fail(f"did not come: {rows}")
        return rows


@pytest.fixture
def proc() -> BlockingProc:
    return BlockingProc()


def commands(rows: Rows, *pids: int) -> list[str]:
    return [rows[pid].command for pid in pids]


def test_one_blocked_process_does_not_hide_the_command_lines_of_the_others(proc: BlockingProc) -> None:
    for pid in (7, 8, 9):
        proc.add(pid)
    readings = Readings(proc)
    with proc.blocked([8]):
        rows = readings.until(lambda rows: commands(rows, 7, 9) == ["python train.py"] * 2, (7, 8, 9))

    assert rows[8].command == "[python]"
    assert rows[8].missing["command"] is Missing.BLOCKED
    assert (rows[8].presence, rows[8].user, rows[8].state) == (Presence.ALIVE, "ann", "S")
    assert "command" not in rows[7].missing


def test_a_blocked_process_does_not_get_one_more_hanging_reader_with_each_reading(proc: BlockingProc) -> None:
    proc.add(8)
    proc.tell(8)
    readings = Readings(proc)
    with proc.blocked([8]):
        for _ in range(20):
            readings.read([8])

        assert proc.hanging == 1


def test_a_process_that_blocked_for_a_while_does_not_stay_without_its_command_line(proc: BlockingProc) -> None:
    proc.add(8)
    readings = Readings(proc)
    with proc.blocked([8]):
        readings.read([8])
    rows = readings.until(lambda rows: rows[8].command == "python train.py", [8])

    assert "command" not in rows[8].missing


def test_a_process_that_blocks_later_does_not_lose_its_known_command_line_and_owner(proc: BlockingProc) -> None:
    proc.add(8)
    proc.tell(8, environ=b"RANK=3\0WORLD_SIZE=8\0")
    readings = Readings(proc)
    readings.until(lambda rows: rows[8].command == "python train.py" and rows[8].owner.rank == 3, [8])
    with proc.blocked([8]):
        rows = readings.until(lambda rows: "command" in rows[8].missing, [8])

        assert (rows[8].command, rows[8].owner.rank) == ("python train.py", 3)


def test_a_blocked_process_that_runs_another_program_does_not_keep_the_old_command_line(proc: BlockingProc) -> None:
    proc.add(8)
    readings = Readings(proc)
    readings.until(lambda rows: rows[8].command == "python train.py", [8])
    with proc.blocked([8]):
        proc.add(8, name=b"other")
        rows = readings.read([8])

        assert rows[8].command == "[other]"


def test_the_next_process_with_a_blocked_pid_is_not_called_blocked(proc: BlockingProc) -> None:
    proc.add(8, start=5000)
    readings = Readings(proc)
    with proc.blocked([8]):
        readings.read([8])
        proc.add(8, start=6000, command=b"sleep\x0060\0")
        proc._gates["8"] = threading.Event()
        proc._gates["8"].set()
        proc.open_files(8, "/dev/nvidia0")
        rows = readings.until(lambda rows: rows[8].command == "sleep 60", [8])

        assert proc.hanging == 1
    assert "command" not in rows[8].missing


@pytest.mark.parametrize(("blocked", "users", "most"), [(50, 50, 64), (100, 100, 64), (10, 1, 16), (50, 1, 16)])
def test_many_blocked_processes_do_not_hide_the_others_or_take_threads_without_bound(
    proc: BlockingProc, blocked: int, users: int, most: int
) -> None:
    pids = range(1000, 1000 + blocked)
    for pid in (7, 9000, *pids):
        proc.add(pid, uid=2000 + pid % users)
    readings, before = Readings(proc), threading.active_count()
    readings.until(lambda rows: commands(rows, 7, 9000) == ["python train.py"] * 2, (7, 9000))
    with proc.blocked(pids):
        rows = readings.read((7, *pids, 9000))
        rows = readings.read((7, *pids, 9000))

        assert threading.active_count() - before <= 66
    assert commands(rows, 7, 9000) == ["python train.py"] * 2
    reasons = [rows[pid].missing.get("command") for pid in pids]
    assert (reasons.count(Missing.BLOCKED), reasons.count(Missing.NOT_YET)) == (
        min(blocked, most),
        max(0, blocked - most),
    )
    assert {rows[pid].command for pid in pids} == {"[python]"}


def test_a_process_that_is_not_read_because_so_many_block_is_not_called_blocked(proc: BlockingProc) -> None:
    pids = range(1000, 1070)
    for pid in (*pids, 9000):
        proc.add(pid)
    readings = Readings(proc)
    with proc.blocked(pids):
        for _ in range(2):
            rows = readings.read((*pids, 9000))

        assert rows[9000].missing["command"] is Missing.NOT_YET
    readings.until(lambda rows: rows[9000].command == "python train.py", (*pids, 9000))


def test_the_blocked_processes_of_one_user_hide_the_command_lines_of_another_user(proc: BlockingProc) -> None:
    pids = range(1000, 1070)
    for pid in pids:
        proc.add(pid, uid=1001)
    proc.add(9000)
    readings = Readings(proc)
    with proc.blocked(pids):
        rows = readings.until(lambda rows: rows[9000].command == "python train.py", (*pids, 9000))

    assert rows[1069].missing["command"] is Missing.NOT_YET


@pytest.mark.parametrize("relative", [6, 8])
def test_a_blocked_parent_or_child_does_not_hide_a_gpu_process(proc: BlockingProc, relative: int) -> None:
    proc.add(6)
    proc.add(7, parent=6)
    proc.add(8, parent=7)
    proc.add_children(7, 8)
    readings = Readings(proc)
    with proc.blocked([relative]):
        rows = readings.until(lambda rows: commands(rows, 7) == ["python train.py"], [7])

    assert rows[relative].command == "[python]"
    assert rows[relative].missing["command"] is Missing.BLOCKED


# --- a real one ----------------------------------------------------------------------------------------------------
@pytest.fixture
def blocking(tmp_path: Path) -> Iterator[int]:
    """Return the pid of a real process that blocks its readers."""
    with blocking_or_skip(tmp_path) as pid:
        yield pid


def test_a_real_process_that_blocks_its_readers_does_not_hide_another_one(blocking: int) -> None:
    own = os.getpid()
    rows = Readings(RealProc()).until(lambda rows: "command" not in rows[own].missing, (blocking, own))

    assert rows[blocking].missing["command"] is Missing.BLOCKED
    assert rows[blocking].command.startswith("[python")
    assert rows[blocking].start_ticks
    assert not rows[own].command.startswith("[")


def test_an_inspection_of_a_real_process_that_blocks_its_readers_does_not_hang(blocking: int) -> None:
    inspector = Inspector(
        PatientProc(RealProc(), PATIENCE_S), resolve_user, costly=CostlyReader(patience_s=PATIENCE_S).read
    )
    found = inspector.inspect(Inspect(id="1", pid=blocking))

    assert (found.problem, found.thread_count) == ("", 2)
    assert found.missing["command"] is found.missing["environment"] is found.missing["shares"] is Missing.BLOCKED
    assert Missing.BLOCKED.text in "\n".join(lines(found))


def test_a_real_process_that_blocks_its_readers_can_be_signalled(blocking: int, tmp_path_factory: Any) -> None:
    stat = parse_stat(RealProc().read(f"{blocking}/stat"))
    assert stat is not None
    outcome = control(tmp_path_factory.mktemp("audit")).execute(signal_to(Target(blocking, stat.start_ticks)))

    assert [result.status for result in outcome.results] == [Status.DONE]
