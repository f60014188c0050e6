"""The probe page: what is chosen, how it goes, how it is stopped, and what is left when it is closed."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, WIDE, Stage, staged, text_on
from examples import frame, gpu, process
from msgspec.structs import replace
from probe_app import PROBE, REPORT, RUNNING, FakeBox, FakeProber, fake_box

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.sample import ComputeInstance, DriverInfo, Frame, GpuInstance, GpuState
from gputop.core.probing.probe import Level
from gputop.core.probing.progress import Wish
from gputop.core.settings.settings import Settings
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.screens.probe.page import ProbeScreen
from gputop.ui.state.probe_choice import CPUS, candidates, first_choice
from gputop.wire.prober import ProbeClient, probe_command

__all__ = ["fake_box"]


def free(count: int = 3, used: tuple[int, ...] = (1,)) -> Frame:
    """Return a frame of GPUs of which only these are used."""
    gpus = tuple(gpu(n, {} if n in used else {GPU_UTILIZATION: 0, MEMORY_USED: 2**20}) for n in range(count))
    return frame(gpus, tuple(process(4711 + n, n) for n in used))


def page(stage: Stage) -> str:
    assert isinstance(stage.app.screen, ProbeScreen)
    return text_on(stage.app.screen)


def said(stage: Stage) -> str:
    return "\n".join(note for note in stage.messages)


async def until(stage: Stage, is_so: Callable[[], object]) -> None:
    """Wait for processes and threads, for as long as it takes on a slow machine."""
    end_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end_s, text_on(stage.app.screen)
        await stage.pilot.pause(0.02)


# --- choosing ----------------------------------------------------------------------------------------------------
async def test_free_gpus_are_chosen_and_of_those_in_use_it_says_who_uses_them() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober, size=WIDE) as stage:
        await stage.press("X")

        assert "[x] GPU 0  H100 80GB HBM3            free" in page(stage)
        assert "[ ] GPU 1  H100 80GB HBM3            in use: pid 4712, ann, 10.0GiB, python train.py" in page(stage)
        assert "◂ quick ▸   about 36s, 4 tests" in page(stage)
        await stage.press("enter")
        assert prober.wishes == [Wish(level=Level.QUICK, gpus=("GPU-00000000", "GPU-00000002"))]


async def test_a_gpu_in_use_is_tested_only_after_y() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "down", "space", "enter", "space", "space", "enter")
        assert not prober.wishes
        assert "only y tests it anyway" in said(stage)
        assert "may run out of memory" in page(stage)
        await stage.press("y")

        assert prober.wishes == [Wish(gpus=("GPU-00000000", "GPU-00000001", "GPU-00000002"), is_forced=True)]


async def test_a_gpu_that_somebody_begins_to_use_meanwhile_is_not_tested_by_enter() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(1, used=()), prober=prober) as stage:
        await stage.press("X")
        await stage.deliver(free(1, used=(0,)))
        await stage.press("enter")

        assert not prober.wishes


async def test_the_level_is_chosen_and_its_tests_named() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "right", "right", "left")
        assert "◂ standard ▸" in page(stage)
        assert "context, gemm.bf16, memory.address, soak" in page(stage)
        await stage.press("left", "left", "left", "right", "right", "right", "right", "enter")

        assert prober.wishes[0].level is Level.SOAK


async def test_nothing_chosen_starts_nothing() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(1, used=()), prober=prober) as stage:
        await stage.press("X", "space", "enter", "y")

        assert not prober.wishes
        assert "Select a device first" in said(stage)


async def test_on_a_simulated_box_cpus_stand_in_and_it_says_why() -> None:
    prober = FakeProber(PROBE)
    held = replace(free(), driver=DriverInfo(simulated="training"))
    async with staged(held, prober=prober, size=WIDE) as stage:
        await stage.press("X")
        assert "so they cannot be tested" in page(stage)
        assert "[x] 2 CPUs instead of GPUs" in page(stage)
        await stage.press("enter")

        assert prober.wishes == [Wish(cpus=2)]


def test_cpus_and_gpus_are_not_chosen_together() -> None:
    choice = first_choice(free())

    assert choice.toggled(CPUS).chosen == {CPUS}
    assert choice.toggled(CPUS).toggled("GPU-00000001").chosen == {"GPU-00000001"}


def test_a_split_gpu_is_in_use_only_where_all_its_parts_are() -> None:
    def split(*used: int) -> Frame:
        parts = tuple(
            GpuInstance(id=n, profile="1g", compute_instances=(ComputeInstance(id=0, uuid=f"MIG-{n}", name="1g"),))
            for n in (1, 2)
        )
        on = [process(n, 0) for n in used]
        held = tuple(replace(p, gpus=tuple(replace(use, gpu_instance=p.pid) for use in p.gpus)) for p in on)
        return frame((gpu(0, instances=parts),), held)

    assert [bool(one.users) for one in candidates(split(1))] == [False]
    assert [len(one.users) for one in candidates(split(1, 2))] == [2]


def test_a_lost_gpu_is_not_chosen_and_says_why() -> None:
    held = frame((gpu(0, state=GpuState.LOST, metrics={}),), ())

    assert first_choice(held).chosen == frozenset()
    assert "the GPU is lost" in candidates(held)[0].fault


# --- refusals ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{"settings": Settings(read_only=True)}, {"source": "box"}, {"prober": None}])
async def test_where_nothing_may_be_changed_there_is_no_page(options: dict[str, Any]) -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), **({"prober": prober} | options)) as stage:
        await stage.press("X")

        assert isinstance(stage.app.screen, MainScreen)
        assert said(stage)
        assert not prober.wishes


async def test_without_a_plugin_it_says_how_to_get_it() -> None:
    prober = FakeProber(None)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X")
        assert "pip install ./plugins/cuda-probe" in page(stage)
        await stage.press("enter", "y", "space", "right", "escape")

        assert not prober.wishes


# --- how it goes -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [SMALL, MIDDLE, WIDE])
async def test_each_device_has_progress_time_left_throughput_temperature_and_power(size: tuple[int, int]) -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober, size=size) as stage:
        await stage.press("X", "enter")
        prober.tell(course=RUNNING)
        await stage.pilot.pause()
        first, second = page(stage).splitlines()[1:3]

        assert all(text in first for text in (" 62% ", "12s left", "60°C", "500/700W", "soak"))
        assert ("3✓" if size == SMALL else "✓✓✓▶  soak") in first
        assert size == SMALL or "752.3 TFLOP/s" in first
        assert "– refused" in second
        assert size == SMALL or "pid 4712, ann" in second
        assert "▶ runs     soak" in page(stage)


async def test_the_tests_of_another_device_are_a_key_away() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(course=RUNNING)
        await stage.press("down")
        assert "pid 4712, ann" in page(stage)
        await stage.press("down", "down")

        assert "▶ runs     memory.address" in page(stage)
        passed = "✓ pass     gemm.bf16                 tflops 781 TFLOP/s (98% of expected, 100% of siblings)"
        assert passed in page(stage)


async def test_the_verdict_of_each_test_is_shown_with_what_was_found() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(report=REPORT)
        await stage.press("down", "down")

        assert "quick · ✗ FAIL · took 33s" in page(stage)
        assert "✓✓✗–  2 of 4 tests passed" in page(stage)
        assert "✗ FAIL     memory.address" in page(stage)
        assert "memory.wrong: chunk 0 word 12345: 1 bits differ" in page(stage)
        assert "– skipped  soak                      the worker died" in page(stage)
        await stage.press("enter")
        assert "Devices to test" in page(stage)


async def test_leaving_the_page_leaves_it_running_with_a_mark_and_its_end_is_told() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "enter", "escape")
        prober.tell(course=RUNNING)
        await stage.pilot.pause()
        assert " PROBE 48%, 20s left " in stage.header
        await stage.press("X")
        assert "62%" in page(stage)
        await stage.press("escape")
        prober.tell(report=REPORT)
        await stage.pilot.pause()
        assert " PROBE ✗ FAIL " in stage.header
        assert "✗ FAIL: press X to see it" in said(stage)
        await stage.press("X")
        assert "took 33s" in page(stage)
        await stage.press("escape")

        assert "PROBE" not in stage.header


async def test_a_probe_that_cannot_run_says_why() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(problem="torch is in none of: /usr/bin/python3. To get it: …")
        await stage.pilot.pause()

        assert "did not run" in page(stage)
        assert "torch is in none of" in page(stage)


async def test_text_of_a_worker_cannot_steer_the_terminal() -> None:
    device = replace(RUNNING.devices[0], reason="a\x1b[2Jb", status=REPORT.devices[1].status)
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober) as stage:
        await stage.press("X", "enter")
        prober.tell(course=replace(RUNNING, devices=(device,)))
        await stage.pilot.pause()

        assert "\x1b" not in page(stage)


# --- with real processes -----------------------------------------------------------------------------------------
def client() -> ProbeClient:
    return ProbeClient(PROBE, probe_command, lambda: 100.0)


def workers() -> list[int]:
    """Return the workers of this test that run."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and is_worker(name)]


def is_worker(pid: str) -> bool:
    try:
        is_ours = os.environ["FAKE_PROBE"].encode() in Path(f"/proc/{pid}/environ").read_bytes()
        return is_ours and b"fake_probe.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


async def test_workers_run_behind_the_screen_to_their_verdict(fake_box: FakeBox) -> None:
    prober = client()
    async with staged(replace(free(), driver=DriverInfo(simulated="x")), prober=prober) as stage:
        await stage.press("X", "enter")
        await until(stage, lambda: page(stage).count("alpha  7.0 TFLOP/s") == 2)
        assert "▶ runs     alpha" in page(stage)
        fake_box.let("alpha", "fault")
        await until(stage, lambda: page(stage).count("beta   7.0 TFLOP/s") == 2)
        await stage.press("escape", "down")
        assert stage.cursor is not None
        fake_box.let("beta")
        await until(stage, lambda: "PROBE ✗ FAIL" in stage.header)
        await stage.press("X")

        assert "✗ FAIL     CPU 0" in page(stage)
        assert "beta.wrong: word 5 differs" in page(stage)
        assert workers() == []


async def test_a_probe_is_stopped_by_a_key_and_what_was_found_so_far_is_kept(fake_box: FakeBox) -> None:
    async with staged(replace(free(), driver=DriverInfo(simulated="x")), prober=client()) as stage:
        await stage.press("X", "enter")
        fake_box.let("alpha")
        await until(stage, lambda: page(stage).count("beta   7.0 TFLOP/s") == 2)
        await stage.press("a")
        await until(stage, lambda: "took" in page(stage))

        assert "– aborted  CPU 0" in page(stage)
        assert "✓ pass     alpha" in page(stage)
        assert "– aborted  beta" in page(stage)
        assert workers() == []


@pytest.mark.usefixtures("fake_box")
async def test_leaving_gputop_ends_the_workers() -> None:
    async with staged(replace(free(), driver=DriverInfo(simulated="x")), prober=client()) as stage:
        await stage.press("X", "enter")
        await until(stage, lambda: page(stage).count("alpha  7.0 TFLOP/s") == 2)
        assert len(workers()) == 2
    end_s = time.monotonic() + 60
    while workers():
        assert time.monotonic() < end_s


@pytest.mark.usefixtures("fake_box")
async def test_a_gpu_of_a_simulated_box_is_refused_by_the_probe_itself() -> None:
    prober = ProbeClient(PROBE, lambda wish: probe_command(wish, ["--demo", "h200"]), lambda: 100.0)
    async with staged(free(1, used=()), prober=prober) as stage:
        await stage.press("X")
        prober.start(Wish(gpus=("0",), is_forced=True), lambda: None)
        await until(stage, lambda: prober.run is not None and prober.run.is_over)

        assert prober.run is not None
        assert "a simulated GPU cannot be tested" in prober.run.problem


async def test_verdicts_can_be_told_apart_without_signs_beyond_ascii() -> None:
    prober = FakeProber(PROBE)
    async with staged(free(), prober=prober, is_ascii=True) as stage:
        await stage.press("X", "enter")
        prober.tell(report=REPORT)
        await stage.pilot.pause()
        screen = stage.app.screen
        assert isinstance(screen, ProbeScreen)
        shown = "\n".join(strip.text for strip in screen.body.render_lines(screen.body.size.region))

        assert shown.isascii()
        assert "+ pass     GPU 0" in shown
        assert "- refused  GPU 1" in shown
        assert "x FAIL     GPU 2" in shown
