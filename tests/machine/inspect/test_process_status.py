"""Who still runs, asked of several processes at once."""

import os

import pytest
from children import Mute, child
from fake_proc import EACCES, FakeProc

from gputop.core.model.sample import Presence
from gputop.core.protocol.command import ReadStatus, Target
from gputop.core.protocol.process_status import ProcessStatus
from gputop.machine.control.kernel import Kernel
from gputop.machine.inspect.process_status import ProcessStatusReader
from gputop.machine.proc.procfs import RealProc
from gputop.simulator import running
from gputop.simulator.readers import process_status_of_box


def seen(proc: FakeProc, target: Target) -> ProcessStatus:
    (found,) = ProcessStatusReader(proc, None).read(ReadStatus(id="1", targets=(target,))).statuses
    return found


def test_a_process_that_runs_is_seen_with_its_state_and_its_nice_value() -> None:
    proc = FakeProc()
    proc.add(7, state="D", nice=5)

    assert seen(proc, Target(7, 5000)) == ProcessStatus(pid=7, start_ticks=5000, is_running=True, state="D", nice=5)


def test_a_pid_that_is_free_or_somebody_elses_by_now_lives_no_more() -> None:
    proc = FakeProc()
    proc.add(7, start=9999)

    assert seen(proc, Target(7, 5000)).is_running is False
    assert seen(proc, Target(8, 5000)).is_running is False


def test_a_zombie_lives_no_more_unless_threads_of_it_do() -> None:
    proc = FakeProc()
    proc.add(7, state="Z")
    proc.add(8, state="Z", threads=3)

    assert (seen(proc, Target(7, 5000)).is_running, seen(proc, Target(8, 5000)).is_running) == (False, True)


@pytest.mark.parametrize("target", [Target(7, None), Target(7, 5000, Presence.HIDDEN)])
def test_of_a_process_that_cannot_be_told_from_others_nothing_is_said(target: Target) -> None:
    proc = FakeProc()
    proc.add(7)

    assert seen(proc, target).is_running is None


def test_of_a_process_that_proc_hides_nothing_is_said() -> None:
    assert seen(FakeProc({"7/stat": EACCES}), Target(7, 5000)).is_running is None


def test_nothing_is_read_that_could_hang() -> None:
    proc = FakeProc()
    proc.add(7)
    seen(proc, Target(7, 5000))

    assert proc.reads == ["7/stat"]


def test_real_processes_tell_their_io_class_and_cpus_in_the_words_of_a_change() -> None:
    with child() as held:
        (found,) = ProcessStatusReader(RealProc(), Kernel()).read(ReadStatus(id="1", targets=(held.target,))).statuses
        cpus = os.sched_getaffinity(held.pid)

    assert found.is_running
    assert found.io_class == "none"
    assert found.cpus is not None
    assert found.cpus.startswith(str(min(cpus)))


def test_a_kernel_that_does_not_tell_leaves_the_rest() -> None:
    class Silent(Mute):
        def io_priority(self, tid: int) -> int:  # noqa: ARG002 - the kernel's signature
            raise OSError

        def cpus(self, tid: int) -> tuple[int, ...]:  # noqa: ARG002 - the kernel's signature
            return (0, 1, 4)

    proc = FakeProc()
    proc.add(7)
    (found,) = ProcessStatusReader(proc, Silent()).read(ReadStatus(id="1", targets=(Target(7, 5000),))).statuses

    assert (found.is_running, found.io_class, found.cpus) == (True, None, "0-1,4")


def test_the_processes_of_a_simulated_box_are_its_own() -> None:
    (found,) = (
        process_status_of_box(running("training")).read(ReadStatus(id="1", targets=(Target(os.getpid(), 1),))).statuses
    )

    assert found.is_running is False
