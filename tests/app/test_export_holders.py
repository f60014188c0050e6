"""The labels of dcgm-exporter that come from other systems: a real kubelet's list, and folders of jobs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest
from exporters import PATIENCE_S, exporting
from expositions import Read, read
from kubelet import kubelet, pod

from gputop.app.errors import BadRequestError
from gputop.app.exporting.holder_sources import HolderSources, Kubelet
from gputop.app.exporting.polled import Polled

USED = "DCGM_FI_DEV_FB_USED"


def held(text: str) -> dict[tuple[str, str], tuple[str | None, ...]]:
    """Return pod, namespace and container by GPU and GPU instance."""

    def of(sample: Read) -> tuple[str, str]:
        return sample.labels["gpu"], sample.labels.get("GPU_I_ID", "")

    return {
        of(sample): tuple(sample.labels.get(name) for name in ("pod", "namespace", "container"))
        for sample in read(text)
        if sample.name == USED
    }


def gpus(demo: str) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "gputop", "snapshot", "--demo", demo, "--json", "--wait", "0"]
    found: list[dict[str, object]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["gpus"]
    return found


def test_pods_are_labels_of_their_gpus_and_of_no_other(tmp_path: Path) -> None:
    uuid = str(gpus("training")[3]["uuid"])
    with kubelet(tmp_path) as server:
        server.response = pod("train-0", "ml", {"pytorch": {"nvidia.com/gpu": [uuid, "nvidia5"]}})
        with exporting("--demo", "training", "--kubernetes", server.socket) as running:
            text = running.until('pod="train-0"')

    found = held(text)
    assert found.pop(("3", "")) == found.pop(("5", "")) == ("train-0", "ml", "pytorch")
    assert len(found) == 6
    assert set(found.values()) == {(None, None, None)}
    assert "gputop_unread_source" not in text


def test_a_pod_is_a_label_of_its_mig_instance_alone(tmp_path: Path) -> None:
    board = next(gpu for gpu in gpus("mig") if gpu["instances"])
    instances = board["instances"]
    assert isinstance(instances, list)
    with kubelet(tmp_path) as server:
        device = instances[0]["compute_instances"][0]["uuid"]
        server.response = pod("serve", "web", {"triton": {"nvidia.com/mig-1g.10gb": [f"{device}::2"]}})
        with exporting("--demo", "mig", "--kubernetes", server.socket) as running:
            found = held(running.until('pod="serve"'))

    assert [where for where, (name, *_) in found.items() if name] == [(str(board["index"]), str(instances[0]["id"]))]


def test_what_cannot_be_read_has_a_series_with_the_reason_and_nothing_waits(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="grpcio is not installed")
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    with exporting(
        "--demo", "--kubernetes", str(tmp_path / "kubelet.sock"), "--hpc-job-mapping-dir", str(jobs)
    ) as running:
        jobs.rmdir()
        text = running.until('gputop_unread_source{source="hpc_jobs",reason="absent"} 1')

    assert 'gputop_unread_source{source="kubernetes",reason="absent"} 1' in text
    assert USED in text


def test_a_source_that_hangs_loses_its_labels_and_says_so() -> None:
    answers: Queue[str] = Queue()
    now = [0.0]
    source = Polled(answers.get, "hung", every_s=1.0, clock=lambda: now[0])
    answers.put("a")
    until(lambda: source.latest() == "a")

    now[0] = 1.0
    assert source.latest() == "a"  # it reads again, and the last result counts until it is too late
    now[0] = 12.0
    assert source.latest() == "hung"
    answers.put("b")
    until(lambda: source.latest() == "b")


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_asks_no_kubelet_that_another_user_can_replace(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="grpcio is not installed")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 1001, 1001)

    with pytest.raises(BadRequestError, match="root alone"):
        HolderSources(None, Kubelet(str(theirs / "kubelet.sock")))
