"""The history page: reached from everywhere, honest about what is known, readable at every time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, WIDE, Stage, staged, text_of, text_on
from examples import GIB, NOW, frame, gpu

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED, POWER_AVERAGE
from gputop.core.model.finding import Finding, Subject
from gputop.core.model.finding import Stage as Gravity
from gputop.core.model.metric import Missing
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame
from gputop.core.recording.playback import Playing, Stretch
from gputop.ui.screens.pages.history import HistoryScreen

SECONDS = 200
PEAK = 77  # the second with the highest utilization


def at(second: int, **fields: Any) -> Frame:
    busy = {GPU_UTILIZATION: 99 if second == PEAK else 10, MEMORY_USED: (10 + second // 20) * GIB}
    gpus = (gpu(0, busy), gpu(1, {GPU_UTILIZATION: 50, POWER_AVERAGE: Missing.UNSUPPORTED}))
    return frame(gpus, time_s=NOW + second, **fields)


HUNG = Finding(
    code="stuck.collective", stage=Gravity.ALARM, subject=Subject(label="4711", process=ProcessId(4711, 47_110)),
    since_s=NOW + 100, stage_since_s=NOW + 100, summary="hung: rank 1 waits",
)  # fmt: skip


@asynccontextmanager
async def recorded(
    *keys: str, size: tuple[int, int] = MIDDLE, gap: range = range(0), **options: Any
) -> AsyncIterator[Stage]:
    """Play 200 s with a peak, and a finding from 100 s to 120 s; then press the keys."""
    async with staged(size=size, **options) as stage:
        for second in range(1, SECONDS):
            if second not in gap:
                stage.app._store.take(at(second, findings=(HUNG,) if 100 <= second < 120 else ()))
        await stage.deliver(at(SECONDS))
        await stage.press(*keys)
        yield stage


def shown(stage: Stage) -> list[str]:
    assert isinstance(stage.app.screen, HistoryScreen)
    return text_of(stage.app.screen.body.lines).split("\n")


def row(stage: Stage, start: str) -> str:
    return next(line for line in shown(stage) if line.startswith(start))


@pytest.mark.parametrize("keys", [("b",), ("i", "b"), ("1", "b"), ("down", "enter", "b")])
async def test_history_opens_from_the_main_screen_and_both_pages(keys: tuple[str, ...]) -> None:
    async with recorded(*keys) as stage:
        assert isinstance(stage.app.screen, HistoryScreen)
        wanted = "process 4711" if "enter" in keys else "GPU 1" if "1" in keys else "GPU 0"
        assert wanted in stage.app.screen.title_line()

        await stage.press("escape")

        assert not isinstance(stage.app.screen, HistoryScreen)


async def test_the_page_says_since_when_and_in_which_steps_values_are_known() -> None:
    async with recorded("b") as stage:
        assert "since 08:00:00" in shown(stage)[0]
        assert "every 1 s" in shown(stage)[0]
        assert "3m20 so far, at most 1h00 is kept" in shown(stage)[0]


async def test_a_peak_of_one_second_is_visible_in_an_hour() -> None:
    async with recorded("b", "minus", "minus", size=SMALL) as stage:
        assert "1h00 shown" in row(stage, "1h00")
        screen = stage.app.screen
        assert isinstance(screen, HistoryScreen)
        top = row(stage, "UTIL")[16:]

        assert len(top.strip()) == 1


async def test_the_cursor_reads_all_values_of_its_time() -> None:
    async with recorded("b", "plus") as stage:
        await stage.press("less_than_sign", "less_than_sign", "less_than_sign")
        columns = 0
        while "99%" not in row(stage, "UTIL"):
            await stage.press("left")
            columns += 1
            assert columns < 200

        assert "at 08:01:1" in shown(stage)[1]
        assert "13.0GiB" in row(stage, "MEM")
        assert "▲" in shown(stage)[-1]

        await stage.press("escape")

        assert "now 08:03:20" in shown(stage)[1]
        assert "10%" in row(stage, "UTIL")


async def test_time_without_frames_is_a_gap() -> None:
    async with recorded("b", gap=range(60, 120)) as stage:
        low = shown(stage)[shown(stage).index(row(stage, "MEM")) - 1][16:]
        assert "  " * 5 in low.strip()

        await stage.press(*["left"] * 45)

        assert row(stage, "UTIL").split()[1][0] == "–"


async def test_a_missing_metric_says_why() -> None:
    async with recorded("b", "1") as stage:
        assert "not supported by this GPU or its mode" in row(stage, "PWR")


async def test_the_comparison_begins_with_the_chosen_gpu_and_a_key_adds_all() -> None:
    async with recorded("1", "b", "tab") as stage:
        assert "GPU utilization · GPU 1" in stage.app.screen.title_line()  # type: ignore[attr-defined]
        assert not any(line.startswith("GPU 0") for line in shown(stage))

        await stage.press("A")

        assert "GPU utilization · GPU 0 1" in stage.app.screen.title_line()  # type: ignore[attr-defined]

        await stage.press("A")

        assert len([line for line in shown(stage) if line.startswith("GPU ")]) == 1


async def test_the_curves_of_several_gpus_lie_over_each_other_in_colours_of_their_own() -> None:
    async with recorded("b", "tab", "1") as stage:
        screen = stage.app.screen
        assert isinstance(screen, HistoryScreen)
        lines = [line for line in screen.body.lines if line.spans]
        low, high = (
            next(ink for line in lines for text, ink in line.spans[:1] if text.startswith(name))
            for name in ("GPU 0", "GPU 1")
        )
        rows = {
            ink: [n for n, line in enumerate(lines) if ink in {i for _, i in line.spans[1:]}] for ink in (low, high)
        }

        assert low != high
        assert max(rows[high]) < max(rows[low])


async def test_in_ascii_each_curve_is_drawn_with_the_number_of_its_gpu() -> None:
    async with recorded("b", "tab", "1", is_ascii=True) as stage:
        plot = [line[16:] for line in shown(stage)[4:-1]]

        assert set("".join(plot)) == {" ", "0", "1"}


async def test_several_gpus_share_one_axis_and_digits_choose_them() -> None:
    async with recorded("b", "tab", "1") as stage:
        assert "GPU utilization · GPU 0 1" in stage.app.screen.title_line()  # type: ignore[attr-defined]
        assert "10%" in row(stage, "GPU 0")
        assert "50%" in row(stage, "GPU 1")

        await stage.press("0")

        assert not any(line.startswith("GPU 0") for line in shown(stage))

        await stage.press("tab")

        assert "Memory used" in text_on(stage.app.screen)


async def test_a_finding_is_marked_from_its_beginning_to_its_end() -> None:
    async with recorded("b", "minus") as stage:
        bar = row(stage, "4711")

        assert "├" in bar
        assert "┤" in bar
        assert "hung" in bar


async def test_a_finding_stays_marked_after_its_process_has_exited_and_only_on_its_gpu() -> None:
    async with recorded("b", "minus") as stage:
        await stage.deliver(at(SECONDS + 1, processes=()))
        assert "┤" in row(stage, "4711")

        await stage.press("1")

        assert not any(line.startswith("4711") for line in shown(stage))

        await stage.press("tab", "0")

        assert sum(line.startswith("4711") for line in shown(stage)) == 1


async def test_a_jump_in_a_recording_leaves_no_values_or_findings_of_another_time() -> None:
    async with recorded("b", "minus") as stage:
        later = at(90_000)
        await stage.deliver(Stretch(Playing(), (later,), later, is_jump=True))

        assert "since 08:59:59" in shown(stage)[0]
        assert not any(line.startswith("4711") for line in shown(stage))


async def test_a_finding_of_another_time_is_not_marked() -> None:
    async with recorded("b", "plus", "plus") as stage:
        assert not any(line.startswith("4711") for line in shown(stage))


async def test_the_page_follows_new_frames_and_stays_at_a_time_in_the_past() -> None:
    async with recorded("b", "plus", "plus") as stage:
        await stage.deliver(at(SECONDS + 1))
        assert "now 08:03:21" in shown(stage)[1]
        await stage.press("less_than_sign")
        before = shown(stage)[1].partition("·")[0]

        await stage.deliver(at(SECONDS + 2))

        assert shown(stage)[1].partition("·")[0].split("  ")[1:] == before.split("  ")[1:]


@pytest.mark.parametrize("size", [(40, 10), SMALL, WIDE])
@pytest.mark.parametrize("keys", [("b",), ("b", "tab"), ("down", "enter", "b")])
async def test_the_page_fits_every_terminal(size: tuple[int, int], keys: tuple[str, ...]) -> None:
    async with recorded(*keys, "left", "plus", "less_than_sign", size=size) as stage:
        assert shown(stage)
