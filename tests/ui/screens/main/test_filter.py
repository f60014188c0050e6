"""The filter prompt: the language, at once while one types, with the place of a mistake."""

import pytest
from app_driver import SMALL, Stage, staged
from examples import GIB, frame, process
from rich.cells import cell_len
from textual.events import Paste

from gputop.core.model.sample import Frame
from gputop.ui.screens.dialogs.menu import MenuScreen


def people() -> Frame:
    return frame(
        2,
        (
            process(1, 0, user="ann", command="python train.py"),
            process(2, 0, user="bob", command="vllm serve"),
            process(3, 1, user="ann", command="vllm serve --port 2"),
            process(4, 1, user="eve", command="[b]x[/]", memory_bytes=GIB),
        ),
    )


def pids(stage: Stage) -> list[int]:
    lines = [line.split() for line in stage.processes if line.strip()]
    return [int(words[1]) for words in lines if len(words) > 1 and words[1].isdecimal() and words[0] in {"0", "1"}]


def prompt(stage: Stage) -> str:
    """Return the line as it is painted."""
    panel = stage.app.main.prompt
    return "".join(part.render_lines(part.size.region)[0].text for part in panel.children)


async def typed(stage: Stage, text: str) -> None:
    names = {" ": "space", ":": "colon", ">": "greater_than_sign", "~": "tilde", "<": "less_than_sign"}
    await stage.press(*(names.get(sign, sign) for sign in text))


@pytest.mark.parametrize("key", ["f4", "backslash", "f"])
async def test_what_is_typed_is_shown_at_once(key: str) -> None:
    async with staged(people()) as stage:
        await stage.press(key)
        await typed(stage, "user:ann")

        assert "user:ann" in prompt(stage)
        assert pids(stage) == [1, 3]
        assert "2 shown, 2 hidden" in stage.footer


async def test_keys_typed_at_once_after_the_filters_key_belong_to_the_filter() -> None:
    async with staged(people()) as stage:
        await stage.pilot.press("f", "q", "o", "t", "h")
        await stage.pilot.pause()

        assert stage.app.is_running
        assert "qoth" in prompt(stage)


async def test_enter_keeps_the_filter_and_the_title_says_what_is_hidden() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "cmd~vllm")
        await stage.press("enter")
        await stage.deliver(people())

        assert not stage.app.main.prompt.display
        assert "cmd~vllm" in stage.processes[0]
        assert "2 shown, 2 hidden" in stage.processes[0]
        assert "PID" in stage.processes[1]
        assert pids(stage) == [2, 3]
        assert "Quit" in stage.footer


async def test_esc_in_the_prompt_clears_the_filter() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "bob")
        await stage.press("escape")

        assert pids(stage) == [1, 2, 3, 4]
        assert "PID" in stage.processes[0]


async def test_esc_in_the_table_takes_the_filter_back_after_the_cursor() -> None:
    async with staged(people()) as stage:
        await stage.press("f", "b", "o", "b", "enter", "down", "escape")
        kept = pids(stage)
        await stage.press("escape")

        assert kept == [2]
        assert pids(stage) == [1, 2, 3, 4]


async def test_a_mistake_is_pointed_at_and_the_right_word_suggested() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "bob usr:ann")
        column = prompt(stage).index("usr")

        assert stage.footer.index("^") == column
        assert "user?" in stage.footer


async def test_a_filter_that_is_not_finished_leaves_the_one_before_and_enter_does_not_take_it() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "bob")
        await stage.press("space", "left_parenthesis")
        await stage.press("enter")

        assert stage.app.main.prompt.display
        assert pids(stage) == [2]


async def test_up_goes_back_through_the_filters_of_this_session() -> None:
    async with staged(people()) as stage:
        for text in ("ann", "bob"):
            await stage.press("f", "ctrl+u")
            await typed(stage, text)
            await stage.press("enter")
        await stage.press("f", "ctrl+u", "up", "up")
        oldest, found = prompt(stage), pids(stage)
        await stage.press("down")

        assert "ann" in oldest
        assert found == [1, 3]
        assert "bob" in prompt(stage)


async def test_nothing_that_matches_says_so() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "nobody")
        await stage.press("enter")

        assert "no process matches" in stage.processes[2]


async def test_only_mine_and_all_again() -> None:
    async with staged(people(), own_user="ann") as stage:
        await stage.press("H")
        mine, title = pids(stage), stage.processes[0]
        await stage.press("H")

        assert mine == [1, 3]
        assert "user ann" in title
        assert pids(stage) == [1, 2, 3, 4]


async def test_a_long_filter_keeps_within_a_small_screen() -> None:
    async with staged(people(), size=SMALL) as stage:
        await stage.press("f")
        await typed(stage, "ann " * 30)

        assert len(prompt(stage)) == 80
        await stage.press("enter")
        assert "2 shown, 2 hidden" in stage.processes[0]
        assert len(stage.processes[0]) <= 80


async def test_the_users_are_offered_with_sums_and_the_chosen_one_is_shown() -> None:
    async with staged(people()) as stage:
        await stage.press("u")
        menu = stage.app.screen
        assert isinstance(menu, MenuScreen)
        offered = [choice.label for choice in menu.choices]
        notes = " ".join(menu.choices[1].note.split())
        await stage.press("a", "enter")

        assert offered == ["all users", "ann", "bob", "eve"]
        assert notes.startswith("2 proc 2 GPUs 20.0GiB SM 160%")
        assert pids(stage) == [1, 3]


async def test_everybody_is_shown_again_by_the_menu() -> None:
    async with staged(people(), own_user="ann") as stage:
        await stage.press("H", "u", "home", "enter")

        assert pids(stage) == [1, 2, 3, 4]


async def test_the_counts_are_those_of_the_gpu_that_is_looked_at() -> None:
    async with staged(people()) as stage:
        await stage.press("1", "f", *"ann", "enter")

        assert "1 shown, 1 hidden" in stage.processes[0]


async def test_the_caret_stands_below_its_place_after_wide_characters() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        stage.app.main.prompt.on_paste(Paste("训练 usr:x"))
        await stage.pilot.pause()
        text = prompt(stage)

        assert stage.footer.index("^") == cell_len(text[: text.index("usr")])


async def test_the_cursor_stays_in_sight_in_a_long_text_of_wide_characters() -> None:
    async with staged(people(), size=SMALL) as stage:
        await stage.press("f")
        stage.app.main.prompt.on_paste(Paste("训" * 100))
        await stage.pilot.pause()
        field = stage.app.main.prompt.field

        assert field.scroll_offset.x + field.size.width > cell_len(field.value)
        assert cell_len(prompt(stage)) == 80


async def test_only_mine_says_so_where_nobody_knows_who_that_is() -> None:
    async with staged(people()) as stage:
        await stage.press("H")

        assert pids(stage) == [1, 2, 3, 4]
        assert any("USER is not set" in note for note in stage.messages)


@pytest.mark.parametrize("text", ["s", "sm", "sm<", "user", "user:", "user:a", "user:an", "gpu_mem>1", "cmd~vllm us"])
async def test_the_table_is_never_empty_because_of_what_is_half_typed(text: str) -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        for end in range(1, len(text) + 1):
            await typed(stage, text[end - 1])

            assert pids(stage), text[:end]


async def test_a_name_of_a_column_is_no_filter_before_it_is_finished_and_that_is_said() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "sm")
        half, said = pids(stage), stage.footer
        await typed(stage, "<")
        wrong = stage.footer
        await typed(stage, "5")

        assert half == [1, 2, 3, 4]
        assert "Compare SM% with a value? The table is unchanged.  Enter searches for the text" in said
        assert "^" in wrong
        assert "No process matches so far. The table is unchanged." in stage.footer


async def test_enter_takes_a_word_that_could_have_been_a_column() -> None:
    async with staged(people()) as stage:
        await stage.press("f")
        await typed(stage, "s")
        await stage.press("enter")

        assert pids(stage) == [2, 3]
