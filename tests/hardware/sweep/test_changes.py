"""A box that changes under a running stream: calls that hang, GPUs that go and come, layouts, a driver that is away."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from driver_faults import METRIC_FUNCTIONS, OF_GPU, compared

Frame = dict[str, Any]
HANGING = (*METRIC_FUNCTIONS, *OF_GPU)
OLDER = {
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetTotalEnergyConsumption",
    "nvmlDeviceGetCurrentClocksThrottleReasons",
    "nvmlDeviceGetPcieThroughput",
    "nvmlDeviceGetTotalEccErrors",
}  # fmt: skip - only asked for where the driver does not have their successors
OF_THE_BOX = {
    "nvmlDeviceGetName",
    "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetSupportedEventTypes",
    "nvmlDeviceRegisterEvents",
}  # fmt: skip - not asked by the thread of a GPU


def states(frame: Frame) -> list[str]:
    return [gpu["state"] for gpu in sorted(frame["gpus"], key=lambda gpu: gpu["index"])]


def are(*wanted: str) -> Callable[[Frame], bool]:
    return lambda frame: states(frame) == list(wanted)


def test_every_call_that_hangs_from_the_start_keeps_its_gpu_alone(box: Any) -> None:
    asked = [name for name in HANGING if name not in OLDER | OF_THE_BOX]
    box.fail([[f"hang.{name} = 600s"] for name in asked])
    frame = box.stream().until(lambda frame: states(frame).count("hung") == len(asked))

    assert states(frame) == ["ok", *["hung"] * len(asked)]
    assert frame["gpus"][0]["metrics"]["temperature_c"] is not None


@pytest.mark.parametrize("name", sorted(OF_THE_BOX))
def test_a_call_of_the_box_that_hangs_while_gputop_runs_keeps_no_gpu(box: Any, name: str) -> None:
    box.fail([[]])
    running = box.stream()
    running.until(are("ok", "ok"))
    box.fail([[f"hang.{name} = 600s"]])
    first = running.until(lambda frame: frame["sequence"] >= 20)
    later = running.until(lambda frame: frame["sequence"] >= first["sequence"] + 20)

    assert states(later) == ["ok", "ok"]
    assert later["gpus"][1]["read_s"] > first["gpus"][1]["read_s"]


def test_every_gpu_is_lost_and_comes_back(box: Any) -> None:
    box.fail([[]] * 7)
    running = box.stream()
    before = running.until(are(*["ok"] * 8))
    box.fail([["lost = 1"]] * 7 + [["lost = 1", "[gpu 0]", "lost = 1"]])
    lost = running.until(are(*["lost"] * 8))
    box.fail([[]] * 7)
    back = running.until(are(*["ok"] * 8))

    assert all(value is None for gpu in lost["gpus"] for value in gpu["metrics"].values())
    assert {why for gpu in lost["gpus"] for key, why in gpu["missing"].items() if key in gpu["metrics"]} == {"lost"}
    assert [gpu["uuid"] for gpu in back["gpus"]] == [gpu["uuid"] for gpu in before["gpus"]]


@pytest.mark.parametrize("code", [1, 9, 999])
def test_a_driver_that_goes_away_and_comes_back_is_read_again(box: Any, code: int) -> None:
    box.fail([[]])
    running = box.stream()
    before = running.until(lambda frame: frame["sequence"] >= 10)
    box.fail([[]], box=f"fail.nvml* = {code}\ninit_error = {code}\ncount_error = {code}")
    away = running.until(lambda frame: frame["gpus"][0]["metrics"]["temperature_c"] is None)
    box.fail([[]])
    back = running.until(lambda frame: frame["gpus"][0]["metrics"]["temperature_c"] is not None)

    assert len(away["gpus"]) == 2
    assert away["gpus"][0]["missing"]["temperature_c"] == "fault"
    assert compared(back["gpus"][0], before["gpus"][0], {}) == []


@pytest.mark.parametrize("code", [3, 4, 13, 17])
def test_what_was_refused_for_good_is_asked_for_again_after_the_gpu_was_lost(box: Any, code: int) -> None:
    box.fail([[f"fail.nvmlDeviceGetTemperature* = {code}"]])
    running = box.stream()
    refused = running.until(lambda frame: frame["sequence"] >= 5)
    box.fail([["lost = 1"]])
    running.until(are("ok", "lost"))
    box.fail([[]])
    back = running.until(are("ok", "ok"))

    assert refused["gpus"][1]["metrics"]["temperature_c"] is None
    assert back["gpus"][1]["metrics"]["temperature_c"] == 60


@pytest.mark.parametrize("gpus", [0, 1, 64])
def test_a_box_of_any_size_is_read_by_every_command(box: Any, gpus: int) -> None:
    box.write(f"[box]\ngpus = {gpus}\nmodel = h100\n")
    assert len(box.snapshot()["gpus"]) == gpus
    for arguments in (["snapshot"], ["snapshot", "--format", "csv"], ["doctor", "--json"], ["stream", "--count", "2"]):
        done = box.command(*arguments)

        assert "Traceback" not in done.stderr, arguments


def test_layouts_that_change_all_the_time_are_followed(box: Any) -> None:
    layouts = ("7g.80gb", "3g.40gb@4, 1g.10gb@0", "1g.10gb*7", "2g.20gb/1c+1c, 4g.40gb@0", "none", "3g.40gb/none")
    plain = "[box]\ngpus = 2\nmodel = h100\n"
    split = plain + "[gpu 1]\nmig = 1\nmig.instances = {}\n[process]\npid = {}\nmigdev = 0\ngpu = 1\n"
    box.write(plain)
    running = box.stream()
    seen = [running.until(are("ok", "ok"))]
    for layout in layouts * 2:
        box.write(plain if layout == "none" else split.format(layout, box.pids[0]))
        seen += [running.until(lambda frame, past=seen[-1]["sequence"]: frame["sequence"] >= past + 8)]

    assert all(states(frame) == ["ok", "ok"] for frame in seen)
    assert all(before["sequence"] < after["sequence"] for before, after in pairwise(seen))
    assert all(compared(frame["gpus"][0], seen[-1]["gpus"][0], {}) == [] for frame in seen[1:])
