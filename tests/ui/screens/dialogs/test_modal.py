"""Keys that wait while an earlier one closes their screen: a slow machine, a terminal that is resized all the time."""

import pytest
from app_driver import Stage, staged
from examples import frame, process
from textual._context import visible_screen_stack
from textual.events import Key
from textual.geometry import Region

from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.screens.pages.findings import FindingsScreen


async def queue(stage: Stage, *keys: str) -> None:
    """Let the screen in front find all these keys in its queue before it handles the first one."""
    screen = stage.app.screen
    for key in keys:
        screen.post_message(Key(key, key if len(key) == 1 else None))
    for _ in range(5):
        await stage.pilot.pause()


@pytest.mark.parametrize("opened_by", ["b", "F", "question_mark", "i", "f2", "alt+m"])
async def test_two_keys_that_close_do_not_end_gputop(opened_by: str) -> None:
    async with staged(frame(1, (process(4711),))) as stage:
        await stage.press(opened_by)
        await queue(stage, "escape", "escape")

        assert isinstance(stage.app.screen, MainScreen)
        assert stage.app.is_running


async def test_a_key_after_the_one_that_closes_is_not_lost() -> None:
    async with staged(frame(1, (process(4711),))) as stage:
        await stage.press("b")
        await queue(stage, "escape", "F")

        assert isinstance(stage.app.screen, FindingsScreen)


async def test_enter_twice_sends_a_signal_once_and_closes_one_dialog() -> None:
    async with staged(frame(1, (process(4711),))) as stage:
        await stage.press("down", "f9")
        dialog = stage.app.screen
        assert isinstance(dialog, SignalScreen)
        dialog.choose()
        dialog.choose()
        await stage.pilot.pause()

        assert not isinstance(stage.app.screen, Dialog)
        assert len(stage.changes) == 1


@pytest.mark.parametrize("opened_by", ["b", "F", "question_mark"])
async def test_a_page_has_no_hole_where_the_terminal_has_grown_and_the_screen_below_has_not(opened_by: str) -> None:
    async with staged(frame(1, (process(4711),)), size=(80, 24)) as stage:
        await stage.press(opened_by)
        visible_screen_stack.set(stage.app.screen_stack[:-1])  # as while the compositor paints
        lines = stage.app.screen.render_lines(Region(0, 0, 120, 40))

        assert [line.cell_length for line in lines] == [120] * 40
