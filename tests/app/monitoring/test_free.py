"""gputop free."""

import json
import os
import subprocess
import sys

import pytest
from examples import GIB, frame, gpu

from gputop.app.monitoring.free import surveyed
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.sample import Frame

PATIENCE_S = 60


def gputop(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", "free", "--interval", "0.1", *arguments],
        capture_output=True, check=False, env=dict(os.environ), stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def test_free_instances_are_a_table_and_status_0() -> None:
    done = gputop("--demo", "mig")

    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["GPU", "0:11"]
    assert done.stderr == "gputop: 0 of 1 GPUs free · 1 of 8 instances free: 0:11\n"


def test_no_free_gpu_is_status_1_with_a_reason_for_each() -> None:
    done = gputop("--demo", "h200")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gputop: 0 of 1 GPUs free\n  GPU 0: 2 processes, ")


def test_json_names_the_free_and_the_others() -> None:
    done = gputop("--demo", "mig", "--json")
    found = json.loads(done.stdout)

    assert [(one["place"], one["is_free"]) for one in found["free"]] == [("0:11", True)]
    assert "1" in {one["place"] for one in found["others"]}
    assert json.loads(gputop("--demo", "h200", "--json").stdout)["free"] == []


@pytest.mark.parametrize(("arguments", "said"), [(["--max-util", "5"], "--max-util"), (["-i", "9"], "no such GPU: 9")])
def test_bad_input_is_status_2(arguments: list[str], said: str) -> None:
    done = gputop("--demo", "h200", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_waiting_continues_until_a_gpu_is_free_and_says_once_why_none_is() -> None:
    def one(busy: int) -> Frame:
        return frame((gpu(0, {GPU_UTILIZATION: busy, MEMORY_USED: GIB // 4}),), ())

    frames, pauses, told = iter([one(90), one(90), one(50), one(0), one(0)]), list[str](), list[str]()
    found, problem = surveyed(frames.__next__, lambda: pauses.append("pause"), told.append, waits=True)

    assert [free.place for free in found.free] == ["0"]
    assert (len(pauses), problem) == (4, "")
    assert told == ["0 of 1 GPUs free\n  GPU 0: 90 % busy", "waiting"]
