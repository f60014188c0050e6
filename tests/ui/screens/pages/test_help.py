"""Help page: a sheet of keys, and a search."""

import pytest
from app_driver import MIDDLE, SMALL, WIDE, staged, text_of, text_on
from examples import frame
from msgspec.structs import replace

from gputop.ui.input.actions import ACTIONS
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.screens.pages.help import TOGETHER, HelpScreen


@pytest.mark.parametrize("size", [MIDDLE, WIDE])
async def test_the_sheet_of_keys_fits_one_screen_and_names_every_key_once(size: tuple[int, int]) -> None:
    async with staged(frame(), size=size) as stage:
        await stage.press("f1")
        page = stage.app.screen
        assert isinstance(page, HelpScreen)
        text = text_of(page.body.lines)

        seconds = {second for second, _ in TOGETHER.values()}
        labels = {
            action.id: action.label
            for action in ACTIONS
            if action.keys and action.id not in seconds | {"log-in", "host-next", "host-before"}
        }
        labels |= {first: label for first, (_, label) in TOGETHER.items()}

        assert page.rest <= 0
        assert [label for label in labels.values() if label not in text] == []


def test_two_actions_of_one_line_show_the_keys_of_both() -> None:
    lines = text_of(HelpScreen().page(114, 37)).splitlines()

    assert any("F7 F8 ] [     Raise, lower priority" in line for line in lines)
    assert any("↑ ↓           Up, down" in line for line in lines)


def test_an_action_whose_pair_lost_its_keys_has_its_own_label() -> None:
    actions = [replace(one, keys=()) if one.id == "nice-up" else one for one in ACTIONS]

    sheet = text_of(HelpScreen(actions=actions).page(114, 37))

    assert "Raise the priority" in sheet
    assert "Raise, lower priority" not in sheet


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
