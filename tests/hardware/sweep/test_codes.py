"""Every function that gputop calls, with every error code: the value is absent with the reason, all else is right."""

import json
from typing import Any

import jsonschema
import pytest
from driver_faults import CODES, LATE, LOST, METRIC_FUNCTIONS, OF_GPU, OTHERS, REASONS, SYSTEM, compared, expected

from gputop.core.model.catalogue import CATALOGUE


def asked(function: str) -> bool:
    """Say whether the driver of the box is asked for it: others are for drivers that are older."""
    return any(expected(metric, function, 15) for metric in CATALOGUE)


@pytest.mark.parametrize("function", METRIC_FUNCTIONS)
def test_metrics_when_each_function_fails_with_every_code(box: Any, function: str) -> None:
    box.fail([[f"fail.{function} = {code}"] for code in CODES])
    frame = box.stream().until(lambda frame: frame["sequence"] >= 20) if function in LATE else box.snapshot()
    healthy, *others = sorted(frame["gpus"], key=lambda gpu: gpu["index"])
    wrong = {}
    for code, gpu in zip(CODES, others, strict=True):
        if code in LOST and asked(function):
            assert gpu["state"] == "lost", (function, code)
        else:
            assert gpu["state"] == "ok", (function, code)
            reasons = {metric.key: expected(metric, function, code) for metric in CATALOGUE}
            wrong[code] = compared(gpu, healthy, reasons)

    assert not any(healthy["missing"].get(key) == "fault" for key in healthy["metrics"])
    assert {code: said for code, said in wrong.items() if said} == {}
    assert {use["gpu_index"] for use in frame["processes"][0]["gpus"]} >= {
        gpu["index"] for gpu in frame["gpus"] if gpu["state"] == "ok"
    }
    jsonschema.validate(frame, json.loads(box.command("schema").stdout))


@pytest.mark.parametrize("function", OF_GPU)
def test_a_gpu_when_each_function_fails_with_every_code(box: Any, function: str) -> None:
    box.fail([[f"fail.{function} = {code}"] for code in CODES])
    frame = box.snapshot()
    healthy, *others = sorted(frame["gpus"], key=lambda gpu: gpu["index"])
    wrong = {code: compared(gpu, healthy, {}) for code, gpu in zip(CODES, others, strict=True) if gpu["state"] == "ok"}

    assert len(others) == len(CODES)
    assert {code: said for code, said in wrong.items() if said} == {}
    assert {code for code, gpu in zip(CODES, others, strict=True) if gpu["state"] != "ok"} <= (
        set(CODES) if function == "nvmlDeviceGetUUID" else set(LOST)
    )


def test_compute_lists_that_fail_with_every_code(box: Any) -> None:
    box.fail([[f"fail.nvmlDeviceGetComputeRunningProcesses = {code}"] for code in CODES])
    frame = box.snapshot()
    said = {gpu["index"]: gpu["missing"].get("processes") for gpu in frame["gpus"]}
    uses = {use["gpu_index"] for use in frame["processes"][0]["gpus"]}

    assert uses == {0}
    for index, code in enumerate(CODES, 1):
        if code not in LOST:
            assert said[index] == REASONS.get(code, "fault"), code


@pytest.mark.parametrize("name", ["Graphics", "MPSCompute"])
def test_rare_lists_that_fail_with_every_code(box: Any, name: str) -> None:
    box.fail([[f"fail.nvmlDeviceGet{name}RunningProcesses = {code}"] for code in CODES])
    frame = box.snapshot()
    said = {gpu["index"]: gpu["missing"].get("other_processes") for gpu in frame["gpus"]}

    assert {use["gpu_index"] for use in frame["processes"][0]["gpus"]} >= {0, *(1 + CODES.index(c) for c in (1, 3, 4))}
    for index, code in enumerate(CODES, 1):
        why = REASONS.get(code, "fault")
        if code not in LOST:
            assert said[index] == (None if why in ("unsupported", "outdated") else why), code


def test_shares_of_processes_that_fail_with_every_code(box: Any) -> None:
    box.fail([[f"fail.nvmlDeviceGetProcess*Utilization* = {code}"] for code in CODES])
    frame = box.snapshot("--wait", "0.6")  # as long as the driver needs for a new sample
    uses = {use["gpu_index"]: use for use in frame["processes"][0]["gpus"]}

    for index, code in enumerate(CODES, 1):
        if code not in (*LOST, 6):
            assert uses[index]["sm_percent"] is None
            assert uses[index]["missing"]["sm_percent"] == REASONS.get(code, "fault"), code
            assert uses[index]["memory_bytes"] == 2**30
    assert uses[1 + CODES.index(6)]["sm_percent"] == 0.0  # NOT_FOUND: nothing newer, so it did nothing


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("function", SYSTEM)
def test_the_box_when_each_function_fails_with_every_code(box: Any, function: str, code: int) -> None:
    box.fail([], box=f"fail.{function} = {code}")
    frame = box.stream().until(lambda frame: frame["sequence"] >= 3) if function in OTHERS else box.snapshot()
    named = {"nvmlSystemGetDriverVersion": "version", "nvmlSystemGetNVMLVersion": "nvml_version"}
    key = named.get(function, "cuda_version")
    why = REASONS.get(code, "fault")

    assert frame["gpus"]
    assert frame["gpus"][0]["state"] == ("lost" if function == "nvmlGpmSampleAlloc" and code in LOST else "ok")
    if function.startswith("nvmlSystem"):
        assert (frame["driver"][key], frame["driver"]["missing"]) == (None, {key: why})


@pytest.mark.parametrize("code", CODES)
def test_a_count_that_fails_when_each_function_is_tried_is_told(box: Any, code: int) -> None:
    box.fail([], box=f"count_error = {code}")
    frame = box.snapshot()

    assert frame["gpus"] == []
    assert "does not list its GPUs" in frame["problems"][0]


def test_a_count_that_fails_while_gputop_runs_takes_no_gpu_away(box: Any) -> None:
    box.fail([])
    running = box.stream()
    running.until(lambda frame: bool(frame["gpus"]))
    box.fail([], box="count_error = 999")
    later = running.until(lambda frame: frame["sequence"] >= 30)

    assert [gpu["state"] for gpu in later["gpus"]] == ["ok"]


@pytest.mark.parametrize("code", CODES)
def test_doctor_and_mig_when_each_function_of_a_gpu_fails(box: Any, code: int) -> None:
    box.fail([[f"fail.nvmlDeviceGet* = {code}"], [f"fail.nvmlGpuInstance* = {code}", "mig = 1", "mig.instances = 7g"]])
    doctor = box.command("doctor", "--json")
    mig = box.command("mig", "status", "--json")

    assert "Traceback" not in doctor.stderr + mig.stderr
    assert json.loads(doctor.stdout)["checks"]
    assert mig.stdout == "" or json.loads(mig.stdout)["gpus"]
