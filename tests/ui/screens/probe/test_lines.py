"""What the probe page shows while it runs: what is not known and why, and much in little room."""

from typing import Any

import pytest
from app_driver import SMALL, Stage, staged, text_on
from examples import frame, gpu
from msgspec.structs import replace
from probe_app import FAILED, FAULT, PROBE, REPORT, FakeProber

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED, POWER_AVERAGE
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame
from gputop.core.probing.progress import MOST_FINDINGS, Course, DeviceCourse
from gputop.core.probing.result import Figure, TestResult, TestStatus
from gputop.ui.screens.probe.page import ProbeScreen

FREE: dict[Metric[Any], Any] = {GPU_UTILIZATION: 0, MEMORY_USED: 2**20}


def held(values: dict[Metric[Any], Any] | None = None) -> Frame:
    return frame((gpu(0, FREE | (values or {})),), ())


def page(stage: Stage) -> str:
    assert isinstance(stage.app.screen, ProbeScreen)
    return text_on(stage.app.screen)


def a_course(**changes: Any) -> Course:
    usual: dict[str, Any] = {
        "label": "GPU 0", "uuid": "GPU-00000000", "gpu": "GPU-00000000", "wanted": ("a", "b"), "current": "a",
    }  # fmt: skip
    return Course(devices=(DeviceCourse(**(usual | changes)),))


@pytest.mark.parametrize(
    ("changes", "values", "told"),
    [
        ({"uuid": "CPU-0", "gpu": "", "label": "CPU 0"}, {}, "no temperature or power: this device is a CPU"),
        ({}, {POWER_AVERAGE: Missing.UNSUPPORTED}, f"no power draw: {Missing.UNSUPPORTED.text}"),
        ({"gpu": "GPU-gone"}, {}, "no temperature or power: gputop does not read this GPU"),
    ],
)  # fmt: skip
async def test_where_temperature_or_power_are_not_shown_it_says_why(
    changes: dict[str, Any], values: dict[Metric[Any], Any], told: str
) -> None:
    prober = FakeProber(PROBE)
    async with staged(held(values), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(course=a_course(**changes))
        await stage.pilot.pause()

        assert told in page(stage)


async def test_of_more_tests_than_lines_what_runs_and_what_failed_stay_in_sight() -> None:
    wanted = tuple(f"test{number:02}" for number in range(40))
    done = tuple(
        replace(FAILED, key=key) if key == "test03" else TestResult(key=key, status=TestStatus.PASS)
        for key in wanted[:30]
    )
    prober = FakeProber(PROBE)
    async with staged(held(), prober=prober, size=SMALL) as stage:
        await stage.press("X", "enter")
        prober.tell(course=a_course(wanted=wanted, tests=done, current="test30", text="812 GB/s, all 0x00"))
        await stage.pilot.pause()
        lines = page(stage).splitlines()

        assert len(lines) == SMALL[1]
        assert any(line.startswith(" ✗ FAIL     test03") for line in lines)
        assert any("▶ runs     test30" in line and "812 GB/s" in line for line in lines)
        assert any("✓ pass     test29" in line for line in lines)
        assert any("✓ pass     " in line and ": test00, test01, test02, test04" in line for line in lines)
        assert any("pending    9: test31, test32" in line for line in lines)


async def test_who_waits_for_others_says_so() -> None:
    prober = FakeProber(PROBE)
    async with staged(held(), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(course=a_course(is_waiting=True, current=None, left_s=44.0))
        await stage.pilot.pause()

        assert "44s left" in page(stage)
        assert "waiting" in page(stage)


async def test_what_went_wrong_over_all_devices_stands_above_the_tests_of_one() -> None:
    pairs = tuple(Figure(name=f"peer.0-{n}", value=2.5e11 + n * 1e9, unit="B/s") for n in range(1, 8))
    wrong = tuple(replace(FAULT, code="pairs.data", text=f"0 to {n}") for n in range(1, 10))
    joint = (TestResult(key="pairs", status=TestStatus.FAIL, figures=pairs, findings=wrong),)
    prober = FakeProber(PROBE)
    async with staged(held(), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(report=replace(REPORT, joint=joint))
        await stage.pilot.pause()
        text = page(stage)

        assert text.index("all devices together") < text.index("gemm.bf16")
        assert "7 peer, 251 GB/s to 257 GB/s" in text
        assert text.count("pairs.data: 0 to") == MOST_FINDINGS
        assert "and 3 more: gputop probe --json lists them all" in text
