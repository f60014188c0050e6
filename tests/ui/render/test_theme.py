"""Colours: by theme, none where none are wanted, few where there are few."""

import pytest
from app_driver import staged
from examples import frame
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.renderables.background_screen import BackgroundScreen
from textual.strip import Strip

from gputop.ui.render.line_widget import dimmed
from gputop.ui.render.theme import CONTRAST, DARK, INKS, LIGHT, MONOCHROME, SIXTEEN, THEME_NAMES, THEMES, chosen


@pytest.mark.parametrize(
    ("wish", "is_colourless", "colours", "name"),
    [
        ("auto", False, "truecolor", DARK), ("auto", False, "256", DARK), ("auto", False, "standard", SIXTEEN),
        ("light", False, "truecolor", LIGHT), ("high-contrast", False, None, CONTRAST),
        ("light", True, "truecolor", MONOCHROME), ("no such theme", False, "truecolor", DARK),
    ],
)  # fmt: skip
def test_the_theme_follows_the_wish_and_the_terminal(
    wish: str, is_colourless: bool, colours: str | None, name: str  # noqa: FBT001 - a parameter of the test
) -> None:  # fmt: skip
    assert chosen(wish, is_colourless=is_colourless, colours=colours) == name


@pytest.mark.parametrize("theme", THEMES, ids=THEME_NAMES)
def test_every_theme_has_every_ink(theme: object) -> None:
    variables = getattr(theme, "variables")  # noqa: B009 - Theme is a dataclass of Textual's

    assert {f"ink-{ink}" for ink in INKS} <= variables.keys()
    assert set(THEMES[0].variables) == variables.keys()


@pytest.mark.parametrize("name", THEME_NAMES)
async def test_the_screen_stands_in_every_theme(name: str) -> None:
    async with staged(frame(2), theme=name) as stage:
        await stage.press("down", "f1", "escape", "i", "escape", "colon")

        assert stage.app.theme == name


async def test_a_key_goes_through_the_themes() -> None:
    async with staged(frame(2), theme="dark") as stage:
        await stage.press("ctrl+t")

        assert stage.app.theme == LIGHT


async def test_no_color_leaves_no_colour_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with staged(frame(2), theme="dark") as stage:
        await stage.press("down", "colon")
        segments = [segment for strip in stage.app.screen._compositor.render_strips() for segment in strip]
        styles = [segment.style for segment in segments if segment.style is not None]

        assert not any(style.color or style.bgcolor for style in styles)
        assert any(style.bold for style in styles)


@pytest.mark.parametrize("name", [MONOCHROME, SIXTEEN])
async def test_a_theme_for_few_colours_names_only_the_terminals_own(name: str) -> None:
    async with staged(frame(2), theme=name) as stage:
        await stage.press("down")
        segments = [segment for strip in stage.app.main._compositor.render_strips() for segment in strip]
        colours = [
            colour
            for segment in segments
            if segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None
        ]

        assert not any(colour.triplet for colour in colours)


def test_what_lies_behind_a_dialog_has_the_colours_that_textual_gives_it() -> None:
    colour = Color.parse("#0f131a").with_alpha(0.6)
    blue = Style(color="#82aaff", bgcolor="#1c2430")
    segments = [Segment("a", blue), Segment("b", None), Segment("c", Style(bold=True))]
    ours = list(dimmed(Strip(segments), colour))

    assert ours == list(BackgroundScreen.process_segments(segments, colour))
