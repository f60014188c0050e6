"""gputop pick."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from examples import GIB, frame, gpu

from gputop.app.monitoring.pick import picked
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_FREE
from gputop.core.model.sample import Frame
from gputop.core.query.pick import Wish

ANY = ("--max-util", "100")  # all GPUs of the simulated machine are busy
PATIENCE_S = 60  # only ever waited for when a test fails
SHOW = "import os; print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ['CUDA_DEVICE_ORDER'])"


def gputop(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", "pick", "--interval", "0.1", *arguments],
        capture_output=True, check=False, env=dict(os.environ), stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def test_it_prints_what_a_shell_can_take() -> None:
    done = gputop("--demo", "-n", "2", *ANY)
    name, _, uuids = done.stdout.strip().partition("=")

    assert (done.returncode, name) == (0, "CUDA_VISIBLE_DEVICES")
    assert [uuid[:4] for uuid in uuids.split(",")] == ["GPU-", "GPU-"]


def test_the_choice_of_a_used_gpu_says_so_and_stdout_stays_for_scripts() -> None:
    done = gputop("--demo", "trouble", "-i", "7", "--format", "index")

    assert (done.returncode, done.stdout) == (0, "7\n")
    assert done.stderr.startswith("gputop: chose GPU 7: ")
    assert done.stderr.endswith(" busy, 1 process; no GPU is free\n")


def test_a_busy_gpu_is_refused_without_a_word_on_stdout() -> None:
    done = gputop("--demo", "training", "-i", "0")

    assert (done.returncode, done.stdout) == (1, "")
    assert "GPU 0: its utilization is" in done.stderr
    assert "--max-util" in done.stderr


def test_the_formats_name_the_same_gpus() -> None:
    box = ("--demo", "training", "-n", "3", "-i", "1,4,6", *ANY)
    index, uuid, whole = (gputop(*box, "--format", form).stdout for form in ("index", "uuid", "json"))
    chosen = json.loads(whole)["chosen"]

    assert sorted(index.strip().split(",")) == sorted(one["place"] for one in chosen) == ["1", "4", "6"]
    assert sorted(uuid.strip().split(",")) == sorted(one["uuid"] for one in chosen)


def test_what_is_named_is_as_free_as_asked_for() -> None:
    chosen = json.loads(gputop("--demo", "--min-free", "10GiB", "--format", "json", *ANY).stdout)["chosen"]

    assert [one["free_bytes"] >= 10 * GIB for one in chosen] == [True]


def test_too_few_gpus_are_status_1_and_every_obstacle_a_line() -> None:
    done = gputop("--demo", "h200", "-n", "2", "--min-free", "1TiB")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == "gputop: 0 of 2 GPUs found"
    assert "GPU 0:" in done.stderr
    assert "the required 1.0TiB" in done.stderr


def test_json_says_it_too() -> None:
    done = gputop("--demo", "h200", "-n", "2", "--format", "json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["chosen"] == []


def test_instances_are_named_on_request() -> None:
    without, offered = gputop("--demo", "mig", "-i", "0"), gputop("--demo", "mig", "-i", "0", "--mig", *ANY)

    assert (without.returncode, "--mig" in without.stderr) == (1, True)
    assert offered.stdout.startswith("CUDA_VISIBLE_DEVICES=MIG-")


def test_exec_becomes_the_command_and_hands_over_its_arguments_and_status() -> None:
    named = gputop("--demo", "-i", "2", "--format", "uuid", *ANY).stdout.strip()
    shown = gputop("--demo", "-i", "2", *ANY, "--exec", sys.executable, "-c", SHOW)
    ended = gputop(
        "--demo", *ANY, "--exec", "--", sys.executable, "-c", "import sys; sys.exit(len(sys.argv))", "-n", "snapshot"
    )

    echo = gputop("--demo", *ANY, "--exec", "echo", "--demo", "--", "--exec", "-n")

    assert shown.stdout.split() == [named, "PCI_BUS_ID"]
    assert ended.returncode == 3
    assert echo.stdout == "--demo -- --exec -n\n"


def test_a_command_in_a_pipe_dies_of_it_as_from_a_shell() -> None:
    done = gputop("--demo", *ANY, "--exec", "grep", "SigIgn", "/proc/self/status")

    assert int(done.stdout.split()[1], 16) & (1 << 12) == 0  # SIGPIPE


@pytest.mark.parametrize(("command", "status"), [("/nonexistent/command", 127), ("/etc", 126)])
def test_a_command_that_cannot_be_run_is_told_as_by_a_shell(command: str, status: int) -> None:
    done = gputop("--demo", *ANY, "--exec", command)

    assert done.returncode == status
    assert done.stderr.splitlines()[-1].startswith(f"gputop: cannot run {command}: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "0"], "'0' is not a whole number"),
        (["--min-free", "lots"], "'lots' is not a size"),
        (["--min-free", "20"], "'20' has no unit: write 20GiB or 20MiB"),
        (["--max-util", "-1"], "is not a percentage"),
        (["--exec"], "--exec needs a command"),
        (["-i", "9"], "no such GPU: 9"),
    ],
)
def test_bad_input_is_a_line_and_status_2(arguments: list[str], said: str) -> None:
    done = gputop("--demo", "h200", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_choice_of_processes_is_refused_as_all_of_them_count() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gputop", "--user", "ann", "--demo", "h200", "pick"],
        capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S,
    )  # fmt: skip

    assert done.returncode == 2
    assert "counts all processes" in done.stderr


def filling(*free: int) -> Iterator[Frame]:
    for gibibytes in free:
        held = frame(1)
        yield Frame(
            time_s=held.time_s,
            interval_s=1.0,
            driver=held.driver,
            host=held.host,
            gpus=(gpu(0, {MEMORY_FREE: gibibytes * GIB, GPU_UTILIZATION: 5}),),
        )


def test_waiting_looks_until_there_are_enough_and_says_once_what_is_in_the_way() -> None:
    frames, pauses, told = filling(5, 5, 5, 50, 60), list[str](), list[str]()
    wish = Wish(min_free_bytes=40 * GIB)
    found = picked(frames.__next__, wish, lambda: pauses.append("pause"), told.append, waits=True)

    assert [one.free_bytes for one in found.chosen] == [50 * GIB]
    assert len(pauses) == 3
    assert told == ["0 of 1 GPUs found\n  GPU 0: only 5.0GiB of the required 40.0GiB are free", "waiting"]


def test_without_waiting_two_readings_decide() -> None:
    frames = filling(5, 5, 50)

    wish = Wish(min_free_bytes=40 * GIB)

    assert picked(frames.__next__, wish, lambda: None, lambda _: None, waits=False).chosen == ()
