"""Each way to a dialog, up to what happens to the process of a simulated box."""

import pytest
from app_driver import text_of, text_on
from boxed import BoxStage, boxed
from msgspec.structs import replace

from gputop.core.model.finding import Evidence, Finding, Stage, Subject
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.screens.pages.gpu import GpuScreen

ON_AN_INSTANCE = 30_411
OF_ANOTHER_USER = 52_377
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


async def down_to(stage: BoxStage, pid: int) -> None:
    """Move the cursor of the GPU page down to a process."""
    screen = stage.app.screen
    assert isinstance(screen, GpuScreen)
    for _ in range(100):
        if any(line.base == "cursor" and f"{pid}" in text_of([line]) for line in screen.body.lines):
            return
        await stage.press("down")
    raise AssertionError(text_of(screen.body.lines))


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize("keys", [["f9", "p", "enter"], ["K", "p", "y"], ["enter", "f9", "p", "enter"]])
async def test_a_signal_from_the_page_of_a_gpu_ends_the_process_under_its_cursor(
    keys: list[str], size: tuple[int, int]
) -> None:
    async with boxed("trouble", size=size) as stage:
        await stage.press(f"{stage.process(STALLED).gpus[0].gpu_index}", "i")
        await down_to(stage, STALLED)
        await stage.press(*keys)

        assert await stage.running(STALLED) == []


async def test_a_click_on_a_process_of_the_page_of_a_gpu_chooses_it_and_a_second_opens_it() -> None:
    async with boxed("trouble") as stage:
        await stage.press(f"{stage.process(STALLED).gpus[0].gpu_index}", "i")
        screen = stage.app.screen
        assert isinstance(screen, GpuScreen)
        at = next(n for n, line in enumerate(screen.body.lines) if f"{STALLED}" in text_of([line]))
        for _ in range(2):
            await stage.pilot.click(screen.body, offset=(5, at))
            await stage.pilot.pause()

        assert f"Process {STALLED}" in text_on(stage.app.screen)


async def test_f9_on_the_page_of_a_gpu_without_a_cursor_signals_nothing_and_says_what_to_do() -> None:
    async with boxed("trouble") as stage:
        await stage.press("i", "f9")

        assert isinstance(stage.app.screen, GpuScreen)
        assert stage.messages == ["Select a process first, with ↓."]


async def test_a_signal_from_the_palette_ends_the_process_under_the_cursor() -> None:
    async with boxed("trouble") as stage:
        await stage.select(STALLED)
        await stage.press("colon", *"send a sig")
        while not isinstance(stage.app.screen, (SignalScreen, MainScreen)):
            await stage.press("enter")
        await stage.press("p", "enter")

        assert await stage.running(STALLED) == []


async def test_a_signal_to_a_process_that_was_clicked_ends_it() -> None:
    async with boxed("trouble", size=(120, 50)) as stage:
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


async def test_a_job_without_a_known_launcher_is_not_the_first_target() -> None:
    async with boxed("trouble") as stage:
        await stage.select(58_440)
        await stage.press("f9", "enter")

        assert await stage.running(STALLED) == []


async def test_a_job_needs_a_word_before_enter_counts() -> None:
    async with boxed("trouble") as stage:
        await stage.select(RANKS[0])
        await stage.press("f9", "enter")

        assert await stage.running(LAUNCHER, *RANKS) == [LAUNCHER, *RANKS]


async def test_a_line_of_a_job_in_the_view_by_job_stands_for_the_job() -> None:
    async with boxed("trouble") as stage:
        await stage.press("v", "v")
        at = next(n for n, row in enumerate(stage.processes) if "slurm 90117" in row)
        await stage.pilot.click("ProcessPanel", offset=(5, at))
        await stage.press("f9", "enter")

        assert await stage.running(LAUNCHER, *RANKS) == []


async def test_a_signal_from_the_tree_ends_the_process_under_the_cursor() -> None:
    async with boxed("trouble") as stage:
        await stage.press("f5")
        await stage.select(STALLED)
        await stage.press("f9", "p", "enter")

        assert await stage.running(STALLED) == []


async def test_a_folded_launcher_of_the_tree_stands_for_its_workers() -> None:
    async with boxed("trouble") as stage:
        await stage.press("f5")
        await stage.select(LAUNCHER)
        await stage.press("minus", "f9", "enter")

        assert await stage.running(LAUNCHER, *RANKS) == []


async def test_a_line_of_a_user_in_the_view_by_user_stands_for_the_processes_of_the_user() -> None:
    async with boxed("trouble") as stage:
        await stage.press("A")
        at = next(n for n, row in enumerate(stage.processes) if "▶ ann" in row)
        await stage.pilot.click("ProcessPanel", offset=(5, at))
        await stage.press("f9", "enter")

        assert await stage.running(*RANKS, STALLED, OF_ANOTHER_USER) == [OF_ANOTHER_USER]


async def test_a_signal_from_a_mig_plan_ends_the_processes_in_its_way() -> None:
    async with boxed("mig") as stage:
        await stage.press("p", "e", *"7g")
        offered = text_on(stage.app.screen)
        await stage.press("f9", "enter")

        assert f"{ON_AN_INSTANCE} (ann)" in offered
        assert "to end it: press F9" in offered
        assert await stage.running(ON_AN_INSTANCE) == []


async def test_f9_on_a_mig_plan_that_nothing_blocks_signals_nothing() -> None:
    async with boxed("mig") as stage:
        before = {one.id for one in stage.app.view.frame.processes} if stage.app.view.frame else set()
        await stage.press("p", "e", "f9")

        assert stage.messages == ["no process is in the way of this layout"]
        assert {one.id for one in (await stage.tick()).processes} == before


async def test_f8_changes_one_process_and_ctrl_u_changes_it_back() -> None:
    async with boxed("trouble") as stage:
        await stage.select(RANKS[0])
        await stage.press("f8")
        await stage.tick()
        after = [stage.process(pid).nice for pid in (LAUNCHER, *RANKS)]
        await stage.press("ctrl+u")
        await stage.tick()

        assert after == [0, 1, 0]
        assert stage.process(RANKS[0]).nice == 0
        assert "Ctrl-U undoes it" in stage.messages[0]


async def test_an_undo_that_the_user_has_no_right_to_is_not_offered() -> None:
    async with boxed("training", own_user="ann") as stage:
        await stage.select(48_276)
        await stage.press("f8")
        warned = text_on(stage.app.screen)
        await stage.press("enter")

        assert "You cannot undo this" in warned
        assert "nice 1: 1 done" in stage.messages[0]
        assert "an undo needs root" in stage.messages[0]
        assert "Ctrl-U undoes it" not in stage.messages[0]


async def test_the_question_about_sigkill_names_no_key_that_does_nothing() -> None:
    async with boxed("trouble") as stage:
        await stage.select(RANKS[0])
        await stage.press("K")
        unsettled = text_on(stage.app.screen)
        await stage.press("y")
        still_open = isinstance(stage.app.screen, SignalScreen)
        await stage.press("p")
        settled = text_on(stage.app.screen)

        assert still_open
        assert "y  send it" not in unsettled
        assert "Press y" not in unsettled
        assert "or p for 61020 alone, before y." in unsettled
        assert "Send SIGKILL to 1 process? Press y." in settled


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_an_undo_of_several_processes_asks_first(key: str) -> None:
    async with boxed("trouble") as stage:
        for pid in RANKS:
            await stage.select(pid)
            await stage.press("space")
        await stage.press("r", "5", "enter")
        await stage.press("ctrl+u", key)
        await stage.tick()

        assert [stage.process(pid).nice for pid in RANKS] == ([0, 0] if key == "enter" else [5, 5])


async def test_a_signal_gives_one_message() -> None:
    async with boxed("trouble") as stage:
        await stage.select(STALLED)
        await stage.press("f9", "p", "enter")
        for _ in range(4):
            await stage.tick()
            await stage.age(1.0)

        assert len(stage.messages) == 1
        assert "SIGTERM: 1 process ended" in stage.messages[0]


async def test_a_finding_about_a_job_leads_to_its_odd_rank_and_marks_ranks_and_gpus() -> None:
    async with boxed("trouble") as stage:
        assert stage.app.view.frame is not None
        job = next(job for job in stage.app.view.frame.jobs if LAUNCHER in {one.pid for one in job.members})
        subject = Subject(label="job 90117.0", job=job.key, process=job.launcher)
        evidence = (Evidence("odd_pid", RANKS[1], "the odd rank: rank 1"),)
        stage.findings = [replace(found(stage, subject), evidence=evidence)]
        await stage.tick()
        marked = {name for name in (*RANKS, STALLED) if stage.process(name).id in stage.app.view.standing.marks}
        gpus = [gpu.index for gpu in stage.app.view.gpus if gpu.uuid in stage.app.view.standing.marks]
        await stage.press("F", "enter")

        assert marked == set(RANKS)
        assert gpus == [0, 1]
        assert stage.app.main.processes.selected is not None
        assert stage.app.main.processes.selected.process.pid == RANKS[1]
