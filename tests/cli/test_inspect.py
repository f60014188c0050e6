"""gputop inspect, as a user runs it."""

import json
import os
import subprocess
import sys

import pytest

RANK = "48277"


def gputop(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gputop", "inspect", *arguments], capture_output=True, check=False, text=True
    )


def test_a_real_process_is_told_in_words() -> None:
    environment = os.environ | {"MY_SECRET": "s3cret"}
    with subprocess.Popen(["sleep", "600"], env=environment) as child:
        done = gputop(str(child.pid))
        child.kill()

    assert (done.returncode, done.stderr) == (0, "")
    assert "sleep 600" in done.stdout
    assert "MY_SECRET=••••••••" in done.stdout
    assert "s3cret" not in done.stdout


@pytest.mark.parametrize(("flags", "value"), [((), None), (("--reveal",), "0123456789-not-a-key")])
def test_json_masks_secrets_unless_they_are_asked_for(flags: tuple[str, ...], value: str | None) -> None:
    found = json.loads(gputop(RANK, "--json", *flags, "--demo").stdout)

    assert found["command"][0] == "/opt/llm/bin/python"
    assert {"name": "WANDB_API_KEY", "value": value, "is_secret": True} in found["environment"]
    assert found["owner"]["slurm"] == {"job": "84213", "step": "0"}


def test_what_it_uses_of_the_gpus_is_told_with_rates() -> None:
    told = gputop(RANK, "--wait", "1", "--demo").stdout.splitlines()
    row = told[told.index("GPUs") + 1]

    assert row.startswith("  GPU 1          C · memory 6")
    assert "GiB of 79.6GiB · SM " in row
    assert "SM –" not in row


def test_after_one_reading_rates_have_their_reason() -> None:
    (use,) = json.loads(gputop(RANK, "--json", "--wait", "0", "--demo").stdout)["gpus"]

    assert (use["gpu_index"], use["type"], use["sm_percent"]) == (1, "C", None)
    assert use["missing"]["sm_percent"] == "not_yet"


def test_the_memory_of_pytorch_is_not_only_on_the_screen() -> None:
    text = gputop("52377", "--wait", "0", "--demo", "trouble").stdout
    (memory,) = json.loads(gputop("52377", "--json", "--wait", "0", "--demo", "trouble").stdout)["progress"]["torch"]

    assert "PyTorch        device 0: 7" in text
    assert "cached and unused, peak 7" in text
    assert memory["reserved"] > memory["allocated"] > 2**36


def test_a_process_on_a_mig_instance_says_what_the_driver_does_not_tell() -> None:
    told = gputop("30411", "--demo", "mig").stdout

    assert "GPU 0:1        C · memory " in told
    assert "no SM, MBW, encoder, decoder: not supported by this GPU or its mode" in told


def test_of_a_process_that_is_gone_is_told_what_the_driver_still_lists() -> None:
    done = gputop("7113", "--demo", "dying")

    assert done.returncode == 4
    assert done.stderr.startswith("gputop: 7113: no such process\n  GPU 0: C · memory ")
    assert done.stderr.endswith("\n  exited; the driver still lists it\n")


def test_what_belongs_to_somebody_else_has_its_reason() -> None:
    found = json.loads(gputop("57903", "--json", "--demo").stdout)

    assert found["environment"] == []
    assert found["missing"]["environment"] == "forbidden"


def test_a_pid_that_nobody_has_is_an_error_in_words() -> None:
    done = gputop("4999999", "--demo")

    assert done.returncode == 4
    assert done.stderr == "gputop: 4999999: no such process\n"


def test_it_is_said_in_json_as_well() -> None:
    done = gputop("4999999", "--json", "--demo")

    assert done.returncode == 4
    assert json.loads(done.stdout)["problem"] == "no such process"


@pytest.mark.parametrize("arguments", [("abc",), ("0",), ("-4",), (), (RANK, "--demo", "nosuchbox")])
def test_bad_input_ends_with_status_2(arguments: tuple[str, ...]) -> None:
    done = gputop(*arguments)

    assert done.returncode == 2
    assert done.stderr.startswith("gputop: ")
    assert "Traceback" not in done.stderr
