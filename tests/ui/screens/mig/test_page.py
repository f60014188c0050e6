"""MIG on the screen: what is, what could be, what is asked before it is changed, and how that ended."""

import pytest
from app_driver import SMALL, WIDE, staged, text_of, text_on
from examples import frame, gpu
from mig_app import BoxLink, MigStage, OffLink, SlowLink, mig_staged
from mig_boards import H100, board, instance
from msgspec.structs import replace

from gputop.core.mig.answers import MigBox
from gputop.core.mig.explain import answer
from gputop.core.mig.model import Holders, MigGpu, User
from gputop.core.mig.request import read_request
from gputop.core.mig.steps import Plan
from gputop.core.model.metric import Missing
from gputop.core.protocol.command import ReadMig
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.core.settings.settings import Settings
from gputop.ui.render.line import length
from gputop.ui.screens.dialogs.outcome import OutcomeScreen
from gputop.ui.screens.mig.apply_dialog import MigApplyScreen
from gputop.ui.screens.mig.lines import bar_lines, mig_page, paragraph
from gputop.ui.screens.mig.page import MigScreen
from gputop.ui.screens.mig.plan_dialog import MigPlanScreen
from gputop.ui.screens.pages.gpu import GpuScreen


def names(stage: MigStage, index: int = 0) -> list[str]:
    return [one.text for one in stage.box.gpus[index].instances]


async def typed(stage: MigStage, request: str) -> None:
    keys = {",": "comma", ".": "full_stop", "+": "plus", "-": "minus", "=": "equals_sign"}
    await stage.press(*(keys.get(sign, sign) for sign in request))


def words(text: str) -> str:
    """Return text without its frame and the ends of its lines."""
    return " ".join(text.replace("│", " ").split())


AS_IT_WAS = ["2g.10gb@0", "1g.5gb@2", "1g.5gb@3", "3g.20gb@4"]


async def test_the_page_shows_instances_with_place_processes_memory_activity_and_owner() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("2", "p")

        assert "4g.40gb@0  GPU instance 1 · 64 SMs · memory 4.0GiB of 9.0GiB" in stage.page
        assert "active: compute 91% · SMs 73% · tensor 43% · DRAM 57%" in stage.page
        assert "● 41007 (dora) [Slurm 84213] tritonserver" in stage.page
        assert "2c@2 MIG-8e96dfbe-f991-ef28-6098-be92179f8e04" in stage.page
        assert "no room for 1g.20gb: at slot 6 it overlaps 1g.10gb@6●" in stage.page


async def test_activity_that_there_is_not_has_its_reason_once() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("p")

        assert "All instances" in stage.page
        assert stage.page.count("active: – not yet") == 1


def test_the_bar_tells_used_idle_and_free_slots_apart_without_colours() -> None:
    split = board(H100, instance(H100, "3g.40gb", 4, users=1), instance(H100, "1g.10gb", 1))
    numbers, blocks, labels, _ = [text_of([line]) for line in bar_lines(split, 64)]

    assert [numbers.index(str(slot)) for slot in range(8)] == [0, 8, 16, 24, 32, 40, 48, 56]
    assert blocks == "╌" * 7 + " " + "▄" * 7 + " " + ("╌" * 7 + " ") * 2 + "█" * 31 + " "
    assert labels.split() == ["free", "1g.10gb", "free", "free", "3g.40gb"]


def test_a_name_that_has_no_room_in_its_slot_goes_without_its_memory() -> None:
    split = board(H100, instance(H100, "1g.10gb+me", 0))

    assert text_of([bar_lines(split, 64)[2]]).split()[0] == "1g+me"


def test_a_paragraph_with_signs_that_take_two_cells_stays_within_its_width() -> None:
    lines = paragraph("= stays 2g.10gb@0 (1 (bob) python 训练训练训练训练 --批量 16 模型模型模型)", 40, indent=2)

    assert len(lines) > 1
    assert all(length(line.spans) <= 40 for line in lines)


async def test_the_arrows_go_from_gpu_to_gpu() -> None:
    async with mig_staged() as stage:
        await stage.press("p", "right")
        assert "GPU 1" in stage.page
        assert "MIG off" in stage.page
        await stage.press("left", "left")

        assert "GPU 2" in stage.page


async def test_it_opens_from_the_page_of_a_gpu_on_that_gpu() -> None:
    async with mig_staged() as stage:
        await stage.press("2", "i", "p")
        assert "GPU 2" in stage.page
        await stage.press("escape")

        assert isinstance(stage.app.screen, GpuScreen)


def page_of(one: MigGpu) -> str:
    return text_of(mig_page(one, None, None, 100))


def test_a_gpu_without_mig_says_why() -> None:
    lone = replace(board(H100), is_on=None, why="this GPU has no MIG: only A100, H100 and the like have it")

    assert "cannot be partitioned: this GPU has no MIG: only A100" in page_of(lone)


def test_a_mode_that_waits_for_a_reset_is_told() -> None:
    assert "MIG off, on after a reset" in page_of(replace(board(H100), is_on=False, is_on_next=True))


def test_without_the_right_to_see_places_it_says_so_and_shows_what_it_can() -> None:
    unplaced = replace(instance(H100, "3g.40gb", 4, users=1), start=None, size=None)
    page = page_of(board(H100, unplaced, missing={"placements": Missing.FORBIDDEN}))

    assert "Read access to the device file" in words(page)
    assert "MIG-3g.40gb-4-0" in page
    assert "(ann) python" in page
    assert "cannot say what fits: cannot read its placements: no permission" in page
    assert "█" not in page


async def test_planning_begins_with_the_layout_that_is_and_enter_does_nothing_then() -> None:
    async with mig_staged() as stage:
        await stage.press("p", "e")
        assert "current layout" in stage.dialog
        await stage.press("enter")

        assert isinstance(stage.app.screen, MigPlanScreen)


async def test_a_chosen_layout_has_its_plan_below() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("p", "e", "down", "down")

        assert "= stays   2g.10gb@0 (30562 (bob)" in stage.dialog
        assert "- destroy 1g.5gb@3" in stage.dialog
        assert not stage.box.mig_changes


async def test_what_is_typed_narrows_the_layouts_down_and_is_a_request_itself() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("p", "e")
        await typed(stage, "+me")
        screen = stage.app.screen
        assert isinstance(screen, MigPlanScreen)
        assert screen.listed[1:] == ["3g.20gb,2g.10gb,1g.5gb,1g.5gb+me"]
        await stage.press("ctrl+u")
        await typed(stage, "-1g.5gb")

        assert "- destroy 1g.5gb@3" in stage.dialog


async def test_a_beginning_of_a_layout_stands_for_the_layout() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("p", "e")
        await typed(stage, "+m")
        screen = stage.app.screen
        assert isinstance(screen, MigPlanScreen)

        assert screen.marked == "3g.20gb,2g.10gb,1g.5gb,1g.5gb+me"


async def test_a_request_that_is_none_is_pointed_out_and_not_carried_out() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("p", "e")
        await typed(stage, "9g.99gb")
        await stage.press("enter")

        assert isinstance(stage.app.screen, MigPlanScreen)
        assert "9g.99gb" in stage.dialog


async def test_who_is_in_the_way_is_named_with_what_ends_them() -> None:
    async with mig_staged(size=WIDE) as stage:
        await stage.press("p", "e")
        await typed(stage, "7g")

        assert "not possible: blocked" in stage.dialog
        assert "● 30411 (ann) python finetune.py" in stage.dialog
        assert "to end it: press F9" in words(stage.dialog)
        assert "possible now: 3g.20gb,2g.10gb,2x1g.5gb" in words(stage.dialog)


@pytest.mark.parametrize("key", ["enter", "space", "n", "escape", "q", "e", "p"])
async def test_no_key_but_y_carries_a_plan_out(key: str) -> None:
    async with mig_staged() as stage:
        await asked(stage)
        await stage.press(key)

        assert not stage.box.mig_changes
        assert names(stage) == AS_IT_WAS


async def asked(stage: MigStage) -> MigApplyScreen:
    """Go to the question whether the idle instance of GPU 0 is to become one with media engines."""
    await stage.press("p", "e", "down", "enter")
    screen = stage.app.screen
    assert isinstance(screen, MigApplyScreen)
    await stage.pilot.pause(0.05)
    return screen


async def test_the_question_shows_the_plan_warnings_and_the_same_with_nvidia_smi() -> None:
    async with mig_staged(BoxLink(warnings=("NVIDIA's MIG manager is at home here",)), size=WIDE) as stage:
        await asked(stage)

        assert "+ create 1g.5gb+me@3" in stage.dialog
        assert "MIG manager is at home" in stage.dialog
        assert "nvidia-smi mig -i 0 -gi 11 -dgi" in stage.dialog


HELD = Holders((User(pid=7, user="root", command="nv-hostengine", how="sudo systemctl stop nvidia-dcgm"),), unseen=3)


async def test_who_has_the_gpu_open_is_told_before_its_mode_is_changed() -> None:
    async with mig_staged(OffLink(HELD), size=WIDE) as stage:
        await stage.press("p", "e", "enter")

        assert "! has the GPU open: 7 (root) nv-hostengine to end it: sudo systemctl stop nvidia-dcgm" in words(
            stage.dialog
        )
        assert "! cannot see the open files of 3 processes: run gputop with sudo" in stage.dialog
        assert "y apply the plan" in stage.dialog


@pytest.mark.parametrize(
    ("holders", "said"), [(None, "! cannot see which processes have the GPU open"), (Holders(), "No process seems")]
)
async def test_that_nobody_or_an_unknown_has_the_gpu_open_is_told_too(holders: Holders | None, said: str) -> None:
    async with mig_staged(OffLink(holders), size=WIDE) as stage:
        await stage.press("p", "e", "enter")

        assert said in stage.dialog


async def test_a_mode_is_not_changed_before_it_is_told_who_has_the_gpu_open() -> None:
    async with mig_staged(OffLink(HELD, is_slow=True), size=WIDE) as stage:
        await stage.press("p", "e", "enter")
        await stage.pilot.pause(0.05)
        await stage.press("y")

        assert "(y disabled until checked)" in stage.dialog
        assert not stage.box.mig_changes


async def test_processes_are_walked_through_only_where_the_mode_is_to_change() -> None:
    async with mig_staged(size=WIDE) as stage:
        await asked(stage)

        assert not any(one.holders_of for one in stage.box.sent if isinstance(one, ReadMig))


async def test_what_is_typed_while_the_layout_is_read_reaches_the_plan_dialog() -> None:
    async with mig_staged(link := SlowLink()) as stage:
        await stage.press("p", "e")
        await typed(stage, "all=1g")
        assert "then the plan opens" in stage.page

        link.answer_all()
        await stage.pilot.pause()
        planning = stage.app.screen
        assert isinstance(planning, MigPlanScreen)
        assert planning.text == "all=1g"


async def test_keys_typed_ahead_choose_a_plan_and_never_confirm_it() -> None:
    async with mig_staged(link := SlowLink()) as stage:
        await stage.press("p", "e", "down", "enter", "y", "y", "enter")
        link.answer_all()
        await stage.pilot.pause()

        assert isinstance(stage.app.screen, MigApplyScreen)
        assert stage.app.screen.change_id == ""
        assert names(stage) == AS_IT_WAS


async def test_esc_while_the_layout_is_read_opens_no_dialog() -> None:
    async with mig_staged(link := SlowLink()) as stage:
        await stage.press("p", "e", "escape")
        link.answer_all()
        await stage.pilot.pause()

        assert isinstance(stage.app.screen, MigScreen)


async def test_the_usual_layouts_stand_first() -> None:
    async with mig_staged(OffLink(HELD), size=WIDE) as stage:
        await stage.press("p", "e")

        screen = stage.app.screen
        assert isinstance(screen, MigPlanScreen)
        assert screen.listed[:7] == [
            "on",
            "7g.80gb",
            "2x3g.40gb",
            "3x2g.20gb",
            "4x1g.20gb",
            "7x1g.10gb",
            "4g.40gb,3g.40gb",
        ]


@pytest.mark.parametrize(("is_on", "offered"), [(False, ["off"]), (True, ["on"])])
def test_while_a_mode_waits_for_a_reset_only_taking_it_back_is_offered(*, is_on: bool, offered: list[str]) -> None:
    waiting = board(H100, is_on=is_on, is_on_next=not is_on)
    screen = MigPlanScreen(waiting, refusal="")

    assert screen.listed == offered
    assert isinstance(screen.answer(screen.marked), Plan)


async def test_y_carries_it_out_and_says_what_uses_the_new_instances() -> None:
    async with mig_staged(size=WIDE) as stage:
        await asked(stage)
        await stage.press("y")
        assert "done and verified" in stage.dialog
        assert names(stage) == ["2g.10gb@0", "1g.5gb@2", "1g.5gb+me@3", "3g.20gb@4"]
        new = stage.box.gpus[0].instances[2].computes[0].uuid
        await stage.pilot.pause()
        assert stage.dialog.index(f"CUDA_VISIBLE_DEVICES={new}") < stage.dialog.index("# 2g.10gb@0")
        await stage.press("escape")

        assert "1g.5gb+me@3" in stage.page


async def test_a_plan_for_a_gpu_that_somebody_else_changed_meanwhile_is_not_carried_out() -> None:
    async with mig_staged(size=WIDE) as stage:
        await asked(stage)
        link = stage.box
        first = link.gpus[0]
        found = answer(first, read_request("-1g.5gb", first))
        assert isinstance(found, Plan)
        link.held.partitioner.change(found, lambda *_: None)
        stage.mig.ask()
        await stage.pilot.pause()
        await stage.press("y")

        assert "This GPU has changed since the plan was made" in stage.dialog
        assert not link.mig_changes


async def test_a_mode_that_waits_for_a_reset_is_not_told_as_done_or_failed() -> None:
    async with mig_staged(BoxLink(waits=True), size=WIDE) as stage:
        screen = await asked(stage)
        await stage.press("y")
        result = Result(gpu=0, status=Status.PENDING, detail="it takes effect later", remedy="sudo nvidia-smi -r")
        await stage.deliver(Outcome(id=screen.change_id, what="MIG of GPU 0", results=(result,)))

        assert "MIG of GPU 0 · waits for a reset" in stage.dialog
        assert "sudo nvidia-smi -r" in stage.dialog


async def test_each_step_is_shown_while_it_is_done() -> None:
    async with mig_staged(BoxLink(waits=True), size=WIDE) as stage:
        screen = await asked(stage)
        await stage.press("y")
        assert "starting…" in stage.dialog
        assert [change.id for change in stage.box.mig_changes] == [screen.change_id]
        await stage.press("y")
        assert len(stage.box.mig_changes) == 1
        stage.box.carry_out(stage.box.mig_changes[0])
        await stage.pilot.pause()

        assert [one.done for one in screen.progress] == [0, 1, 2, 3]
        assert "done 4/4" in stage.dialog


async def test_a_failure_shows_the_step_the_way_back_and_that_all_is_as_before() -> None:
    async with mig_staged(BoxLink(good=1), size=WIDE) as stage:
        await asked(stage)
        await stage.press("y")

        assert "failed" in stage.dialog
        assert "fail 4/4 create compute instance" in stage.dialog
        assert "Rolling back" in stage.dialog
        assert "The layout is as before" in words(stage.dialog)
        assert names(stage) == AS_IT_WAS


async def test_a_change_goes_on_without_its_page_and_its_end_is_told_all_the_same() -> None:
    async with mig_staged(BoxLink(good=0, waits=True), size=WIDE) as stage:
        await asked(stage)
        await stage.press("y", "escape", "escape")
        assert len(stage.app.screen_stack) == 1
        stage.box.carry_out(stage.box.mig_changes[0])
        await stage.pilot.pause()

        top = stage.app.screen
        assert isinstance(top, OutcomeScreen)
        assert "The layout is as before" in words(text_on(top))


async def test_read_only_plans_and_never_asks() -> None:
    async with mig_staged(settings=Settings(read_only=True)) as stage:
        await stage.press("p")
        assert "(e plan, read-only)" in stage.page
        await stage.press("e", "down", "enter")

        assert isinstance(stage.app.screen, MigPlanScreen)
        assert "(Enter disabled: read-only)" in stage.dialog


async def test_a_line_that_uses_an_instance_is_copied() -> None:
    async with mig_staged() as stage:
        await stage.press("p", "c", "enter")

        assert stage.app.clipboard == "CUDA_VISIBLE_DEVICES=MIG-620bf7c0-150c-c756-8c05-96ecfb02a67a"


async def test_a_problem_of_the_sampler_is_shown() -> None:
    async with staged() as stage:
        await stage.deliver(frame((gpu(0),)))
        await stage.press("p")
        screen = stage.app.screen
        assert isinstance(screen, MigScreen)
        assert "reading the MIG layout" in text_on(screen)
        question = [one for one in stage.link.sent if isinstance(one, ReadMig)][-1]
        await stage.deliver(MigBox(id=question.id, problem="the driver cannot be started"))

        assert "! the driver cannot be started" in text_on(screen)


async def test_everything_fits_a_small_terminal() -> None:
    async with mig_staged(size=SMALL) as stage:
        await stage.press("p")
        assert max(len(line) for line in stage.page.splitlines()) <= 76
        assert stage.mig.frame.region == stage.mig.region
        await asked_small(stage)

        assert "y apply the plan" in stage.dialog


async def asked_small(stage: MigStage) -> None:
    await stage.press("e", "down", "enter")
    await stage.pilot.pause(0.05)
