"""gputop explain, as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from blocking_process import blocking_or_skip

HUNG = "rank 0 never entered all-reduce 1,204: it is in DataLoader.__next__ at pretrain.py:88; rank 1 "


def gputop(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gputop", "explain", *arguments], capture_output=True, check=False, text=True
    )


@pytest.mark.parametrize("name", ["stuck.collective", "90117"])
def test_a_finding_and_a_job_lead_to_the_same_verdict(name: str) -> None:
    done = gputop(name, "--demo", "trouble")
    label, verdict, *rest = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (0, "")
    assert label == "job 90117.0"
    assert verdict.startswith(HUNG)
    assert [line.split("  ")[1] for line in rest[2:7]] == [
        "Python stacks", "NCCL RAS", "PyTorch Flight Recorder", "CUDA MPS", "Kernel",
    ]  # fmt: skip
    assert "  server 60940: ACTIVE, 2 clients" in rest


@pytest.mark.parametrize(
    ("pids", "label"),
    [
        (("61021",), "job 90117.0 of process 61021 (rank 1)"),
        (("61002",), "job 90117.0 of process 61002"),
        (("61020", "61021"), "job 90117.0"),
    ],
)
def test_the_pid_of_a_rank_or_launcher_hides_the_other_ranks(pids: tuple[str, ...], label: str) -> None:
    first, verdict, *_ = gputop(*pids, "--demo", "trouble").stdout.splitlines()

    assert first == label
    assert verdict.startswith(HUNG)


def test_json_is_one_complete_explanation() -> None:
    (line,) = gputop("61020", "61021", "--json", "--native", "--demo", "trouble").stdout.splitlines()
    found = json.loads(line)
    stacks = found["sources"][0]["details"]["groups"]

    assert found["is_complete"] is True
    assert found["verdict"].startswith(HUNG)
    assert [member["pid"] for member in found["members"]] == [61020, 61021]
    assert stacks[1]["frames"][0]["function"] == "ncclAllReduce"


def test_a_process_without_a_gpu_is_explained() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        done = gputop(str(child.pid))
        child.kill()

    assert done.returncode == 0
    assert done.stdout.startswith(f"process {child.pid}\npid {child.pid} is in ")


def test_a_rank_on_the_cpu_is_named_by_its_pid() -> None:
    ranks = {"RANK": "3", "WORLD_SIZE": "8"}
    with subprocess.Popen(["sleep", "600"], env=os.environ | ranks) as child:
        done = gputop(str(child.pid))
        child.kill()

    assert done.stdout.startswith(f"process {child.pid} (rank 3)\nrank 3 is in ")


@pytest.mark.parametrize("arguments", [("--read-only", "explain"), ("explain", "--read-only")])
def test_read_only_asks_a_rank_for_a_dump(arguments: tuple[str, ...], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe_0.pipe")
    reader = os.open(tmp_path / "pipe_0.pipe", os.O_RDONLY | os.O_NONBLOCK)
    places = {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE": f"{tmp_path}/pipe_", "XDG_STATE_HOME": str(tmp_path)}
    environment = os.environ | places | {"RANK": "0"}
    with subprocess.Popen(["sleep", "600"], env=environment) as child:
        command = [sys.executable, "-m", "gputop", *arguments, str(child.pid)]
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
        child.kill()
    asked = os.read(reader, 1)
    os.close(reader)

    assert done.returncode == 0
    assert asked == b""
    assert not (tmp_path / "gputop" / "audit.jsonl").exists()


def test_a_process_that_has_exited_hides_the_others() -> None:
    with subprocess.Popen(["sleep", "60"]) as living:
        try:
            ended = gputop("999999999", str(living.pid))
        finally:
            living.kill()

    assert "999999999: no such process" in ended.stderr
    assert f"process {living.pid}" in ended.stdout
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("nothing", "--demo", "trouble"), 2, "nothing is no pid, job or present finding"),
        (("999999999", "--demo", "trouble"), 4, "no such process"),
        (("999999999",), 4, "no such process"),
        (("9" * 5000, "--demo", "trouble"), 2, "is no pid, job or present finding"),
        (("idle.holder\x1b[2J", "--demo", "trouble"), 2, "idle.holder␛[2J"),
    ],
)
def test_a_name_without_a_process_is_refused_in_words(arguments: tuple[str, ...], status: int, text: str) -> None:
    done = gputop(*arguments)

    assert (done.returncode, done.stdout) == (status, "")
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_process_that_blocks_its_readers_is_never_explained(tmp_path: Path) -> None:
    with blocking_or_skip(tmp_path) as pid:
        child = subprocess.Popen(
            [sys.executable, "-m", "gputop", "explain", str(pid)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        verdict = child.stdout.readline() + child.stdout.readline() if _ends(child) else "it hangs"
    with child:
        pass

    assert f"pid {pid} is in" in verdict


def _ends(child: "subprocess.Popen[str]") -> bool:
    try:
        child.wait(120)
    except subprocess.TimeoutExpired:
        child.kill()
        return False
    return True
