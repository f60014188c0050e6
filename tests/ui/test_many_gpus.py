"""A box of 64 GPUs: all of them have a place on the screen, and each can be looked at, by keys and by the mouse."""

import re

import pytest
from app_driver import MIDDLE, SMALL, WIDE, Stage, staged
from examples import frame, gpu

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
