"""The whole life of a MIG layout, from the command line, on a simulated driver whose state outlives the processes.

Nothing here may ever reach a real driver: the tests run only where NVML_MOCK_BOX says that the driver is a simulated
one, and each box proves it before anything is changed (`mig_box`).
"""

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mig_box import MIXED, PATIENCE_S, MigBox, shown

pytestmark = pytest.mark.skipif(
    "NVML_MOCK_BOX" not in os.environ, reason="changes MIG: only ever on a simulated driver"
)

WISHES = ("3g.40gb,1g.10gb,2g.20gb", "all=1g", "2x3g.40gb/2c+1c", "off", "none", "4g.40gb,3x1g.10gb")


@pytest.fixture
def box(tmp_path: Path) -> MigBox:
    return MigBox(tmp_path, "h100")


@pytest.fixture
def process() -> Iterator[int]:
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child.pid
        child.kill()


def test_the_full_cycle(box: MigBox, process: int) -> None:
    assert (box.status["is_on"], box.layout) == (False, [])
    assert box.apply("on").status == 0
    assert box.status["is_on"] is True

    made = box.apply(MIXED)
    assert (made.status, made.err) == (0, "")
    assert box.layout == ["2g.20gb@0/1+1", "1g.10gb@2/1", "1g.10gb@3/1", "3g.40gb@4/3"]
    assert made.out.count("CUDA_VISIBLE_DEVICES=MIG-") == 5

    busy, idle = box.status["instances"][3], box.status["instances"][1]
    box.use(process, busy["id"])
    refused = box.apply("none")
    assert refused.status == 4
    assert f"● {process} " in refused.out
    assert "sleep 600" in refused.out
    assert "to end it: " in refused.out
    assert "possible now: 3g.40gb" in refused.out
    assert len(box.layout) == 4

    beside = box.apply("3g.40gb,2g.20gb/1c+1c,1g.10gb+me,1g.10gb")
    assert beside.status == 0
    assert box.layout == ["2g.20gb@0/1+1", "1g.10gb+me@2/1", "1g.10gb@3/1", "3g.40gb@4/3"]
    assert box.status["instances"][3]["computes"] == box_users(busy, box)
    assert idle["id"] == box.status["instances"][1]["id"]  # the place decides of the id

    assert box.apply("off").status == 4
    box.write()
    assert box.apply("off").status == 0
    assert (box.status["is_on"], box.layout) == (False, [])


def box_users(busy: dict[str, Any], box: MigBox) -> Any:
    """Return the compute instances of an instance that was not touched, with those who use them now."""
    now = next(one for one in box.status["instances"] if one["id"] == busy["id"])
    assert [c["uuid"] for c in now["computes"]] == [c["uuid"] for c in busy["computes"]]
    return now["computes"]


@pytest.mark.parametrize("wish", WISHES)
def test_a_failure_at_every_single_step_is_followed_by_a_verified_way_back(box: MigBox, wish: str) -> None:
    box.apply("on")
    assert box.apply(MIXED).status == 0
    before = box.layout
    count = len(json.loads(box.mig("plan", wish, "--json").out)[0]["plan"]["steps"])
    assert count > 2
    for number in range(count):
        done = box.apply(wish, fails=str(number))

        assert done.status == 4
        assert f"step {number + 1} of {count}" in done.out
        assert "The layout is as before" in done.out
        now = box.status
        assert (now["is_on"], shown(now)) == (True, before)


def test_a_second_failure_leaves_a_report_and_a_way_back(box: MigBox) -> None:
    box.apply("on")
    box.apply(MIXED)
    before = box.layout
    done = box.apply("all=1g", fails="6,9")

    assert done.status == 4
    assert "The rollback failed too" in done.out
    assert "Now: " in done.out
    assert "Planned: 1g.10gb@0" in done.out
    assert box.layout != before
    file = done.out.partition("gputop mig restore ")[2].split()[0]
    assert box.mig("restore", file, "--yes").status == 0
    assert box.layout == before


def test_two_at_once_and_one_is_told_that_somebody_else_is_at_it(box: MigBox) -> None:
    box.write("[gpu 0]", "latency.nvmlDeviceSetMigMode = 5s")
    first = box.start("apply", "on", "--yes")
    assert first.stdout is not None
    for line in first.stdout:
        if "1/1 enable MIG mode" in line:
            break
    second = box.apply("on")
    rest = first.communicate(timeout=PATIENCE_S)[0]

    assert second.status == 4
    assert f"process {first.pid} is changing this GPU right now" in second.out
    assert first.returncode == 0
    assert "GPU 0: done: MIG off → no instances" in rest


def test_ampere_waits_for_a_reset_and_goes_on_after_it(tmp_path: Path) -> None:
    box = MigBox(tmp_path, "a100-40")
    waiting = box.apply("3g.20gb,2g.10gb")

    assert waiting.status == 1
    assert "sudo nvidia-smi -i 0 --gpu-reset" in waiting.out
    assert (box.status["is_on"], box.status["is_on_next"]) == (False, True)
    assert "reset" in box.apply("3g.20gb,2g.10gb").out
    assert box.apply("off").status == 0  # takes it back
    assert (box.status["is_on"], box.status["is_on_next"]) == (False, False)
    box.apply("on")
    box.reset()
    assert box.apply("3g.20gb,2g.10gb").status == 0
    assert box.layout == ["2g.10gb@0/2", "3g.20gb@4/3"]


def test_a_waiting_mode_that_cannot_be_taken_back_is_no_second_failure(tmp_path: Path) -> None:
    box = MigBox(tmp_path, "a100-40")
    box.apply("on")
    box.write("[gpu 0]", "noperm = 1")
    done = box.apply("off")

    assert done.status == 4
    assert "The layout is as before" in done.out + done.err
    assert "Going back" not in done.out + done.err
    assert (box.status["is_on"], box.status["is_on_next"]) == (False, True)


def test_a_gpu_with_a_process_keeps_its_mode(box: MigBox, process: int) -> None:
    box.write("[process]", f"pid = {process}", "gpu = 0", "mem = 1GiB")
    refused, forced = box.apply("on"), box.mig("apply", "on", "--yes", "--force")

    assert refused.status == 4
    assert f"● {process} " in refused.out
    assert forced.status == 4
    assert "The layout is as before" in forced.out
    assert (box.status["is_on"], box.status["is_on_next"]) == (False, False)


def test_without_the_right_it_is_said_which_one_is_missing(box: MigBox) -> None:
    box.apply("on")
    box.apply("7g")
    box.write("[gpu 0]", "noperm = 1")
    status, change = box.mig("status"), box.apply("none")

    assert "7g.80gb (GPU instance 0" in status.out
    assert "/dev/nvidia-caps/nvidia-cap" in status.err
    assert change.status == 4
    assert "/dev/nvidia-caps/nvidia-cap" in change.err
    box.write()
    assert box.layout == ["7g.80gb@0/7"]


def test_a_layout_is_exported_and_applied_to_an_empty_gpu(box: MigBox, tmp_path: Path) -> None:
    box.apply(MIXED)
    file, saved = tmp_path / "mig.yaml", tmp_path / "mig.json"
    file.write_text(box.mig("export").out)
    assert box.mig("checkpoint", "-o", str(saved)).status == 0
    before = box.layout
    box.apply("off")

    assert box.mig("apply", "-f", str(file), "--yes").status == 0
    assert sorted(one.partition("@")[0] for one in box.layout) == ["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"]
    box.apply("off")
    assert box.mig("restore", str(saved), "--yes").status == 0
    assert box.layout == before


def test_a_driver_that_tells_no_profiles_before_mig_is_on_is_asked_in_two_rounds(box: MigBox, tmp_path: Path) -> None:
    planned, done = box.mig("plan", "3g,1g", fails="silent"), box.apply("3g,1g", fails="silent")

    assert "gputop plans the instances then" in planned.out
    assert done.status == 0
    assert box.layout == ["1g.10gb@0/1", "3g.40gb@4/3"]
    saved = tmp_path / "mig.json"
    box.mig("checkpoint", "-o", str(saved))
    box.apply("off")
    assert box.mig("restore", str(saved), "--yes", fails="silent").status == 0  # as at boot
    assert box.layout == ["1g.10gb@0/1", "3g.40gb@4/3"]


def test_in_a_terminal_it_asks_and_no_is_no(box: MigBox) -> None:
    told, status = in_a_terminal(box, "apply", "on", answer=b"n\n")
    assert "Apply this plan? [y/N]" in told
    assert status == 4
    assert box.status["is_on"] is False

    told, status = in_a_terminal(box, "apply", "7g", answer=b"y\n")
    assert "3/3 create compute instance 7c@0 in 7g.80gb@0" in told
    assert status == 0
    assert box.layout == ["7g.80gb@0/7"]


def test_what_is_shown_of_a_split_gpu_is_true(box: MigBox, process: int) -> None:
    box.apply("on")
    box.apply("3g.40gb@4,1g.10gb@0")
    busy = box.status["instances"][1]
    box.use(process, busy["id"])
    command = [sys.executable, "-m", "gputop", "snapshot", "--json", "--wait", "0.3"]
    done = subprocess.run(command, capture_output=True, check=True, env=box.environment, timeout=PATIENCE_S)
    frame = json.loads(done.stdout)
    gpu, (use,) = frame["gpus"][0], frame["processes"][0]["gpus"]

    assert (gpu["metrics"]["gpu_utilization_percent"], gpu["missing"]["gpu_utilization_percent"]) == (
        None,
        "unsupported",
    )
    assert (use["gpu_instance"], use["sm_percent"], use["missing"]["sm_percent"]) == (busy["id"], None, "unsupported")
    assert all(one["metrics"]["sm_active_percent"] is not None for one in gpu["instances"])


def test_each_change_is_in_the_audit_log(box: MigBox, tmp_path: Path) -> None:
    box.apply("7g")
    box.apply("3g", fails="0")
    lines = [json.loads(line) for line in (tmp_path / "xdg/gputop/audit.jsonl").read_text().splitlines()]

    assert [(line["event"], line.get("status")) for line in lines] == [
        ("intent", None), ("outcome", "done"), ("intent", None), ("outcome", "failed"),
    ]  # fmt: skip
    assert lines[0]["gpu"] == box.gpu
    assert lines[0]["steps"] == [
        "enable MIG mode", "create 7g.80gb@0", "create compute instance 7c@0 in 7g.80gb@0",
    ]  # fmt: skip


def in_a_terminal(box: MigBox, *arguments: str, answer: bytes) -> tuple[str, int]:
    """Run in a terminal of its own, answer the question, return what was shown and the exit status."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gputop", "mig", *arguments]
    child = subprocess.Popen(command, env=box.environment, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    told = b"".join(until(ours, lambda text: b"[y/N]" in text))
    os.write(ours, answer)
    told += b"".join(until(ours, lambda _: False))
    os.close(ours)
    return told.decode(), child.wait(PATIENCE_S)


def until(terminal: int, is_enough: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Read until that is enough, or until the other end closes."""
    seen = b""
    with suppress(OSError):
        while not is_enough(seen) and select.select([terminal], [], [], PATIENCE_S)[0]:
            read = os.read(terminal, 65536)
            if not read:
                return
            seen += read
            yield read
