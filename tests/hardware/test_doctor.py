"""The doctor on whatever driver the loader finds: it changes nothing, and says of everything how it is."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from commands import Run

needs_mock = pytest.mark.skipif("NVML_MOCK_BOX" not in os.environ, reason="needs a driver that can be told to fall ill")


def checks(run: Run, **environment: str) -> dict[str, dict[str, Any]]:
    done = run("doctor", "--json", **environment)
    assert done.stderr == ""
    return {one["code"]: one for one in json.loads(done.stdout)["checks"]}


def test_the_driver_answers_all_that_it_is_asked(run: Run) -> None:
    found = checks(run)

    assert found["nvml.absent"]["severity"] == "ok"
    assert not [one for one in found.values() if "the check failed" in one["verdicts"][0]["summary"]]


@needs_mock
@pytest.mark.parametrize(
    ("lines", "code", "severity"),
    [
        ("remap.pending = 1", "remap.pending", "fail"),
        ("remap.failure = 1", "remap.failure", "fail"),
        ("repair.channel = 1", "repair.pending", "warn"),
        ("remap.hist.none = 2", "remap.histogram", "warn"),
        ("ecc = 1\necc.pending = 0", "ecc.pending", "warn"),
        ("ecc.vol.dbe = 1", "ecc.errors", "fail"),
        ("recovery_action = 1", "recovery.action", "fail"),
        ("fabric.state = 2", "fabric.manager", "fail"),
        ("nvlink.down = 1", "nvlink.down", "fail"),
        ("pcie.width = 8", "pcie.link", "warn"),
        ("throttle = hw_thermal | hw_slowdown", "throttle.hw", "fail"),
        ("throttle = sw_thermal", "throttle.sw", "warn"),
        ("power.limit = 500", "power.limit", "info"),
        ("persistence = 0", "persistence", "warn"),
        ("mem.used = 30GiB", "mem.zombie", "warn"),
        ("lost = 1", "gpu.answers", "fail"),
        ("mig = 1", "mig.empty", "warn"),
        ("compute_mode = 3", "compute.mode", "info"),
    ],
)
def test_a_driver_that_falls_ill_is_noticed(run: Run, tmp_path: Path, lines: str, code: str, severity: str) -> None:
    scenario = tmp_path / "box.scn"
    scenario.write_text(f"[box]\ngpus = 2\nmodel = h100\n[gpu *]\nutil = 0\nmem.used = 100MiB\n[gpu 1]\n{lines}\n")
    environment = {"NVML_MOCK_SCENARIO": str(scenario), "NVML_MOCK_STATE": str(tmp_path / "state")}
    found = checks(run, **environment)[code]

    assert found["severity"] == severity, found
    assert "GPU 1" in found["verdicts"][0]["summary"]


@needs_mock
@pytest.mark.parametrize(("code", "check", "severity"), [(999, "nvml.absent", "fail"), (18, "nvml.mismatch", "fail")])
def test_a_driver_that_does_not_start_is_told_by_its_error(
    run: Run, tmp_path: Path, code: int, check: str, severity: str
) -> None:
    scenario = tmp_path / "box.scn"
    scenario.write_text(f"[box]\ngpus = 0\ninit_error = {code}\n")

    assert checks(run, NVML_MOCK_SCENARIO=str(scenario))[check]["severity"] == severity
