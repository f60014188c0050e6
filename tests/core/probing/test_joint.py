"""Tests over all devices, siblings, and boxes of a Slurm job, by values made by hand."""

from collections.abc import Mapping
from typing import Any

import pytest
from gputop_cuda_probe.plugin import PLUGIN

from gputop.core.probing.baseline import name_of
from gputop.core.probing.joint import Group, judge_together
from gputop.core.probing.judge import Known, judge
from gputop.core.probing.reference import Entry, Expected
from gputop.core.probing.result import DeviceResult, Figure, TestFinding, TestResult, TestStatus
from gputop.core.probing.slurm import Station, first_host, station

PROBE = PLUGIN.probes[0]
TABLE = (Entry("H100", {"busbw": Expected(450e9, "S", "measured")}), Entry("T4", {"busbw": Expected(10e9, "", "spec")}))
GPUS = Group(kind="cuda", name="NVIDIA H100", entries=TABLE)


def made(key: str, figures: Mapping[str, float], **params: Any) -> TestResult:
    held = tuple(Figure(name=name, value=value, unit="B/s") for name, value in figures.items())
    return TestResult(key=key, status=TestStatus.PASS, figures=held, params=params)


def judged(test: TestResult, group: Group = GPUS) -> list[tuple[str, str, str]]:
    found = judge_together([test], PROBE, group)[0].findings
    return [(finding.code, finding.status.value, finding.text) for finding in found]


def test_a_pair_is_compared_with_pairs_of_its_kind() -> None:
    speeds = {"peer.0-1": 250e9, "peer.1-0": 250e9, "peer.0-2": 190e9, "staged.0-3": 20e9, "staged.3-0": 19e9}

    assert judged(made("pairs", speeds)) == [("straggler.peer", "warn", "peer.0-2: 76% of the others")]


def test_the_gpu_that_all_slow_pairs_have_in_common_is_named() -> None:
    speeds = {f"peer.{a}-{b}": 10e9 if 3 in (a, b) else 250e9 for a in range(8) for b in range(8) if a != b}
    found = judged(made("pairs", speeds))

    assert len(found) == 8
    assert all(text.endswith("; 3 is in all slow pairs") for _, _, text in found)


@pytest.mark.parametrize(
    ("name", "speed", "ranks", "status"),
    [
        ("NVIDIA H100", 383e9, 8, None), ("NVIDIA H100", 380e9, 8, "fail"), ("NVIDIA H100", 1e9, 4, None),
        ("NVIDIA T4", 8e9, 8, "warn"), ("NVIDIA X", 1, 8, None),
    ],
)  # fmt: skip
def test_sums_are_compared_with_the_table_for_as_many_gpus_by_the_largest(
    name: str, speed: float, ranks: int, status: str | None
) -> None:
    test = made("collective.allreduce", {"time.1MiB": 1e-4, "busbw.256MiB": 1e9, "busbw.4GiB": speed}, ranks=ranks)
    found = judged(test, Group(kind="cuda", name=name, entries=TABLE))

    assert [(code, status) for code, status, _ in found] == ([("expected.busbw", status)] if status else [])


def test_what_somebody_asks_for_is_the_least() -> None:
    test = made("collective.allreduce", {"busbw.4GiB": 400e9})

    assert judged(test, Group(kind="cuda", name="X", least_busbw=431e9))[0][:2] == ("limit.busbw", "fail")
    assert judged(test, Group(kind="cuda", name="X", least_busbw=399e9)) == []


def test_speed_is_unclear_while_somebody_uses_a_gpu() -> None:
    test = made("pairs", {"peer.0-1": 250e9, "peer.1-0": 25e9})

    assert judged(test, Group(kind="cuda", name="X", is_busy=True))[0][1] == "inconclusive"


def soaked(number: int, celsius: float, clock: float, tflops: float, *findings: TestFinding) -> DeviceResult:
    figures = (
        Figure(name="tflops", value=tflops, unit="TFLOP/s"), Figure(name="clock", value=clock, unit="Hz"),
        Figure(name="temperature", value=celsius, unit="°C"),
    )  # fmt: skip
    test = TestResult(key="soak", status=TestStatus.PASS, figures=figures, findings=findings)
    return DeviceResult(label=f"GPU {number}", uuid=f"GPU-{number}", name="H", kind="cuda", tests=(test,))


def test_a_gpu_that_is_much_warmer_than_its_siblings_is_told() -> None:
    found = judge([soaked(n, 85 if n == 2 else 70, 1.9e9, 700) for n in range(4)], PROBE, Known())

    assert [[finding.code for finding in device.tests[0].findings] for device in found] == [
        [], [], ["straggler.temperature"], [],
    ]  # fmt: skip


def test_a_straggler_is_told_with_what_explains_it() -> None:
    hot = TestFinding(
        code="soak.hardware_thermal", status=TestStatus.FAIL, text="clocks were lowered for hardware thermal"
    )
    held = [soaked(n, 70, 1.9e9, 700) for n in range(3)] + [soaked(3, 75, 1.5e9, 560, hot)]
    found = {finding.code: finding for finding in judge(held, PROBE, Known())[3].tests[0].findings}

    assert found["straggler.clock"].status is TestStatus.FAIL
    assert found["straggler.tflops"].text == (
        "tflops: 80% of its siblings; its clock is 79% of theirs; clocks were lowered for hardware thermal"
    )


SLURM = {
    "SLURM_NNODES": "4", "SLURM_NTASKS": "4", "SLURM_NODEID": "2", "SLURM_JOB_NODELIST": "gpu[07-10]",
    "SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "1",
}  # fmt: skip


def test_each_box_of_a_job_finds_the_same_place_to_meet() -> None:
    found = station(SLURM)

    assert found is not None
    assert (found.boxes, found.number, found.head) == (4, 2, "gpu07")
    assert station(SLURM | {"SLURM_NODEID": "0"}) == Station(4, 0, "gpu07", found.port)
    assert station(SLURM | {"SLURM_JOB_ID": "4712"}) != found


@pytest.mark.parametrize(
    "other",
    [
        {"SLURM_NNODES": "1", "SLURM_NTASKS": "1"}, {"SLURM_NTASKS": "32"}, {"SLURM_NODEID": ""},
        {"SLURM_JOB_NODELIST": ""}, {"SLURM_NNODES": "four"},
    ],
)  # fmt: skip
def test_one_box_and_several_tasks_on_a_box_are_no_several_boxes(other: dict[str, str]) -> None:
    assert station(SLURM | other) is None


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("a", "a"), ("a,b", "a"), ("gpu[07-12,19]", "gpu07"), ("gpu[3,5-7]-x,login", "gpu3-x"),
        ("r[1-2]n[04-08]", "r1n04"), ("", ""),
    ],
)  # fmt: skip
def test_the_first_host_of_a_list_is_found(names: str, first: str) -> None:
    assert first_host(names) == first


def test_a_pair_that_was_faster_before_is_told_and_times_are_given_more_room() -> None:
    past = {"pairs.peer.0-1": 250e9, "pairs.peer.1-0": 250e9, "collective.allreduce.time.1MiB": 30e-6}
    group = Group(kind="cuda", name="NVIDIA H100", past=past)
    slower = made("pairs", {"peer.0-1": 249e9, "peer.1-0": 222e9})
    later = made("collective.allreduce", {"time.1MiB": 45e-6})
    late = made("collective.allreduce", {"time.1MiB": 65e-6})

    assert judged(slower, group) == [("baseline.peer", "fail", "peer.1-0: 89% of its own baseline")]
    assert judged(later, group) == []
    assert judged(late, group) == [("baseline.time", "warn", "time.1MiB: 46% of its own baseline")]


def test_other_devices_another_order_and_another_number_of_boxes_have_another_past() -> None:
    names = {
        name_of(devices, boxes)
        for devices, boxes in (
            (((0, "a"), (1, "b")), 1), (((0, "b"), (1, "a")), 1), (((0, "a"), (1, "c")), 1), (((0, "a"), (1, "b")), 2),
        )
    }  # fmt: skip

    assert len(names) == 4
