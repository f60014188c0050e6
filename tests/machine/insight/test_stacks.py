"""Python stacks by py-spy, on real processes: plain, stopped, in C code, and eight of which one differs."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_proc import FakeProc, stat_line

from gputop.core.insight.explanation import ClaimKind, Explanation, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.stacks import Stacks
from gputop.core.insight.text import sections
from gputop.machine.insight import py_spy
from gputop.machine.insight.py_spy import Refusal, Stack, stack_of
from gputop.machine.insight.stacks import Dump, User, ask, report_of
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import parse_stat

SCRIPT = """
import sys, threading, time
def sleep():
    print("ready", flush=True)
    time.sleep(600)
def lock():
    held = threading.Lock()
    held.acquire()
    print("ready", flush=True)
    held.acquire()
def main():
    secret = "hunter2"
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    {"sleep": sleep, "lock": lock}[sys.argv[1]]()
main()
"""
NO_PY_SPY = "py-spy is not installed: pip install py-spy"
NOT_TRACEABLE = "the kernel does not let py-spy read these processes (ptrace)"


@contextmanager
def processes(path: Path, *ways: str) -> Iterator[list[Member]]:
    """Run Python processes that wait in these ways; yield them as ranks."""
    script = path / "train.py"
    script.write_text(SCRIPT)
    children = [subprocess.Popen([sys.executable, str(script), way], stdout=subprocess.PIPE) for way in ways]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
        yield [member(child.pid, rank) for rank, child in enumerate(children)]
    finally:
        for child in children:
            child.kill()
            child.communicate()


def member(pid: int, rank: int) -> Member:
    stat = parse_stat(RealProc().read(f"{pid}/stat"))
    assert stat is not None
    return Member(pid=pid, start_ticks=stat.start_ticks, rank=rank)


def stacks(members: Sequence[Member], *, native: bool = False) -> tuple[SourceReport, Stacks]:
    """Return the answer of the real source; skip without py-spy or its rights."""
    if py_spy.find(os.environ) is None:
        pytest.skip(NO_PY_SPY)
    report = ask(members, native)
    assert isinstance(report.details, Stacks)
    if not report.details.groups and "root" in report.note:
        pytest.skip(NOT_TRACEABLE)
    return report, report.details


def test_the_one_process_that_differs_is_lost_among_eight(tmp_path: Path) -> None:
    with processes(tmp_path, *["lock"] * 5, "sleep", *["lock"] * 2) as members:
        report, found = stacks(members)

    odd, most = found.groups
    assert report.state is SourceState.ANSWERED
    assert (odd.pids, odd.is_odd) == ((members[5].pid,), True)
    assert (len(most.pids), most.is_odd, most.thread) == (7, False, "")
    assert [(claim.kind, claim.place) for claim in report.claims] == [
        (ClaimKind.AT, "sleep at train.py:5"), (ClaimKind.AT, "lock at train.py:10"),
    ]  # fmt: skip
    assert [frame.function for frame in odd.frames] == ["sleep", "main", "<module>"]
    assert "hunter2" not in repr(report)


def test_a_stopped_process_has_no_stack_or_is_continued(tmp_path: Path) -> None:
    with processes(tmp_path, "sleep") as members:
        os.kill(members[0].pid, signal.SIGSTOP)
        os.waitid(os.P_PID, members[0].pid, os.WSTOPPED)
        _, found = stacks(members)
        _, native = stacks(members, native=True)
        stat = parse_stat(RealProc().read(f"{members[0].pid}/stat"))

    assert [frame.function for frame in found.groups[0].frames] == ["sleep", "main", "<module>"]
    assert native.groups == ()
    assert "stopped" in native.unread[0].reason
    assert stat is not None
    assert stat.state == "T"


def test_native_frames_are_missing_or_differ_between_equal_processes(tmp_path: Path) -> None:
    with processes(tmp_path, "lock", "lock") as members:
        report, found = stacks(members, native=True)

    assert [group.pids for group in found.groups] == [tuple(one.pid for one in members)]
    assert any(frame.is_native for frame in found.groups[0].frames)
    assert report.claims[0].place == "lock at train.py:10"


def test_a_program_without_python_has_no_reason() -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    with subprocess.Popen([sleep, "600"]) as child:
        report, found = stacks([member(child.pid, 0)])
        child.kill()

    assert report.state is SourceState.UNAVAILABLE
    assert "no Python, or" in found.unread[0].reason


def test_without_py_spy_the_command_that_installs_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    report = ask([Member(pid=os.getpid(), start_ticks=1)], False)

    command = "pip install py-spy" if os.geteuid() else "sudo pip install py-spy"
    assert (report.state, report.remedy) == (SourceState.UNAVAILABLE, command)
    assert ("root" in report.note) == (os.geteuid() == 0)


# --- with an invented py-spy ----------------------------------------------------------------------------------------
HELD = Stack("", ())
DENIED = "Error: Permission Denied: Try running again with elevated permissions"


def asked(dump: Dump, *, state: str = "S", user: User = User(1001), start: int = 100) -> tuple[SourceReport, Stacks]:  # noqa: B008 - frozen
    proc = FakeProc({
        "10/stat": stat_line(10, state=state, start=start), "10/status": b"Name:\tx\nUid:\t1001\t1001\n",
    })  # fmt: skip
    report = report_of([Member(pid=10, start_ticks=100, user="ann")], proc, dump, user, is_native=False)
    assert isinstance(report.details, Stacks)
    return report, report.details


def refusing(text: str, calls: list[bool]) -> Callable[[int, bool, bool], Stack | Refusal]:
    def dump(_: int, __: bool, is_blocking: bool) -> Stack | Refusal:  # noqa: FBT001 - a Dump
        calls.append(is_blocking)
        return Refusal(text)

    return dump


def test_a_torn_stack_is_given_up_after_one_try() -> None:
    calls: list[bool] = []
    asked(refusing("Error: Failed to copy", calls))

    assert calls == [False, False, False, True]


@pytest.mark.parametrize("state", ["T", "t"])
def test_a_stopped_process_is_paused_by_py_spy_which_never_returns(state: str) -> None:
    calls: list[bool] = []
    asked(refusing("Error: Failed to copy", calls), state=state)

    assert calls == [False] * 3


@pytest.mark.parametrize(("state", "start"), [("D", 100), ("Z", 100), ("S", 999)])
def test_py_spy_is_started_for_a_process_that_is_blocked_has_exited_or_took_the_pid(state: str, start: int) -> None:
    calls: list[bool] = []
    _, found = asked(refusing("", calls), state=state, start=start)

    assert calls == []
    assert len(found.unread) == 1


@pytest.mark.parametrize(
    ("user", "reason", "remedy"),
    [
        (User(1002), "owned by ann", "sudo gputop explain 10"),
        (User(1001, 1), "kernel.yama.ptrace_scope is 1: only root may read stacks", "sudo gputop explain 10"),
        (User(0), "the kernel refuses root: the container has no capability SYS_PTRACE", ""),
    ],
)
def test_a_refusal_of_the_kernel_names_no_command_that_helps(user: User, reason: str, remedy: str) -> None:
    report, found = asked(refusing(DENIED, []), user=user)

    assert found.unread[0].reason == reason
    assert report.note == f"pid 10: {reason}"
    assert found.unread[0].remedy.startswith(remedy)
    assert report.state is SourceState.UNAVAILABLE


def test_ranks_that_cannot_be_read_are_listed_by_pid_and_as_if_they_were_one() -> None:
    stat = stat_line(10, start=100)
    proc = FakeProc({f"{pid}/stat": stat for pid in (10, 11, 12)} | {"10/status": b"Uid:\t1001\t1001\n"})
    members = [Member(pid=pid, start_ticks=100, rank=pid - 10) for pid in (10, 11, 12)]
    report = report_of(members, proc, refusing("Error: no python version", []), User(1001), is_native=False)
    (section,) = sections(Explanation(id="1", members=tuple(members), sources=(report,)))[1:]

    assert report.note == "ranks 0-2: no Python, or a Python that py-spy does not know"
    assert [row.text for row in section.rows] == [report.note]


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{", b"null", b'[{"frames":1}]', b"[" * 100_000, b'[{"frames":[{"name":1}]}]', b"\xff"]
)
def test_a_broken_answer_of_py_spy_ends_gputop(raw: bytes) -> None:
    assert isinstance(stack_of(raw, 1), Refusal)


def test_names_of_functions_steer_the_terminal_or_lines_are_impossible() -> None:
    frame = b'{"name":"\\u001b[2J","filename":"/a/\\u202eb.py","line":-7}'
    found = stack_of(b'[{"thread_name":"x\\u0007","os_thread_id":5,"frames":[' + frame + b"]}]", 1)

    assert isinstance(found, Stack)
    assert found.thread == "x␇"
    assert (found.frames[0].function, found.frames[0].file, found.frames[0].line) == ("␛[2J", "/a/\ufffdb.py", 0)
