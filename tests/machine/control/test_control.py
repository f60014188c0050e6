"""The one door: on real processes, all of them children of these tests."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from children import Child, Mute, Told, child, control, only, signal_to, start_ticks
from fake_proc import FakeProc, stat_line
from msgspec import json
from msgspec.structs import replace

from gputop.core.model.sample import Presence
from gputop.core.protocol.command import Change, Renice, SendSignal, Target
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.machine.control.kernel import Kernel
from gputop.machine.processes.reader import resolve_user

AS_NOBODY = """
import ctypes, os, pwd, sys, unicodedata  # all of it while Python's own directory can be read
import msgspec
from gputop.core.protocol.command import SendSignal, Renice, Target
from gputop.machine.control.control import control_of_this_machine
change = msgspec.json.decode(sys.argv[1], type=SendSignal | Renice)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.stdout.buffer.write(msgspec.json.encode(control_of_this_machine(frozenset()).execute(change)))
"""
WAITS_FOR_ITS_CHILD = """
import os, signal
signal.signal(signal.SIGUSR1, lambda *_: print("SIGUSR1", flush=True))
print("ready", flush=True)
opens = [(os.POSIX_SPAWN_OPEN, 0, {pipe!r}, os.O_RDONLY, 0)]  # before it is another program: vfork waits for that
os.waitpid(os.posix_spawn("/bin/true", ["true"], dict(os.environ), file_actions=opens), 0)
"""
PATIENCE_S = 20  # only ever waited for where the kernel is another one
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")


# --- identity ----------------------------------------------------------------------------------------------------
def test_a_signal_reaches_the_process_that_was_shown(tmp_path: Path) -> None:
    kernel = Told()
    with child("SIGUSR1") as held:
        outcome = control(tmp_path, kernel=kernel).execute(signal_to(held.target, name="SIGUSR1"))

        assert held.line() == "SIGUSR1"
    assert (outcome.id, outcome.what, outcome.note) == ("a", "SIGUSR1", "")
    assert only(outcome) == Result(pid=held.pid, start_ticks=held.target.start_ticks, status=Status.DONE)
    assert [how for how, _, _ in kernel.sent] == ["send"]


def test_a_pid_with_another_start_time_is_left_alone(tmp_path: Path) -> None:
    kernel = Told()
    with child() as held:
        stale = Target(held.pid, start_ticks(held.pid) - 1)
        result = only(control(tmp_path, kernel=kernel).execute(signal_to(stale)))

        assert held.process.poll() is None
    assert kernel.sent == []
    assert result.status is Status.GONE
    assert result.detail == "it has exited; another process has its pid now and was not touched"


def test_a_pid_that_changes_hands_while_its_pidfd_is_opened_is_left_alone(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711, start=5000)

    class Slow(Mute):
        def open(self, pid: int) -> int:
            proc.add(4711, start=6000)
            return super().open(pid)

    kernel = Slow()
    result = only(control(tmp_path, proc, kernel).execute(signal_to(Target(4711, 5000))))

    assert kernel.sent == []
    assert result.status is Status.GONE


def test_a_second_signal_hits_another_process_with_the_pid_and_start_time_of_the_first(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711, start=5000)
    kernel = Numbered()
    door = control(tmp_path, proc, kernel)
    first, again = (only(door.execute(signal_to(Target(4711, 5000)))) for _ in range(2))
    kernel.number += 1
    last = only(door.execute(signal_to(Target(4711, 5000))))

    assert [first.status, again.status, last.status] == [Status.DONE, Status.DONE, Status.GONE]
    assert last.detail == "it has exited; another process has its pid now and was not touched"
    assert len(kernel.sent) == 2


class Numbered(Mute):
    number = 7

    def inode(self, descriptor: int) -> int | None:  # noqa: ARG002 - the kernel's signature
        return self.number


def test_two_processes_share_an_inode_or_one_has_two() -> None:
    kernel = Kernel()
    with child() as one, child() as other:
        inodes = [inode_of(kernel, pid) for pid in (one.pid, other.pid, one.pid)]
    if None in inodes:
        pytest.skip("before Linux 6.9 processes have no inodes")

    assert inodes[0] == inodes[2] != inodes[1]


def inode_of(kernel: Kernel, pid: int) -> int | None:
    with os.fdopen(kernel.open(pid)) as descriptor:
        return kernel.inode(descriptor.fileno())


def test_a_process_that_has_ended_is_gone(tmp_path: Path) -> None:
    with child() as held:
        held.process.kill()
        held.process.wait()
        result = only(control(tmp_path).execute(signal_to(held.target)))

    assert (result.status, result.detail) == (Status.GONE, "it has exited")


def test_a_process_that_ends_after_it_was_taken_hold_of_is_gone(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711)
    result = only(control(tmp_path, proc, Gone()).execute(signal_to(Target(4711, 5000))))

    assert (result.status, result.detail) == (Status.GONE, "it exited before the change")


class Gone(Mute):
    def send(self, descriptor: int, number: int) -> None:  # noqa: ARG002 - the kernel's signature
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    door = control(tmp_path)
    with child("SIGUSR1") as held:
        before = len(os.listdir("/proc/self/fd"))
        door.execute(signal_to(held.target, held.target, Target(held.pid, 1), name="SIGUSR1"))

        assert len(os.listdir("/proc/self/fd")) == before


# --- refusals ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("presence", [Presence.GONE, Presence.HIDDEN, Presence.REUSED])
def test_a_row_that_is_not_a_process_of_ours_is_refused_with_its_reason(tmp_path: Path, presence: Presence) -> None:
    kernel = Told()
    result = only(control(tmp_path, kernel=kernel).execute(signal_to(Target(os.getpid(), None, presence))))

    assert kernel.sent == []
    assert (result.status, result.detail) == (Status.REFUSED, presence.text)


@pytest.mark.parametrize(
    ("pid", "said"), [(1, "it is init"), (0, "not a pid"), (-1, "not a pid"), (-4711, "not a pid")]
)
def test_init_and_groups_of_processes_are_refused(tmp_path: Path, pid: int, said: str) -> None:
    kernel = Mute()
    proc = FakeProc({f"{pid}/stat": stat_line(pid, start=5000)})
    result = only(control(tmp_path, proc, kernel).execute(signal_to(Target(pid, 5000))))

    assert kernel.sent == []
    assert result.status is Status.REFUSED
    assert said in result.detail


def test_gputop_never_signals_itself(tmp_path: Path) -> None:
    kernel = Told()
    own = Target(os.getpid(), start_ticks(os.getpid()))
    result = only(control(tmp_path, None, kernel, os.getpid()).execute(signal_to(own, name="SIGURG")))

    assert kernel.sent == []
    assert (result.status, result.detail) == (Status.REFUSED, "it is gputop itself")


def test_a_process_without_a_start_time_is_refused(tmp_path: Path) -> None:
    with child() as held:
        result = only(control(tmp_path).execute(signal_to(Target(held.pid, None))))

    assert result.status is Status.REFUSED
    assert "its start time is not certain yet" in result.detail


def test_a_thread_of_the_kernel_is_refused(tmp_path: Path) -> None:
    line = stat_line(99, b"kworker/0:1", state="I", parent=2).replace(b" 4194304 ", b" 69238880 ")
    kernel = Mute()
    result = only(control(tmp_path, FakeProc({"99/stat": line}), kernel).execute(signal_to(Target(99, 5000))))

    assert kernel.sent == []
    assert (result.status, result.detail) == (Status.REFUSED, "it is a kernel thread")


def test_the_kernels_own_thread_is_refused_where_it_can_be_seen(tmp_path: Path) -> None:
    if not os.path.exists("/proc/2/comm") or Path("/proc/2/comm").read_text() != "kthreadd\n":
        pytest.skip("pid 2 is not the kernel's in this namespace")
    kernel = Mute()
    result = only(control(tmp_path, kernel=kernel).execute(signal_to(Target(2, start_ticks(2)))))

    assert kernel.sent == []
    assert result.status is Status.REFUSED


def test_a_real_zombie_is_refused_and_its_parent_named(tmp_path: Path) -> None:
    with child() as held:
        held.process.kill()
        os.waitid(os.P_PID, held.pid, os.WEXITED | os.WNOWAIT)
        result = only(control(tmp_path).execute(signal_to(held.target)))

    assert result.status is Status.REFUSED
    assert result.detail.startswith(f"it has exited; its parent {os.getpid()} (")
    assert result.detail.endswith(") has not collected it yet")
    assert result.remedy.startswith("It disappears when ")


def test_a_first_thread_that_ended_before_the_others_is_no_zombie(tmp_path: Path) -> None:
    proc = FakeProc({"99/stat": stat_line(99, state="Z", threads=3)})
    kernel = Mute()

    assert control(tmp_path, proc, kernel).execute(signal_to(Target(99, 5000))).all_worked


@pytest.mark.parametrize("name", ["SIGNONSENSE", "", "9", "SIGTERM\n"])
def test_a_signal_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    kernel = Told()
    with child() as held:
        result = only(control(tmp_path, kernel=kernel).execute(signal_to(held.target, name=name)))

    assert kernel.sent == []
    assert result.status is Status.REFUSED


# --- rights ------------------------------------------------------------------------------------------------------
@needs_root
@pytest.mark.parametrize("change", [signal_to(Target(0, 0)), Renice(id="a", nice=5, targets=(Target(0, 0),))])
def test_the_process_of_somebody_else_is_not_permitted_and_says_whom_to_ask(change: Change) -> None:
    with child() as held:
        asked = replace(change, targets=(held.target,))
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, json.encode(asked).decode()],
            capture_output=True, check=False, env=os.environ | {"HOME": "/nonexistent"},
        )  # fmt: skip
        assert done.stderr == b""
        outcome = json.decode(done.stdout, type=Outcome)

        assert held.process.poll() is None
    verb = "signal" if isinstance(change, SendSignal) else "renice"
    assert only(outcome).status is Status.NOT_PERMITTED
    assert only(outcome).detail == f"cannot {verb} a process of root: permission denied"
    assert only(outcome).remedy == "Run gputop with sudo, or ask root."
    assert "audit log" in outcome.note


@pytest.mark.parametrize(
    ("own_user", "remedy"),
    [
        ("ann", "Run gputop with sudo, or ask {owner}."),
        ("{owner}", "This needs root: run gputop with sudo."),
        (None, "Root lacks this permission here (container, user namespace): run gputop outside of it."),
    ],
)
def test_the_remedy_depends_on_who_asks(tmp_path: Path, own_user: str | None, remedy: str) -> None:
    owner = resolve_user(os.getuid()) or str(os.getuid())
    own_user = own_user and own_user.format(owner=owner)
    with child() as held:
        door = control(tmp_path, kernel=Told(send=errno.EPERM), own_user=own_user)
        result = only(door.execute(signal_to(held.target)))

    assert result.status is Status.NOT_PERMITTED
    assert result.remedy == remedy.format(owner=owner)


# --- sandboxes and old kernels -----------------------------------------------------------------------------------
def test_without_pidfds_the_start_time_is_compared_and_that_is_said(tmp_path: Path) -> None:
    kernel = Told(open=errno.ENOSYS)
    with child("SIGUSR1") as held:
        result = only(control(tmp_path, kernel=kernel).execute(signal_to(held.target, name="SIGUSR1")))

        assert held.line() == "SIGUSR1"
    assert kernel.sent == [("kill", held.pid, signal.SIGUSR1)]
    assert result.status is Status.DONE
    assert result.detail == "this kernel has no pidfds, so gputop compared the start time just before"


def test_without_pidfds_a_reused_pid_is_left_alone(tmp_path: Path) -> None:
    kernel = Told(open=errno.ENOSYS)
    with child() as held:
        result = only(control(tmp_path, kernel=kernel).execute(signal_to(Target(held.pid, 1))))

    assert kernel.sent == []
    assert result.status is Status.GONE


@pytest.mark.parametrize(
    "change", [signal_to(Target(4711, 5000)), Renice(id="a", nice=5, targets=(Target(4711, 5000),))]
)
def test_what_takes_no_pidfd_looks_at_the_process_again_just_before(tmp_path: Path, change: Change) -> None:
    class Reused(FakeProc):
        def read(self, path: str) -> bytes:
            if self.reads.count("4711/stat") == 2:  # it was taken hold of
                self.add(4711, start=6000)
            return super().read(path)

    proc, kernel = Reused(), Mute(open=errno.ENOSYS)
    proc.add(4711, start=5000)
    proc.add_threads(4711, {4711: 0})
    result = only(control(tmp_path, proc, kernel).execute(change))

    assert kernel.sent == []
    assert result.status is Status.GONE


def test_without_a_free_descriptor_nothing_is_sent(tmp_path: Path) -> None:
    kernel = Told(open=errno.EMFILE)
    with child() as held:
        result = only(control(tmp_path, kernel=kernel).execute(signal_to(held.target)))

    assert kernel.sent == []
    assert (result.status, result.detail) == (Status.FAILED, "no pidfd: Too many open files")


def test_a_sandbox_that_forbids_pidfds_is_not_gone_round(tmp_path: Path) -> None:
    kernel = Told(open=errno.EPERM)
    with child() as held:
        result = only(control(tmp_path, kernel=kernel).execute(signal_to(held.target)))

    assert kernel.sent == []
    assert (result.status, result.detail) == (Status.REFUSED, "the sandbox forbids pidfds")
    assert "pidfd_open" in result.remedy


# --- states and order --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("state", "name", "said"),
    [
        ("D", "SIGKILL", "in uninterruptible sleep: the signal takes effect when its kernel call returns"),
        ("T", "SIGTERM", "stopped: the signal takes effect after SIGCONT"),
        ("T", "SIGKILL", ""),
        ("T", "SIGCONT", ""),
        ("t", "SIGTERM", "traced: its debugger gets the signal first"),
        ("S", "SIGTERM", ""),
    ],
)
def test_it_is_said_when_a_signal_takes_effect_later(tmp_path: Path, state: str, name: str, said: str) -> None:
    proc = FakeProc()
    proc.add(4711, state=state)
    result = only(control(tmp_path, proc, Mute()).execute(signal_to(Target(4711, 5000), name=name)))

    assert (result.status, result.detail) == (Status.DONE, said)


def sleeps_uninterruptibly(held: Child) -> bool:
    end = time.monotonic() + PATIENCE_S
    while (state := held.state()) != "D" and time.monotonic() < end:
        assert held.process.poll() is None
    return state == "D"


def test_a_real_process_in_uninterruptible_sleep_gets_the_signal_later_and_that_is_said(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with child("SIGUSR1", program=WAITS_FOR_ITS_CHILD.format(pipe=str(pipe))) as held:
        if not sleeps_uninterruptibly(held):
            pytest.skip("the kernel waits in another way here")
        result = only(control(tmp_path).execute(signal_to(held.target, name="SIGUSR1")))
        pipe.write_text("")  # the child can go on, and so can its parent

        assert held.line() == "SIGUSR1"
    assert result.status is Status.DONE
    assert result.detail.startswith("in uninterruptible sleep: ")


def test_a_process_whose_memory_map_is_stuck_is_signalled_all_the_same(tmp_path: Path) -> None:
    go_on = threading.Event()

    class Stuck(FakeProc):
        def read(self, path: str) -> bytes:
            if path.endswith("/cmdline"):
                go_on.wait()
            return super().read(path)

    proc, kernel = Stuck(), Mute()
    proc.add(4711, name=b"train")
    result = only(control(tmp_path, proc, kernel).execute(signal_to(Target(4711, 5000), name="SIGKILL")))
    go_on.set()

    assert result.status is Status.DONE
    assert [number for _, _, number in kernel.sent] == [signal.SIGKILL]
    assert '"command":"[train]"' in (tmp_path / "state/audit.jsonl").read_text()


def test_targets_are_served_in_their_order_and_one_that_fails_stops_nothing(tmp_path: Path) -> None:
    kernel = Told(open=errno.ENOSYS)  # so that pids are noted
    with child("SIGUSR1") as launcher, child("SIGUSR1") as first, child("SIGUSR1") as second:
        targets = (launcher.target, Target(first.pid, 1), first.target, second.target)
        outcome = control(tmp_path, kernel=kernel).execute(signal_to(*targets, name="SIGUSR1"))

        assert [each.line() for each in (launcher, first, second)] == ["SIGUSR1"] * 3
    assert [pid for _, pid, _ in kernel.sent] == [launcher.pid, first.pid, second.pid]
    assert [result.status for result in outcome.results] == [Status.DONE, Status.GONE, Status.DONE, Status.DONE]
    assert outcome.summary == "SIGUSR1: 1 gone, 3 done"


def test_a_process_is_stopped_and_goes_on(tmp_path: Path) -> None:
    door = control(tmp_path)
    with child() as held:
        door.execute(signal_to(held.target, name="SIGSTOP"))
        os.waitid(os.P_PID, held.pid, os.WSTOPPED)
        stopped = held.state()
        door.execute(signal_to(held.target, name="SIGCONT"))
        os.waitid(os.P_PID, held.pid, os.WCONTINUED)

        assert stopped == "T"
        assert held.state() != "T"


def test_those_that_live_are_told_from_zombies_and_from_others_of_their_pid(tmp_path: Path) -> None:
    door = control(tmp_path)
    with child() as alive, child() as dead:
        dead.process.kill()
        os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)

        assert door.living((alive.target, dead.target, Target(alive.pid, 1))) == (alive.target,)
