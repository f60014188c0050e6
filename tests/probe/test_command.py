"""gputop probe, as a user runs it: on simulated boxes, and with CPUs in place of GPUs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from gputop.machine.mig.lock import named_lock

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make probe-tests")
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Install the plugin for one test, as pip would."""
    info = tmp_path / "site" / "gputop_cuda_probe-0.1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copytree(ROOT / "plugins" / "cuda-probe" / "gputop_cuda_probe", tmp_path / "site" / "gputop_cuda_probe")
    (info / "entry_points.txt").write_text("[gputop.plugins]\ncuda-probe = gputop_cuda_probe.plugin:PLUGIN\n")
    return tmp_path


def environment(site: Path, **more: str) -> dict[str, str]:
    (site / "tmp").mkdir(exist_ok=True)
    own = {
        "PYTHONPATH": str(site / "site"), "TMPDIR": str(site / "tmp"),
        "XDG_STATE_HOME": str(site / "state"), "XDG_CONFIG_HOME": str(site / "config"),
    }  # fmt: skip
    return os.environ | own | more


def probe(site: Path, *arguments: str, **more: str) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "gputop", "probe", *arguments], capture_output=True, check=False, text=True,
        env=environment(site, **more), stdin=subprocess.DEVNULL, timeout=300,
    )  # fmt: skip


def test_without_the_plugin_it_says_how_to_get_it(site: Path) -> None:
    done = probe(site, GPUTOP_NO_PLUGINS="1")

    assert done.returncode == 3
    assert "pip install ./plugins/cuda-probe" in done.stderr


def test_a_gpu_in_use_is_refused_with_who(site: Path) -> None:
    done = probe(site, "--demo", "training", "--gpu", "2")

    assert done.returncode == 4
    assert "refused" in done.stdout
    assert any("pid 31877, bob, " in line for line in done.stdout.splitlines())


def test_a_gpu_that_another_probe_tests_is_refused_even_by_force(site: Path) -> None:
    told = probe(site, "--demo", "training", "--gpu", "0", "--json", "-")
    with named_lock(f"probe-{json.loads(told.stdout)['devices'][0]['uuid']}"):
        done = probe(site, "--demo", "training", "--gpu", "0", "--force")

    assert done.returncode == 4
    assert f"another probe tests it: pid {os.getpid()}" in done.stdout


@pytest.mark.parametrize(
    "wrong",
    [["nonsense"], ["--mem", "200%"], ["--device", "tpu"], ["--level", "x"], ["--demo", "training", "-i", "99"]],
)
def test_what_cannot_be_asked_is_64_and_no_verdict(site: Path, wrong: list[str]) -> None:
    assert probe(site, *wrong).returncode == 64


def test_without_torch_it_says_how_to_get_it(site: Path) -> None:
    done = probe(site, "--device", "cpu", "--python", "/nothing/python")

    assert done.returncode == 3
    assert "pip install torch" in done.stderr


def test_the_tests_are_listed(site: Path) -> None:
    done = probe(site, "--list")

    assert done.returncode == 0
    assert "memory.retention" in done.stdout


@needs_torch
def test_a_clean_run_passes_and_its_files_say_so(site: Path) -> None:
    found, cases = site / "found.json", site / "found.xml"
    done = probe(
        site,
        "--device",
        "cpu",
        "--time",
        "8",
        "--mem",
        "8MiB",
        "gemm.bf16",
        "memory.random",
        "--json",
        str(found),
        "--junit",
        str(cases),
    )
    report = json.loads(found.read_text())
    suite = ET.parse(cases).getroot()[0]  # noqa: S314 - our own

    assert done.returncode == 0, done.stdout + done.stderr
    assert (report["schema"], report["status"], report["exit_status"]) == ("gputop.probe/1", "pass", 0)
    assert [(test["key"], test["status"]) for test in report["devices"][0]["tests"]] == [
        ("gemm.bf16", "pass"), ("memory.random", "pass"),
    ]  # fmt: skip
    assert report["devices"][0]["tests"][1]["params"]["bytes"] == 8 << 20
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "0")
    assert list((site / "tmp").iterdir()) == []


@needs_torch
def test_a_fault_fails_with_its_place_everywhere(site: Path) -> None:
    cases = site / "found.xml"
    done = probe(
        site, "--device", "cpu", "--time", "8", "memory.random", "--junit", str(cases),
        GPUTOP_PROBE_INJECT="flip@memory.random",
    )  # fmt: skip
    failure = ET.parse(cases).getroot().find(".//failure")  # noqa: S314 - our own

    assert done.returncode == 2
    assert "chunk 0 word 12345: 1 bits differ" in done.stdout
    assert "words by flipped bit:  37: 1" in done.stdout
    assert failure is not None
    assert "xor=0x0000002000000000" in (failure.text or "")


@needs_torch
def test_nothing_tested_is_no_pass(site: Path) -> None:
    assert probe(site, "--device", "cpu", "--time", "7", "launch").returncode == 5


@needs_torch
def test_a_device_that_became_slow_is_seen_by_its_own_baseline(site: Path) -> None:
    arguments = ("--device", "cpu", "--time", "8", "gemm.fp32")
    saved = probe(site, *arguments, "--baseline", "save")
    same = probe(site, *arguments, "--baseline", "compare")
    slow = probe(site, *arguments, "--baseline", "compare", GPUTOP_PROBE_INJECT="slow@gemm.fp32")

    assert [saved.returncode, same.returncode, slow.returncode] == [0, 0, 2], same.stdout
    assert "baseline.tflops" in slow.stdout


@needs_torch
def test_copies_and_sums_over_all_are_in_the_results_and_in_the_exit_status(site: Path) -> None:
    found, cases = site / "found.json", site / "found.xml"
    done = probe(
        site, "--device", "cpu:2", "--time", "20", "pairs", "collective.allreduce", "memory.random", "--json",
        str(found), "--junit", str(cases), "--min-busbw", "900000",
    )  # fmt: skip
    report = json.loads(found.read_text())
    suites = {str(suite.get("name")): suite for suite in ET.parse(cases).getroot()}  # noqa: S314 - our own

    assert done.returncode == 2, done.stdout
    assert [(test["key"], test["status"]) for test in report["joint"]] == [
        ("pairs", "pass"), ("collective.allreduce", "fail"),
    ]  # fmt: skip
    assert [finding["code"] for finding in report["joint"][1]["findings"]] == ["limit.busbw"]
    assert [device["status"] for device in report["devices"]] == ["pass", "pass"]
    assert suites["all together"].get("failures") == "1"
    assert list((site / "tmp").iterdir()) == []


@needs_torch
def test_boxes_that_slurm_has_started_sum_together(site: Path) -> None:
    slurm = {"SLURM_NNODES": "2", "SLURM_NTASKS": "2", "SLURM_JOB_NODELIST": "localhost", "SLURM_JOB_ID": "99"}
    boxes = [
        subprocess.Popen(
            [sys.executable, "-m", "gputop", "probe", "--device", "cpu", "--time", "9", "collective.alltoall",
             "--json", str(site / f"{number}.json")],
            env=environment(site, **slurm, SLURM_NODEID=str(number)), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for number in range(2)
    ]  # fmt: skip
    for box in boxes:
        box.wait(timeout=200)
    joint = [json.loads((site / f"{number}.json").read_text())["joint"][0] for number in range(2)]

    assert [(one["status"], one["params"]["ranks"]) for one in joint] == [("pass", 4), ("pass", 4)]


@needs_torch
def test_the_quick_level_ends_within_its_time_and_leaves_the_rest_of_the_memory_alone(site: Path) -> None:
    found = site / "found.json"
    done = probe(site, "--device", "cpu", "--level", "quick", "--json", str(found))
    report = json.loads(found.read_text())

    assert done.returncode == 0, done.stdout
    assert sum(test["duration_s"] for test in report["devices"][0]["tests"]) < 24


@needs_torch
@pytest.mark.parametrize(
    ("test", "words", "count"),
    [
        ("soak", b"gputop_cuda_probe.worker", 2), ("pairs collective", b"gputop_cuda_probe.worker", 1),
        ("collective.allreduce", b"gputop_cuda_probe.collective", 3),
    ],
)  # fmt: skip
def test_a_probe_that_is_interrupted_ends_its_workers_and_says_so(
    site: Path, test: str, words: bytes, count: int
) -> None:
    found = site / "found.json"
    child = subprocess.Popen(
        [sys.executable, "-m", "gputop", "probe", "--device", "cpu:2", "--time", "10m", *test.split(), "--json",
         str(found)],
        env=environment(site), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    workers: set[int] = set()
    while len(workers) < count:
        workers = workers_of(site, words)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=120)

    assert child.returncode == 130
    report = json.loads(found.read_text())
    results = [one for each in report["devices"] for one in each["tests"]] + report["joint"]
    assert {report["status"], *(result["status"] for result in results)} == {"aborted"}
    assert not workers_of(site, b"")
    assert list((site / "tmp").iterdir()) == []


def workers_of(site: Path, words: bytes) -> set[int]:
    """Return the processes that write below the folder of the workers, and have these words in their command."""
    folder = f"TMPDIR={site / 'tmp'}/gputop-probe-".encode()
    found = set()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            is_ours = folder in Path(f"/proc/{name}/environ").read_bytes()
            if is_ours and words in Path(f"/proc/{name}/cmdline").read_bytes():
                found.add(int(name))
    return found
