"""Requests against processes that come and go, and whose pids are reused; see `pid_reuse.py` and `tick_reuse.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gputop.machine.control.kernel import Kernel

ROOT = Path(__file__).parents[3]
PATIENCE_S = 120  # only ever waited for when a test fails
PROGRAMS = ROOT / "tests/support"
STRESS = "GPUTOP_STRESS" in os.environ
OWN_PIDS = ("unshare", "--pid", "--fork", "--mount-proc")


def has_own_pids() -> bool:
    """Say whether processes can be started in a PID namespace of their own, where pids are soon used again."""
    return works(*OWN_PIDS, "true")


def may_choose_pids() -> bool:
    """Say whether the next pid of such a namespace can be chosen."""
    return works(*OWN_PIDS, "sh", "-c", "echo 100 > /proc/sys/kernel/ns_last_pid")


def has_inodes() -> bool:
    """Say whether the kernel gives each process an inode (Linux 6.9)."""
    kernel = Kernel()
    try:
        descriptor = kernel.open(os.getpid())
    except OSError:
        return False
    with os.fdopen(descriptor):
        return kernel.inode(descriptor) is not None


def works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def churned(place: Path, kind: str) -> dict[str, Any]:
    return ran(*(OWN_PIDS if has_own_pids() else ()), sys.executable, PROGRAMS / "pid_reuse.py", place / "state", kind)


def swapped(place: Path, kind: str, reuses: int) -> dict[str, Any]:
    if not may_choose_pids():
        pytest.skip("not permitted to choose pids in a PID namespace (ns_last_pid)")
    return ran(*OWN_PIDS, sys.executable, PROGRAMS / "tick_reuse.py", place / "state", kind, str(reuses))


def ran(*command: str | Path) -> dict[str, Any]:
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=PATIENCE_S * (30 if STRESS else 1),
    )
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout))


def test_10_000_requests_among_processes_that_come_and_go_hit_none_that_was_not_meant(tmp_path: Path) -> None:
    came = churned(tmp_path, "careful")

    assert came["wrongly"] == 0
    assert came["hit"] > 0  # on a busy machine few live long enough
    assert sum(came["ends"].values()) == 10_000
    assert came["ends"]["gone"] > 1000
    if has_own_pids():
        assert came["reused"] > 0


def test_such_requests_hit_the_wrong_ones_where_start_times_are_not_compared(tmp_path: Path) -> None:
    if not has_own_pids():
        pytest.skip("pids are not used again soon enough without a PID namespace of our own")

    assert churned(tmp_path, "careless")["wrongly"] > 0


def test_a_signal_hits_a_process_that_took_the_pid_of_the_listed_one_within_a_clock_tick(tmp_path: Path) -> None:
    reuses = 10_000 if STRESS else 150
    came = swapped(tmp_path, "certain", reuses)

    assert came["wrongly"] == came["other_inode"] == 0
    assert came["reused"] >= reuses
    assert came["same_tick"] >= reuses // 10
    assert came["hit"] > 0
    assert came["ends"]["refused"] > 0


def test_start_ticks_alone_let_such_signals_through(tmp_path: Path) -> None:
    came = swapped(tmp_path, "start-tick", 100)

    assert came["wrongly"] > 0
    if has_inodes():
        assert came["other_inode"] == came["wrongly"]
