"""A /proc of another PID namespace: its pids are others' here, and are refused."""

import json
import os
import subprocess
import sys

import pytest
from fake_proc import ESRCH, FakeProc

from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.visibility import is_ours

OWN_PIDS = ("unshare", "--pid", "--fork")
INSIDE = """
import json, os, subprocess, sys
from gputop.core.protocol.command import Renice, SendSignal, Target
from gputop.machine.control.control import control_of_this_machine
from gputop.machine.proc.stat import parse_stat
with subprocess.Popen(["sleep", "600"]) as bait:  # its number belongs to somebody else in the /proc that is seen
    stat = parse_stat(open(f"/proc/{bait.pid}/stat", "rb").read()) if os.path.exists(f"/proc/{bait.pid}") else None
    outside = int(open(f"/proc/self/fdinfo/{os.pidfd_open(bait.pid)}").read().split("Pid:")[1].split()[0])
    seen = parse_stat(open(f"/proc/{outside}/stat", "rb").read())
    whom = (Target(outside, seen.start_ticks), Target(bait.pid, stat.start_ticks if stat else seen.start_ticks))
    door = control_of_this_machine(frozenset())
    changes = SendSignal(id="a", signal="SIGKILL", targets=whom), Renice(id="b", nice=5, targets=whom)
    results = [each for change in changes for each in door.execute(change).results]
    lives = bait.poll() is None
    bait.kill()
print(json.dumps({"lives": lives, "ends": [(each.status.value, each.detail) for each in results]}))
"""


def unshares() -> bool:
    try:
        return subprocess.run([*OWN_PIDS, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not unshares(), reason="needs root, for a PID namespace")
def test_with_the_proc_of_another_namespace_everything_is_refused_with_the_reason(tmp_path: object) -> None:
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [*OWN_PIDS, sys.executable, "-c", INSIDE], capture_output=True, check=True, text=True, env=environment
    )
    came = json.loads(done.stdout)

    assert came["lives"]
    assert {status for status, _ in came["ends"]} == {"refused"}
    assert all(detail.startswith("/proc belongs to another PID namespace") for _, detail in came["ends"])


def test_our_own_proc_is_ours() -> None:
    assert is_ours(RealProc())


@pytest.mark.parametrize(
    ("line", "expected"), [("NSpid:\t{own}\n", True), ("NSpid:\t{own}\t1\n", False), ("Threads:\t1\n", True)]
)
def test_our_pid_in_the_namespace_of_proc_must_be_the_only_one(line: str, expected: bool) -> None:  # noqa: FBT001
    status = f"Name:\tgputop\n{line.format(own=os.getpid())}".encode()
    proc = FakeProc({"self/status": status})
    proc.links["self"] = str(os.getpid())

    assert is_ours(proc) is expected


def test_a_proc_that_does_not_have_us_is_not_ours() -> None:
    proc = FakeProc({"self/status": ESRCH})

    assert not is_ours(proc)
