"""10,000 requests against processes that come and go; see `pid_reuse.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE_S = 120  # only ever waited for when a test fails
OWN_PIDS = ("unshare", "--pid", "--fork", "--mount-proc")


def has_own_pids() -> bool:
    """Say whether processes can be started in a PID namespace of their own, where pids are soon used again."""
    try:
        return subprocess.run([*OWN_PIDS, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def churned(place: Path, kind: str) -> dict[str, Any]:
    prefix = OWN_PIDS if has_own_pids() else ()
    done = subprocess.run(
        [*prefix, sys.executable, str(ROOT / "tests/support/pid_reuse.py"), str(place / "state"), kind],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=PATIENCE_S,
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
