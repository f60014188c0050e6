"""The main screen at every size: each GPU is shown or counted, nothing is cut without a word."""

import re
from itertools import product

import pytest
from app_driver import Stage, staged, text_of
from examples import NOW, frame, gpu

from gputop.core.model.finding import Finding, Subject
from gputop.core.model.finding import Stage as Gravity
from gputop.core.model.sample import GpuState

SIZES = ((40, 10), (80, 24), (120, 40), (200, 60), (400, 100))
LABELS = {"UTIL", "MEMORY", "POWER", "HOTTEST"}


def gpus_missing(stage: Stage, gpus: int) -> int:
    """Return how many GPUs have no number in the panel."""
    shown = re.sub(r"… \d+ more", "", stage.gpus)
    numbers = {int(text) for text in re.findall(r"(?<!\S)!?(\d+)(?=[^\d.%GW/°])", shown)}
    return len(set(range(gpus)) - numbers)


@pytest.mark.parametrize(("size", "gpus"), list(product(SIZES, (1, 8, 64))))
async def test_no_gpu_is_left_out_without_a_word(size: tuple[int, int], gpus: int) -> None:
    async with staged(frame(gpus), size=size) as stage:
        counted = re.search(r"… (\d+) more", stage.gpus)

        assert gpus_missing(stage, gpus) == (int(counted[1]) if counted else 0)
        assert bool(counted) == (gpus == 64 and size == (40, 10))


@pytest.mark.parametrize(("size", "gpus"), list(product(SIZES, (1, 8, 64))))
async def test_the_panels_fill_the_screen_exactly_and_nothing_scrolls(size: tuple[int, int], gpus: int) -> None:
    async with staged(frame(gpus), size=size) as stage:
        main = stage.app.main
        panels = [main.header, main.gpus, main.host, main.processes, main.footer]

        assert sum(panel.size.height for panel in panels if panel.display) == size[1]
        assert main.max_scroll_x == main.max_scroll_y == 0


@pytest.mark.parametrize(("width", "gpus"), list(product((40, 45, 50, 60, 70), (8, 64))))
async def test_no_total_is_a_label_without_its_value(width: int, gpus: int) -> None:
    async with staged(frame(gpus), size=(width, 10)) as stage:
        totals = stage.gpus.splitlines()[0].split()

        assert totals[0] == "UTIL"
        assert totals[-1] not in LABELS


async def test_a_click_on_the_number_of_gpus_that_do_not_fit_chooses_none() -> None:
    async with staged(frame(64), size=(40, 10)) as stage:
        at = stage.gpus.splitlines()[1].index("more")
        await stage.pilot.click("GpuPanel", offset=(at, 1))

        assert stage.app.view.focus is None


async def test_a_lost_gpu_keeps_its_place_in_the_smallest_display() -> None:
    gpus = (*(gpu(index) for index in range(7)), gpu(7, state=GpuState.LOST))
    async with staged(frame(gpus, ()), size=(40, 10)) as stage:
        assert " 7✕" in stage.gpus
        assert "1 does not answer" in stage.gpus


@pytest.mark.parametrize("key", ["f9", "f2", "3", "F"])
async def test_a_key_does_nothing_that_the_user_cannot_see(key: str) -> None:
    async with staged(frame(8), size=(30, 6)) as stage:
        await stage.press(key)

        assert stage.app.screen is stage.app.main
        assert stage.app.view.focus is None


async def test_the_keys_that_quit_work_in_the_smallest_terminal() -> None:
    async with staged(frame(8), size=(30, 6)) as stage:
        await stage.press("q")

        assert not stage.app.is_running


async def test_the_verdict_of_the_gravest_finding_is_not_cut_off_in_the_smallest_terminal() -> None:
    alarms = tuple(
        Finding(
            code=f"hang.{number}", stage=Gravity.ALARM, subject=Subject(label="job 90117.0"), since_s=NOW,
            stage_since_s=NOW, summary="hung for 6m29: 1 of 2 ranks waits in a collective",
        )
        for number in range(18)
    )  # fmt: skip
    async with staged(frame(8, findings=alarms), size=(40, 10)) as stage:
        shown = text_of(stage.app.main.findings.lines)

        assert "job 90117.0 · hung" in shown
        assert "+17: F" in shown


async def test_the_numbers_of_the_gpus_are_whole_on_the_narrowest_terminal() -> None:
    async with staged(frame(8), size=(40, 24)) as stage:
        rows = stage.gpus.splitlines()[1:]

        assert len(rows) == 8
        assert [row for row in rows if not re.search(r"/80\.0GiB .* +(\d+%|–)$", row.rstrip())] == []


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_the_keys_for_signals_details_and_findings_are_on_the_last_line(width: int) -> None:
    async with staged(frame(8), size=(width, 24)) as stage:
        assert {"F9 Signal", "Enter Details", "F Findings"} <= set(re.split(r"\s{2,}", stage.footer.strip()))
