"""The text field in dialogs and prompts: editing, pasting, selecting with keys and with the mouse."""

import pytest
from app_driver import Stage, staged
from examples import frame, process
from textual.events import Paste
from textual.widgets import Input

from gputop.ui.input.text_input import TextInput


def field(stage: Stage) -> TextInput:
    return stage.app.screen.query_one(TextInput)


@pytest.mark.parametrize(
    ("key", "text", "at"),
    [
        ("ctrl+u", " sm<5", 0),
        ("ctrl+w", "user: sm<5", 5),
        ("backspace", "user:an sm<5", 7),
        ("delete", "user:annsm<5", 8),
        ("ctrl+k", "user:ann", 8),
        ("ctrl+a", "user:ann sm<5", 0),
        ("ctrl+e", "user:ann sm<5", 13),
        ("left", "user:ann sm<5", 7),
    ],
)
async def test_a_line_of_text_is_edited_as_in_a_shell(key: str, text: str, at: int) -> None:
    async with staged(frame(1, (process(1),))) as stage:
        await stage.press("f")
        prompt = stage.app.main.prompt
        prompt.field.value = "user:ann sm<5"
        prompt.field.cursor_position = 8
        await stage.press(key)

        assert (prompt.text, prompt.field.cursor_position) == (text, at)


async def test_pasted_text_is_one_harmless_line_at_the_cursor() -> None:
    async with staged(frame(1, (process(1),))) as stage:
        await stage.press("slash", "a", "b", "left")
        stage.app.post_message(Paste("\x1b[31m\nx"))
        await stage.pilot.pause()

        assert stage.app.main.prompt.text == "a␛[31m xb"


async def test_selected_text_is_replaced_by_the_next_letter() -> None:
    async with staged(frame(1, (process(1),))) as stage:
        await stage.press("slash", "a", "b", "c", "shift+left", "shift+left", "x")

        assert stage.app.main.prompt.text == "ax"


async def test_the_mouse_sets_the_cursor_and_selects() -> None:
    async with staged(frame(1, (process(1),))) as stage:
        await stage.press("slash", *"python")
        await stage.pilot.click(Input, offset=(2, 0))
        await stage.press("x")
        clicked = stage.app.main.prompt.text
        await stage.pilot.mouse_down(Input, offset=(0, 0))
        await stage.pilot.hover(Input, offset=(3, 0))
        await stage.pilot.mouse_up(Input, offset=(3, 0))

        assert clicked == "pyxthon"
        assert field(stage).selected_text == "pyx"


async def test_a_value_is_selected_so_that_a_digit_replaces_it_and_letters_are_no_digits() -> None:
    async with staged(frame(1, (process(1, nice=7),))) as stage:
        await stage.press("down", "r")
        selected = field(stage).selected_text
        await stage.press("x", "5")

        assert selected == "7"
        assert field(stage).value == "5"


async def test_text_is_pasted_into_a_dialog() -> None:
    async with staged(frame(1, (process(1, nice=7),))) as stage:
        await stage.press("down", "r")
        stage.app.post_message(Paste("12"))
        await stage.pilot.pause()

        assert field(stage).value == "12"
