"""gputop doctor, as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

BOXES = ("training", "h200", "mig", "workstation", "trouble", "dying")


def gputop(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True,
        check=False,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
    )


def checks(text: str) -> dict[str, dict[str, Any]]:
    return {one["code"]: one for one in json.loads(text)["checks"]}


@pytest.mark.parametrize("box", BOXES)
def test_a_diagnosis_is_what_its_schema_promises(box: str) -> None:
    schema = json.loads(gputop("schema", "doctor").stdout)
    done = gputop("doctor", "--json", "--demo", box)
    found = json.loads(done.stdout)

    jsonschema.validate(found, schema)
    assert done.stderr == ""
    assert done.returncode == found["status"]
    assert sum(found["counts"].values()) == len(found["checks"])


@pytest.mark.parametrize(("box", "status"), [("training", 0), ("workstation", 0), ("dying", 2)])
def test_the_exit_status_says_how_the_box_is(box: str, status: int) -> None:
    assert gputop("doctor", "--demo", box).returncode == status


def test_the_dying_box_is_told_all_that_is_wrong_with_it() -> None:
    found = checks(gputop("doctor", "--json", "--demo").stdout)
    graves = {code for code, one in found.items() if one["severity"] == "fail"}

    assert graves == {"recovery.action", "xid.recent", "ecc.errors", "remap.pending", "nvlink.down"}
    assert {"temp", "throttle.sw", "mem.zombie", "proc.dstate"} == {
        code for code, one in found.items() if one["severity"] == "warn"
    }


def test_the_report_begins_with_what_is_worst() -> None:
    lines = gputop("doctor", "--demo").stdout.splitlines()
    marks = [line[:9].strip() for line in lines if line[:1] in {"✗", "!", "?", "i", "✓"}]

    assert lines[0] == "SIMULATED: dying, no real GPU"
    assert marks == sorted(marks, key=["✗ ACT NOW", "! WARNING", "? unknown", "i note", "✓ ok"].index)
    assert "      $ sudo nvidia-smi --gpu-reset -i 3" in lines


def test_a_missing_gpu_is_noticed_where_more_are_expected() -> None:
    assert gputop("doctor", "--demo", "training", "--expect", "8").returncode == 0
    assert gputop("doctor", "--demo", "training", "--expect", "9").returncode == 2


def test_the_configuration_may_say_how_many_gpus_there_should_be(tmp_path: Path) -> None:
    (tmp_path / "gputop").mkdir()
    (tmp_path / "gputop" / "config.toml").write_text("expected_gpus = 1000\n")
    found = checks(gputop("doctor", "--json", XDG_CONFIG_HOME=str(tmp_path)).stdout)

    assert "but 1000 are expected" in found["gpu.count"]["verdicts"][0]["summary"]


@pytest.mark.parametrize("arguments", [("--jsn",), ("--expect", "many"), ("--demo", "nosuchbox")])
def test_bad_options_are_not_taken_for_a_diagnosis(arguments: tuple[str, ...]) -> None:
    done = gputop("doctor", *arguments)

    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.startswith("gputop: ")


def test_bad_options_of_other_commands_keep_their_status() -> None:
    assert gputop("snapshot", "--jsn").returncode == 2


def test_a_terminal_without_our_signs_gets_others() -> None:
    text = gputop("doctor", "--demo", PYTHONIOENCODING="ascii").stdout

    assert text.isascii()
    assert "x ACT NOW" in text
    assert "+ ok" in text


def test_a_failed_start_points_to_the_doctor() -> None:
    done = gputop("snapshot", LD_LIBRARY_PATH="/nonexistent")
    if done.returncode == 0:
        pytest.skip("there is a driver here")

    assert done.returncode == 3
    assert "gputop doctor" in done.stderr
