"""Each way to a dialog, up to what happens to the process of a simulated box."""

import pytest
from boxed import BoxStage, boxed

from gputop.core.model.finding import Finding, Stage, Subject
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.screen import MainScreen

STALLED, LAUNCHER, RANKS = 58_440, 61_002, (61_020, 61_021)


def found(stage: BoxStage, subject: Subject) -> Finding:
    assert stage.app.view.frame is not None
    since_s = stage.app.view.frame.time_s - 60
    return Finding(
        code="stalled.process",
        stage=Stage.ALARM,
        subject=subject,
        summary="stalled",
        since_s=since_s,
        stage_since_s=since_s,
    )


async def about(stage: BoxStage, pid: int) -> None:
    """Show a finding about a process."""
    stage.findings = [found(stage, Subject(label=str(pid), process=stage.process(pid).id))]
    await stage.tick()


async def test_f9_on_the_page_of_findings_ends_the_process_of_the_finding() -> None:
    async with boxed("trouble") as stage:
        await about(stage, STALLED)
        await stage.press("F", "f9", "p", "enter")

        assert await stage.running(STALLED) == []


@pytest.mark.parametrize("keys", [["f9", "enter"], ["K", "y"]])
async def test_a_signal_from_the_page_of_a_process_ends_it(keys: list[str]) -> None:
    async with boxed("trouble") as stage:
        await stage.select(STALLED)
        await stage.press("enter", keys[0], "p", keys[1])

        assert await stage.running(STALLED) == []


@pytest.mark.parametrize("keys", [["f9", "p", "enter"], ["k", "p", "enter"], ["K", "p", "y"]])
async def test_a_signal_from_the_table_ends_the_process_under_the_cursor(keys: list[str]) -> None:
    async with boxed("trouble") as stage:
        await stage.select(STALLED)
        await stage.press(*keys)

        assert await stage.running(STALLED) == []


async def test_a_signal_from_the_palette_ends_the_process_under_the_cursor() -> None:
    async with boxed("trouble") as stage:
        await stage.select(STALLED)
        await stage.press("colon", *"send a sig")
        while not isinstance(stage.app.screen, (SignalScreen, MainScreen)):
            await stage.press("enter")
        await stage.press("p", "enter")

        assert await stage.running(STALLED) == []


async def test_a_signal_to_a_process_that_was_clicked_ends_it() -> None:
    async with boxed("trouble") as stage:
        at = next(n for n, row in enumerate(stage.processes) if f"{STALLED}" in row)
        await stage.pilot.click("ProcessPanel", offset=(5, at))
        await stage.press("f9", "p", "enter")

        assert await stage.running(STALLED) == []


async def test_tagged_processes_all_end() -> None:
    async with boxed("trouble") as stage:
        for pid in RANKS:
            await stage.select(pid)
            await stage.press("space")
        await stage.press("f9", "enter")

        assert await stage.running(*RANKS) == []


async def test_the_whole_job_ends_after_j() -> None:
    async with boxed("trouble") as stage:
        await stage.select(RANKS[0])
        await stage.press("f9", "j", "enter")

        assert await stage.running(LAUNCHER, *RANKS) == []
