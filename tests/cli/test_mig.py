"""gputop mig on the simulated box, run as a user runs it. The box forgets with the process, so nothing adds up here."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gputop.app.interrupts import interruptible

DEMO = ("--demo", "mig")


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


def mig(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return gputop("mig", *arguments, *DEMO, **environment)


def parsed(*arguments: str) -> Any:
    done = mig(*arguments, "--json")
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_simulated_box_and_the_command_have_one_name_and_are_told_apart() -> None:
    assert gputop("snapshot", *DEMO, "--wait", "0").stdout.startswith("SIMULATED: mig")
    assert gputop(*DEMO, "mig", "status").stdout.startswith("GPU 0 NVIDIA A100")


def test_the_status_has_all_of_it_as_json() -> None:
    gpus = parsed("status")["gpus"]

    assert [(gpu["is_on"], len(gpu["instances"])) for gpu in gpus] == [(True, 4), (False, 0), (True, 3)]
    assert gpus[0]["instances"][3]["start"] == 4
    assert gpus[2]["geometry"]["profiles"][0]["name"] == "7g.80gb"
    assert gpus[0]["instances"][3]["computes"][0]["users"][0]["user"] == "ann"


def test_gpus_are_chosen_by_index_and_an_unknown_one_is_named() -> None:
    assert mig("status", "-i", "2").stdout.startswith("GPU 2 NVIDIA H100")
    assert "no such GPU: 9. Available: 0, 1, 2" in mig("status", "-i", "9").stderr


def test_a_gpu_without_mig_says_why() -> None:
    assert "no MIG: this GPU does not support MIG" in gputop("mig", "status", "--demo", "workstation").stdout
    assert gputop("mig", "plan", "7g", "-i", "0", "--demo", "workstation").returncode == 4


def test_a_plan_changes_nothing_and_has_the_commands_that_do_the_same() -> None:
    (found,) = parsed("plan", "3g.20gb,2g.10gb,1g.5gb", "-i", "0")

    assert [step["kind"] for step in found["plan"]["steps"]] == ["destroy_compute", "destroy_instance"]
    assert found["nvidia_smi"] == ["nvidia-smi mig -i 0 -gi 11 -ci 0 -dci", "nvidia-smi mig -i 0 -gi 11 -dgi"]
    assert "impossible" in found


def test_what_is_not_possible_has_a_reason_an_alternative_and_an_exit_status() -> None:
    done = mig("plan", "7g", "-i", "2")
    (found,) = parsed("plan", "7g", "-i", "2")

    assert done.returncode == 4
    assert "blocked by instances in use" in done.stdout
    assert "possible now" in done.stdout
    assert (found["plan"], found["impossible"]["nearest"]) == (None, ["4g.40gb/2c+2c,1g.10gb,1g.20gb"])


def test_a_change_is_shown_carried_out_verified_and_followed_by_what_users_need() -> None:
    done = mig("apply", "3g.20gb,2g.10gb,1g.5gb+me,1g.5gb", "-i", "0", "--yes")

    assert done.returncode == 0
    assert "GPU 0: 4/4 create compute instance 1c@0 in 1g.5gb+me@3" in done.stdout
    assert (
        "GPU 0: done: 2g.10gb@0 1g.5gb@2 1g.5gb@3 3g.20gb@4 → 2g.10gb@0 1g.5gb@2 1g.5gb+me@3 3g.20gb@4" in done.stdout
    )
    assert "CUDA_VISIBLE_DEVICES=MIG-" in done.stdout


def test_without_a_terminal_nothing_is_done_unless_it_is_meant() -> None:
    done = mig("apply", "3g.20gb,2g.10gb,1g.5gb", "-i", "0")

    assert done.returncode == 2
    assert "add --yes" in done.stderr


def test_a_wish_that_cannot_be_is_told_as_that_without_a_terminal_too() -> None:
    done = mig("apply", "9g.80gb", "-i", "0")

    assert done.returncode == 2
    assert "9g.80gb" in done.stdout + done.stderr
    assert "--yes" not in done.stderr


def test_a_dry_run_ends_after_the_plan() -> None:
    done = mig("apply", "3g.20gb,2g.10gb,1g.5gb", "-i", "0", "--dry-run")

    assert done.returncode == 0
    assert "- destroy 1g.5gb@3" in done.stdout
    assert "done" not in done.stdout


def test_read_only_shows_the_plan_and_refuses() -> None:
    done = mig("apply", "3g.20gb,2g.10gb,1g.5gb", "-i", "0", "--yes", "--read-only")

    assert done.returncode == 4
    assert "GPU 0: refused: gputop runs with --read-only" in done.stdout


def test_several_gpus_are_not_changed_unless_that_is_said() -> None:
    assert "no GPU selected: add -i 0, or -i all" in mig("apply", "none", "--yes").stderr


def test_the_mode_of_a_busy_gpu_is_left_alone() -> None:
    done = gputop("mig", "apply", "on", "-i", "7", "--yes", "--demo", "training")

    assert done.returncode == 4  # its GPUs are in use
    assert "cannot turn MIG on while processes use the GPU" in done.stdout


def test_a_request_that_makes_no_sense_is_bad_input() -> None:
    done = mig("plan", "3g.21gb", "-i", "0")

    assert done.returncode == 2
    assert "did you mean 3g.20gb?" in done.stderr


def test_of_several_gpus_the_one_that_has_no_such_profile_is_named() -> None:
    done = mig("plan", "1g.5gb")

    assert done.returncode == 2
    assert done.stderr.startswith("gputop: GPU 2: this GPU has no profile '1g.5gb'; did you mean 1g.10gb?")


def test_the_layouts_are_exported_and_applied_again(tmp_path: Path) -> None:
    file = tmp_path / "mig.yaml"
    file.write_text(mig("export").stdout)
    done = mig("apply", "-f", str(file), "--dry-run")

    assert done.stdout.count("nothing to do") == 3
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("version: v1\nmig-configs: [", "while parsing"), ("a: 1", "not a mig-parted configuration"), ("&a [*a]", "")],
)
def test_a_file_that_cannot_be_read_is_bad_input(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mig.yaml"
    file.write_text(text)
    done = mig("plan", "-f", str(file))

    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_is_bad_input() -> None:
    assert "No such file" in mig("plan", "-f", "/nowhere/mig.yaml").stderr
    assert "No such file" in mig("restore", "/nowhere/mig.json", "--yes").stderr
    assert "no layout requested" in mig("plan").stderr


def test_a_checkpoint_is_restored_with_its_placements(tmp_path: Path) -> None:
    file = tmp_path / "mig.json"
    assert mig("checkpoint", "-o", str(file)).returncode == 0
    saved = json.loads(file.read_text())
    first = saved["gpus"][0]["instances"]
    first[:] = [one for one in first if one["start"] != 3]  # the idle one
    file.write_text(json.dumps(saved))
    done = mig("restore", str(file), "--yes")

    assert done.returncode == 0
    assert "→ 2g.10gb@0 1g.5gb@2 3g.20gb@4" in done.stdout


def test_a_checkpoint_that_would_end_a_process_is_not_restored(tmp_path: Path) -> None:
    file = tmp_path / "mig.json"
    mig("checkpoint", "-o", str(file))
    saved = json.loads(file.read_text())
    saved["gpus"][2]["instances"] = []
    file.write_text(json.dumps(saved))
    done = mig("restore", str(file), "--yes", "-i", "2")

    assert done.returncode == 4
    assert "blocked by instances in use" in done.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gputop_mig": 9}, "another gputop"),
        (
            {"gpus": [{"uuid": "GPU-x", "index": 0, "name": "gone", "is_on": True}]},
            "no longer in this host: gone GPU-x",
        ),
        ({"gpus": 5}, "is not a gputop checkpoint"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    file = tmp_path / "mig.json"
    file.write_text(json.dumps(json.loads(mig("checkpoint").stdout) | change))
    done = mig("restore", str(file), "--yes")

    assert done.returncode == 2
    assert said in done.stderr


def test_a_checkpoint_of_another_board_is_not_possible(tmp_path: Path) -> None:
    file = tmp_path / "mig.json"
    saved = json.loads(mig("checkpoint").stdout)
    saved["gpus"][0]["instances"] = [{"start": 0, "size": 4, "profile": "5g.90gb"}]
    file.write_text(json.dumps(saved))

    assert "this GPU does not offer 5g.90gb@0" in mig("restore", str(file), "--yes").stdout


def test_the_service_says_where_it_goes_and_restores_a_checkpoint() -> None:
    text = gputop("mig", "service", "/etc/gputop/box.json").stdout

    assert "/etc/systemd/system/gputop-mig.service" in text
    assert " mig restore /etc/gputop/box.json --yes" in text
    assert "Before=" in text
    assert "kubelet.service" in text
    assert gputop("mig", "service", "/etc/my box.json").returncode == 2
    assert gputop("mig", "service", "/etc/$(reboot)").returncode == 2


def test_a_box_that_is_not_there_is_bad_input() -> None:
    assert "no simulated box" in gputop("mig", "status", "--demo", "nothing").stderr
    assert gputop("mig", "plan", "7g", "--demo", "nothing").returncode == 2


def is_interrupted() -> bool:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)  # the handler runs between two instructions
    except KeyboardInterrupt:
        return True
    return False


def test_what_is_under_way_is_interrupted_once_and_then_left_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    interrupted = 0
    with interruptible():
        for _ in range(3):
            interrupted += is_interrupted()

    assert interrupted == 1
    assert signal.getsignal(signal.SIGTERM) is before
