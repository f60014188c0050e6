"""Nice values, I/O classes and CPUs of real processes, all of them children of these tests."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from children import Mute, child, control, only
from fake_proc import FakeProc
from msgspec.structs import replace

from gputop.core.protocol.command import Change, IoClass, Renice, SetAffinity, SetIoClass, Target
from gputop.core.protocol.outcome import Status
from gputop.machine.control.kernel import Kernel

T = TypeVar("T")


def of_threads(pid: int, read: Callable[[int], T]) -> set[T]:
    return {read(int(tid)) for tid in os.listdir(f"/proc/{pid}/task")}


def test_renice_sets_all_threads_and_says_what_was_and_what_became(tmp_path: Path) -> None:
    with child() as held:
        was = os.getpriority(os.PRIO_PROCESS, held.pid)
        result = only(control(tmp_path).execute(Renice(id="a", nice=15, targets=(held.target,))))

        assert of_threads(held.pid, lambda tid: os.getpriority(os.PRIO_PROCESS, tid)) == {15}
    assert (result.status, result.before, result.after) == (Status.DONE, str(was), "15")
    assert result.detail == "all 2 threads"


def test_a_thread_that_ends_meanwhile_is_left_out_and_one_that_is_born_is_not(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711)
    proc.add_threads(4711, {4711: 0, 4712: 0})

    class Lively(Mute):
        def set_nice(self, tid: int, nice: int) -> None:
            if tid == 4712:
                proc.add_threads(4711, {4711: 0, 4713: 0})
                raise ProcessLookupError
            super().set_nice(tid, nice)

    kernel = Lively()
    result = only(control(tmp_path, proc, kernel).execute(Renice(id="a", nice=5, targets=(Target(4711, 5000),))))

    assert result.status is Status.DONE
    assert kernel.sent == [("nice", 4711, 5), ("nice", 4713, 5)]


def test_a_pid_that_changes_hands_during_the_call_is_a_failure_that_says_so(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711, start=5000)
    proc.add_threads(4711, {4711: 0})

    class Overtaken(Mute):
        def set_nice(self, tid: int, nice: int) -> None:
            proc.add(4711, start=6000)
            super().set_nice(tid, nice)

    result = only(control(tmp_path, proc, Overtaken()).execute(Renice(id="a", nice=5, targets=(Target(4711, 5000),))))

    assert result.status is Status.FAILED
    assert "the new process may have been changed" in result.detail
    assert result.remedy == "To see them: cat /proc/4711/status"


def test_a_thread_number_that_changes_hands_during_the_call_is_a_failure_that_says_so(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711)
    proc.add_threads(4711, {4711: 0, 4712: 0, 4713: 0})

    class Overtaken(Mute):
        def set_nice(self, tid: int, nice: int) -> None:
            if tid == 4712:
                proc.add_threads(4711, {4711: 0})  # 4713 only ended
                proc.add(4712, start=6000)
            super().set_nice(tid, nice)

    result = only(control(tmp_path, proc, Overtaken()).execute(Renice(id="a", nice=5, targets=(Target(4711, 5000),))))

    assert result.status is Status.FAILED
    assert result.detail.endswith("these threads may have been changed: 4712")
    assert result.remedy == "To see them: cat /proc/4712/status"


def test_a_process_that_ends_during_the_call_is_gone(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711)
    proc.add_threads(4711, {4711: 0})

    class Ending(Mute):
        def set_nice(self, tid: int, nice: int) -> None:
            super().set_nice(tid, nice)
            proc.remove(4711)

    result = only(control(tmp_path, proc, Ending()).execute(Renice(id="a", nice=5, targets=(Target(4711, 5000),))))

    assert (result.status, result.detail) == (Status.GONE, "it has exited")


def test_renice_by_a_step_stops_at_the_last_value(tmp_path: Path) -> None:
    door = control(tmp_path)
    with child() as held:
        door.execute(Renice(id="a", nice=18, targets=(held.target,)))
        step = Renice(id="b", nice=1, is_relative=True, targets=(held.target,))
        results = [only(door.execute(step)) for _ in range(2)]

    assert [(result.before, result.after) for result in results] == [("18", "19"), ("19", "19")]


def test_renice_leaves_a_reused_pid_alone(tmp_path: Path) -> None:
    with child() as held:
        was = os.getpriority(os.PRIO_PROCESS, held.pid)
        result = only(control(tmp_path).execute(Renice(id="a", nice=15, targets=(Target(held.pid, 1),))))

        assert os.getpriority(os.PRIO_PROCESS, held.pid) == was
    assert result.status is Status.GONE


@pytest.mark.parametrize(
    "change",
    [
        Renice(id="a", nice=20, targets=()),
        Renice(id="a", nice=-21, targets=()),
        SetIoClass(id="a", io_class=IoClass.BEST_EFFORT, level=8, targets=()),
        SetAffinity(id="a", cpus=(), targets=()),
        SetAffinity(id="a", cpus=(-1,), targets=()),
        SetAffinity(id="a", cpus=(100_000,), targets=()),
    ],
)
def test_values_that_do_not_exist_are_refused(tmp_path: Path, change: Change) -> None:
    with child() as held:
        result = only(control(tmp_path).execute(replace(change, targets=(held.target,))))

    assert result.status is Status.REFUSED
    assert result.detail


def test_the_io_class_is_set_and_read_back(tmp_path: Path) -> None:
    door, kernel = control(tmp_path), Kernel()
    with child() as held:
        best = SetIoClass(id="a", io_class=IoClass.BEST_EFFORT, level=6, targets=(held.target,))
        idle = SetIoClass(id="b", io_class=IoClass.IDLE, targets=(held.target,))
        first, second = only(door.execute(best)), only(door.execute(idle))
        if first.status is not Status.DONE:
            pytest.skip(f"no I/O classes here: {first.detail}")

        assert of_threads(held.pid, kernel.io_priority) == {3 << 13}
    assert first.after == "best-effort 6"
    assert (second.before, second.after) == ("best-effort 6", "idle")


def test_the_cpus_are_set_for_all_threads(tmp_path: Path) -> None:
    usable = sorted(os.sched_getaffinity(0))
    with child() as held:
        result = only(control(tmp_path).execute(SetAffinity(id="a", cpus=(usable[0],), targets=(held.target,))))

        assert of_threads(held.pid, lambda tid: tuple(os.sched_getaffinity(tid))) == {(usable[0],)}
    assert (result.status, result.after) == (Status.DONE, str(usable[0]))


def test_cpus_that_are_not_there_fail_in_words(tmp_path: Path) -> None:
    with child() as held:
        result = only(control(tmp_path).execute(SetAffinity(id="a", cpus=(8191,), targets=(held.target,))))

    assert result.status is Status.FAILED
    assert result.detail.endswith("none of these CPUs exists, or its cpuset allows none")
