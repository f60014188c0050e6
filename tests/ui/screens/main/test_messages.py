"""Messages: one line above the keys, and a page with the past ones."""

import pytest
from app_driver import MIDDLE, SMALL, staged, text_of, text_on
from examples import frame, process

from gputop.ui.screens.pages.messages import MessagesScreen
from gputop.ui.screens.pages.process import ProcessScreen

MANY = frame(1, tuple(process(pid) for pid in range(100, 160)))


async def test_a_message_stands_above_the_keys_and_goes_after_its_time() -> None:
    async with staged(MANY) as stage:
        stage.app.notify("half of it is done", timeout=3)
        await stage.pilot.pause()
        line = stage.app.main.message
        place = line.region.y, stage.app.main.footer.region.y
        shown = text_of(line.lines)
        await stage.age(3.5)

        assert place == (MIDDLE[1] - 2, MIDDLE[1] - 1)
        assert shown.strip() == "half of it is done"
        assert not line.display


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_a_message_does_not_hide_the_row_under_the_cursor(size: tuple[int, int]) -> None:
    async with staged(MANY, size=size) as stage:
        await stage.press("down", "pagedown")
        before = stage.cursor
        stage.app.notify("half of it is done")
        await stage.pilot.pause()
        await stage.pilot.pause()

        assert before is not None
        assert stage.cursor == before


async def test_a_short_message_does_not_end_a_longer_one_before_its_time() -> None:
    async with staged(MANY) as stage:
        stage.app.notify("process 4711 has ended", timeout=30)
        stage.app.notify("theme: dark", timeout=2)
        await stage.age(3)

        assert text_of(stage.app.main.message.lines).strip() == "process 4711 has ended"


async def test_a_message_of_a_page_is_below_its_frame() -> None:
    async with staged(MANY) as stage:
        await stage.press("down", "enter")
        stage.app.notify("half of it is done")
        await stage.pilot.pause()
        screen = stage.app.screen

        assert isinstance(screen, ProcessScreen)
        assert text_of(screen.message.lines).strip() == "half of it is done"
        assert screen.frame.region.bottom <= screen.message.region.y == MIDDLE[1] - 1


async def test_a_later_message_about_the_same_action_replaces_the_earlier() -> None:
    async with staged(MANY) as stage:
        stage.app.notify("sent", title="screen-1")
        stage.app.notify("other")
        stage.app.notify("ended", title="screen-1")

        assert stage.messages == ["other", "ended"]


async def test_the_page_lists_past_messages_in_full() -> None:
    async with staged(MANY) as stage:
        stage.app.notify("first\nwith a second line")
        stage.app.notify("last")
        await stage.age(60.0)
        await stage.press("alt+m")

        assert isinstance(stage.app.screen, MessagesScreen)
        page = text_on(stage.app.screen)
        assert page.index("last") < page.index("first") < page.index("with a second line")


async def test_a_click_on_a_message_opens_the_page() -> None:
    async with staged(MANY) as stage:
        stage.app.notify("half of it is done")
        await stage.pilot.pause()
        await stage.pilot.click(stage.app.main.message)

        assert isinstance(stage.app.screen, MessagesScreen)
