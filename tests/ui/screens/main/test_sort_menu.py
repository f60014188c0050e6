"""The sort menu: a list of the columns, the current one marked."""

from app_driver import SMALL, staged
from examples import frame, process

from gputop.core.processes.columns import COLUMNS
from gputop.ui.screens.dialogs.menu import MenuScreen


async def test_all_columns_are_offered_and_the_current_one_is_marked() -> None:
    async with staged(frame(1)) as stage:
        await stage.press("P", "f6")
        menu = stage.app.screen

        assert isinstance(menu, MenuScreen)
        assert len(menu.choices) == len(COLUMNS)
        assert menu.choices[menu.at].value == menu.current == "cpu"


async def test_the_chosen_column_sorts() -> None:
    few = frame(1, tuple(process(n, memory_bytes=n) for n in (1, 3, 2)))
    async with staged(few) as stage:
        await stage.press("greater_than_sign", "r", "enter")

        assert "RSS▼" in stage.processes[0]
        assert [line.split()[1] for line in stage.processes[1:4]] == ["3", "2", "1"]


async def test_esc_changes_nothing() -> None:
    async with staged(frame(1)) as stage:
        await stage.press("f6", "down", "escape")

        assert stage.app.screen is stage.app.main
        assert "GPU▲" in stage.processes[0]


async def test_the_end_of_the_list_is_reached_on_a_small_screen() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        await stage.press("f6", "end", "enter")

        assert "COMMAND" in stage.processes[0]
        assert stage.app.main.processes.sort_key == "command"
