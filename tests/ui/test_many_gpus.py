"""A box of 64 GPUs: all of them have a place on the screen, and each can be looked at, by keys and by the mouse."""

import re

import pytest
from app_driver import MIDDLE, SMALL, WIDE, Stage, staged
from examples import NOW, frame, gpu, process

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED, SM_ACTIVE
from gputop.core.model.finding import Finding, Subject
from gputop.core.model.finding import Stage as Gravity
from gputop.core.model.sample import Frame
from gputop.ui.screens.pages.gpu import GpuScreen

MANY = 64


def box(gpus: int = MANY) -> Frame:
    return frame(tuple(gpu(index) for index in range(gpus)), ())


async def clicked(stage: Stage, text: str) -> int | None:
    """Return which GPU is looked at after a click on a text of the panel."""
    row, line = next((y, line) for y, line in enumerate(stage.gpus.splitlines()) if re.search(text, line))
    found = re.search(text, line)
    await stage.pilot.click("GpuPanel", offset=(found.start() if found else 0, row))
    await stage.pilot.pause()
    return stage.app.view.focus


@pytest.mark.parametrize("size", [SMALL, MIDDLE, WIDE])
async def test_every_gpu_is_on_the_screen_and_processes_have_room(size: tuple[int, int]) -> None:
    async with staged(box(), size=size) as stage:
        numbers = set(re.findall(r"(?<!\S)\d+(?=\D)", stage.gpus))

        assert {str(index) for index in range(MANY)} <= numbers
        assert stage.app.main.processes.size.height >= 6


@pytest.mark.parametrize(
    ("size", "fields"),
    [
        (WIDE, ("NAME", "TEMP", "POWER", "MEMORY", "UTIL", "SM", "H100", "500/700W", "40.0/80.0GiB", " 37%")),
        (MIDDLE, ("TEMP", "POWER", "MEMORY", "UTIL", "500W", "40.0G")),
    ],
)
async def test_utilization_has_a_bar_like_memory_and_spare_columns_show_more(
    size: tuple[int, int], fields: tuple[str, ...]
) -> None:
    busy = tuple(gpu(index, {SM_ACTIVE: 37.0}) for index in range(MANY))
    async with staged(frame(busy), size=size) as stage:
        title, first, *_ = stage.gpus.splitlines()
        bars = [len(bar) for bar in re.findall(r"[━╸─]+", first)]
        columns = title.count("UTIL")

        assert all(field in title + first for field in fields)
        assert len(bars) == 2 * columns
        assert max(bars) - min(bars) <= 1


@pytest.mark.parametrize("size", [WIDE, MIDDLE])
async def test_each_of_many_gpus_carries_the_mark_of_its_finding_and_the_word_free(size: tuple[int, int]) -> None:
    alarm = Finding(
        code="hung", stage=Gravity.ALARM, subject=Subject(label="GPU 63", gpu="GPU-00000063"), summary="hung",
        since_s=NOW, stage_since_s=NOW,
    )  # fmt: skip
    idle = (*(gpu(index) for index in range(62)), gpu(62, {GPU_UTILIZATION: 0, MEMORY_USED: 0}), gpu(63))
    users = tuple(process(4711 + index, index) for index in range(MANY) if index != 62)
    async with staged(frame(idle, users, findings=(alarm,)), size=size) as stage:
        line = next(line for line in stage.gpus.splitlines() if " 62 " in line)

        assert re.search(r"(?<=\s)62 .*free +0%", line)
        assert "!63 " in stage.gpus


async def test_two_digits_in_a_row_are_one_number() -> None:
    async with staged(box()) as stage:
        await stage.press("6", "3", "i")
        screen = stage.app.screen

        assert stage.app.view.focus == 63
        assert isinstance(screen, GpuScreen)
        assert screen.gpu.index == 63


async def test_arrows_go_through_the_pages_of_all_gpus() -> None:
    async with staged(box(12)) as stage:
        await stage.press("i", "left")
        screen = stage.app.screen
        assert isinstance(screen, GpuScreen)
        title = screen.title_line()
        await stage.press("right", "right")

        assert title.startswith("GPU 11 ")
        assert screen.gpu.index == 1


async def test_a_digit_long_after_another_is_a_number_of_its_own() -> None:
    async with staged(box()) as stage:
        await stage.press("1")
        await stage.age(5.0)
        await stage.press("2")

        assert stage.app.view.focus == 2


async def test_a_second_digit_that_makes_no_gpu_is_a_number_of_its_own() -> None:
    async with staged(box(8)) as stage:
        await stage.press("1", "2")

        assert stage.app.view.focus == 2


@pytest.mark.parametrize("size", [SMALL, MIDDLE, WIDE])
@pytest.mark.parametrize("index", [0, 16, 31, 47, 63])
async def test_a_click_on_a_gpu_looks_at_that_one(size: tuple[int, int], index: int) -> None:
    async with staged(box(), size=size) as stage:
        assert await clicked(stage, rf"(?<!\S){index}(?=\D)") == index


async def test_a_click_beside_the_last_gpu_looks_at_none() -> None:
    async with staged(box(), size=SMALL) as stage:
        last = next(y for y, line in enumerate(stage.gpus.splitlines()) if " 63" in line)
        await stage.pilot.click("GpuPanel", offset=(60, last))
        await stage.pilot.pause()

        assert stage.app.view.focus is None


@pytest.mark.parametrize("key", ["i", "p"])
async def test_keys_of_a_gpu_say_that_there_is_none(key: str) -> None:
    async with staged(box(0)) as stage:
        await stage.press(key)

        assert "there is no GPU to show" in stage.messages


async def test_why_there_is_no_gpu_fits_a_small_screen() -> None:
    async with staged(box(0), size=SMALL) as stage:
        assert "--gpus all" in stage.gpus
        assert all(len(line) <= 80 for line in stage.gpus.splitlines())
