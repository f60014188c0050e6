"""Help page: a sheet of keys, and a search."""

import pytest
from app_driver import MIDDLE, SMALL, WIDE, staged, text_of, text_on
from examples import frame

from gputop.ui.input.actions import ACTIONS
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.screens.pages.help import HelpScreen


@pytest.mark.parametrize("size", [MIDDLE, WIDE])
async def test_the_sheet_of_keys_fits_one_screen_and_names_every_key_once(size: tuple[int, int]) -> None:
    async with staged(frame(), size=size) as stage:
        await stage.press("f1")
        page = stage.app.screen
        assert isinstance(page, HelpScreen)
        text = text_of(page.body.lines)

        assert page.rest <= 0
        assert [action.label for action in ACTIONS if action.keys and action.label not in text] == []


async def test_the_sheet_scrolls_on_a_small_terminal() -> None:
    async with staged(frame(), size=SMALL) as stage:
        await stage.press("f1")
        first = text_on(stage.app.screen)
        await stage.press("end")

        assert "more below" in first
        assert "more below" not in text_on(stage.app.screen)


async def test_a_search_explains_matching_keys_and_columns_and_esc_returns_to_the_sheet() -> None:
    async with staged(frame()) as stage:
        await stage.press("f1", "slash", *"affinity")
        found = text_on(stage.app.screen)
        await stage.press("escape")
        sheet = stage.app.screen
        await stage.press("escape")

        assert "Choose the CPUs that a process may run on." in found
        assert "Findings" not in found
        assert isinstance(sheet, HelpScreen)
        assert isinstance(stage.app.screen, MainScreen)


def test_no_explanation_only_repeats_its_label() -> None:
    assert [one.id for one in ACTIONS if one.help.rstrip(".").lower() == one.label.lower()] == []
