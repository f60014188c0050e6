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


async def test_a_click_chooses_a_column_and_a_click_beside_the_menu_nothing() -> None:
    async with staged(frame(1)) as stage:
        await stage.press("f6")
        menu = stage.app.screen
        assert isinstance(menu, MenuScreen)
        at = [choice.value for choice in menu.choices].index("pid")
        await stage.pilot.click(offset=(menu.list.region.x + 4, menu.list.region.y + at))
        await stage.pilot.pause()
        chosen = stage.app.main.processes.sort_key
        await stage.press("f6")
        await stage.pilot.click(offset=(1, 1))
        await stage.pilot.pause()

        assert chosen == stage.app.main.processes.sort_key == "pid"
        assert stage.app.screen is stage.app.main


async def test_the_mark_stays_at_the_ends_of_the_list() -> None:
    async with staged(frame(1)) as stage:
        await stage.press("f6", "home", "up")
        menu = stage.app.screen
        assert isinstance(menu, MenuScreen)
        first = menu.at
        await stage.press("end", "down")

        assert (first, menu.at) == (0, len(menu.choices) - 1)


async def test_the_mark_is_kept_when_the_terminal_changes_its_size() -> None:
    async with staged(frame(1)) as stage:
        await stage.press("f6", "down", "down")
        menu = stage.app.screen
        assert isinstance(menu, MenuScreen)
        await stage.pilot.resize_terminal(60, 20)
        await stage.pilot.pause()

        assert menu.at == 2
