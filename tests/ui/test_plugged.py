"""Panels of plugins on the screen: what they say, and that nobody ever waits for them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, WIDE, FakeLink, Stage, staged, text_of, text_on
from examples import frame, process
from textual.pilot import Pilot

from gputop.core.plugins.panel import Cell, Panel, PanelLine, Shown
from gputop.core.protocol.link import Down
from gputop.core.settings.settings import Settings
from gputop.core.text.tone import Tone
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.ui.screens.pages.plugin_panels import PanelsScreen

PANELS_AT_MOST = 5  # a fifth of the screen


def panel(lines: Callable[[Shown], Any], key: str = "queue", **fields: Any) -> Panel:
    return Panel(key=key, title=key.capitalize(), help="What waits.", lines=lines, **fields)


def queue(_: Shown) -> Iterator[PanelLine]:
    yield Cell("JOB", Tone.NONE), Cell("WAITS", Tone.NONE)
    yield from (("a", "5m"), ("b", Cell("2h", Tone.WARM)))


def shown(stage: Stage) -> str:
    widget = stage.app.main.plugins
    return text_of(widget.lines) if widget.display else ""


async def until(stage: Stage, is_so: Callable[[], object]) -> None:
    """Wait for the thread of a panel."""
    for _ in range(500):
        if is_so():
            return
        await stage.pilot.pause(0.01)
    raise AssertionError(shown(stage))


async def test_a_panel_stands_below_the_gpus_with_its_table() -> None:
    async with staged(frame(), panels=(panel(queue),)) as stage:
        await until(stage, lambda: shown(stage))

        assert shown(stage).splitlines() == [" Queue", " JOB  WAITS", " a       5m", " b       2h"]


async def test_a_panel_is_asked_with_what_is_shown() -> None:
    async with staged(
        frame(1), panels=(panel(lambda s: [f"{len(s.frame.processes)} of {s.width}"]),), size=WIDE
    ) as stage:
        await until(stage, lambda: "1 of 198" in shown(stage))
        await stage.deliver(frame(1, processes=(process(1), process(2)), sequence=2))
        await until(stage, lambda: "2 of 198" in shown(stage))


async def test_a_panel_with_nothing_to_say_takes_no_room() -> None:
    asked = threading.Event()

    def silent(_: Shown) -> list[str]:
        asked.set()
        return []

    async with staged(frame(), panels=(panel(silent),)) as stage:
        await until(stage, asked.is_set)

        assert shown(stage) == ""


async def test_a_panel_that_raises_is_shut_off_with_its_reason_and_told_once() -> None:
    told: list[tuple[str, str]] = []
    asked: list[Shown] = []

    def fails(question: Shown) -> list[str]:
        asked.append(question)
        raise RuntimeError("no \x1b[31mqueue")

    panels = (panel(fails), panel(lambda _: ["well"], "other"))
    async with staged(frame(), panels=panels, panel_ended=lambda *each: told.append(each)) as stage:
        await until(stage, lambda: "shut off" in shown(stage) and "well" in shown(stage))
        await stage.deliver(frame(sequence=2), frame(sequence=3))

        assert " shut off: RuntimeError: no ␛[31mqueue" in shown(stage).splitlines()
        assert len(asked) == 1
        assert sorted(told) == [("other", ""), ("queue", "RuntimeError: no ␛[31mqueue")]


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), asyncio.CancelledError()], ids=repr)
async def test_a_panel_that_ends_its_thread_is_only_late(error: BaseException) -> None:
    def leaves(_: Shown) -> list[str]:
        raise error

    async with staged(frame(), panels=(panel(leaves),)) as stage:
        await until(stage, lambda: f"shut off: RuntimeError: {type(error).__name__}" in shown(stage))


async def test_what_is_no_line_shuts_a_panel_off() -> None:
    async with staged(frame(), panels=(panel(lambda _: [5]),)) as stage:
        await until(stage, lambda: "shut off: TypeError: 5 is neither" in shown(stage))


async def test_no_key_waits_for_a_panel_that_hangs_and_it_says_that_it_is_old() -> None:
    gate, stuck = threading.Event(), threading.Event()

    def hangs(question: Shown) -> list[str]:
        if question.frame.sequence > 1:
            stuck.set()
            gate.wait()
        return [f"frame {question.frame.sequence}"]

    async with staged(frame(), panels=(panel(hangs),)) as stage:
        await until(stage, lambda: "frame 1" in shown(stage))
        await stage.deliver(frame(sequence=2))
        await until(stage, stuck.is_set)
        await stage.press("down")
        assert stage.cursor is not None
        stage.clock.now += 4
        await stage.deliver(frame(sequence=3))
        assert "Queue  no answer for 3 s" in shown(stage)
        assert "frame 1" in shown(stage)
        gate.set()
        await until(stage, lambda: "frame 3" in shown(stage))

        assert "no answer" not in shown(stage)


async def test_a_panel_that_hangs_keeps_its_old_lines_and_comes_back_with_older_ones() -> None:
    gate, stuck, told = threading.Event(), threading.Event(), list[tuple[str, str]]()

    def hangs(question: Shown) -> list[str]:
        if question.frame.sequence > 1:
            stuck.set()
            gate.wait()
        return [f"frame {question.frame.sequence}"]

    panels = (panel(hangs), panel(lambda s: [f"other {s.frame.sequence}"], "other"))
    async with staged(frame(), panels=panels, panel_ended=lambda *each: told.append(each)) as stage:
        await until(stage, lambda: "frame 1" in shown(stage))
        await stage.deliver(frame(sequence=2))
        await until(stage, stuck.is_set)
        for sequence in (3, 4, 5):
            stage.clock.now += 11
            await stage.deliver(frame(sequence=sequence))
        assert "shut off: it did not return within 10 s" in shown(stage)
        assert "frame 1" not in shown(stage)
        gate.set()
        await stage.deliver(frame(sequence=6))
        await until(stage, lambda: "other 6" in shown(stage))

        assert "frame 2" not in shown(stage)
        assert ("queue", "it did not return within 10 s") in told


async def test_a_panel_is_shut_off_because_gputop_itself_was_stopped() -> None:
    gate, stuck = threading.Event(), threading.Event()

    def waits(question: Shown) -> list[str]:
        if question.frame.sequence == 2:
            stuck.set()
            gate.wait()
        return [f"frame {question.frame.sequence}"]

    async with staged(frame(), panels=(panel(waits),)) as stage:
        await stage.deliver(frame(sequence=2))
        await until(stage, stuck.is_set)
        stage.clock.now += 3600
        await stage.deliver(frame(sequence=3))
        gate.set()
        await until(stage, lambda: "frame 3" in shown(stage))


async def test_a_panel_is_not_asked_more_often_than_it_wants() -> None:
    async with staged(frame(), panels=(panel(lambda s: [str(s.frame.sequence)], every_s=30.0),)) as stage:
        await until(stage, lambda: shown(stage).endswith(" 1"))
        stage.clock.now += 29
        await stage.deliver(frame(sequence=2))
        stage.clock.now += 1
        await stage.deliver(frame(sequence=3))
        await until(stage, lambda: shown(stage).endswith(" 3"))


@pytest.mark.parametrize("size", [MIDDLE, SMALL])
async def test_the_processes_keep_their_room_and_the_page_shows_all(size: tuple[int, int]) -> None:
    many = panel(lambda _: [f"line {n}" for n in range(99)], most_lines=50)
    async with staged(frame(), panels=(many,), size=size) as stage:
        await until(stage, lambda: shown(stage))
        assert len(shown(stage).splitlines()) <= size[1] // PANELS_AT_MOST
        assert len(stage.processes) >= 3
        assert "show all: E" in shown(stage)
        await stage.press("E", "end")
        screen = stage.app.screen

        assert isinstance(screen, PanelsScreen)
        assert "line 98" in text_on(screen)


async def test_the_page_follows_what_a_panel_says() -> None:
    async with staged(frame(), panels=(panel(lambda s: [f"frame {s.frame.sequence}"]),)) as stage:
        await until(stage, lambda: shown(stage))
        await stage.press("E")
        await stage.deliver(frame(sequence=9))
        screen = stage.app.screen
        assert isinstance(screen, PanelsScreen)
        await until(stage, lambda: "frame 9" in text_on(screen))


async def test_set_up_can_hide_them() -> None:
    async with staged(frame(), panels=(panel(queue),), settings=Settings(show_panels=False)) as stage:
        await stage.press("E")
        screen = stage.app.screen
        assert isinstance(screen, PanelsScreen)
        await until(stage, lambda: "JOB" in text_on(screen))

        assert shown(stage) == ""


async def test_without_panels_the_page_says_so_in_full() -> None:
    async with staged(frame(), size=SMALL) as stage:
        await stage.press("E")
        screen = stage.app.screen

        assert isinstance(screen, PanelsScreen)
        assert "No installed plugin adds a panel" in text_on(screen)
        assert "docs/plugins.md." in text_on(screen)


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["80x24", "120x40"])
@pytest.mark.parametrize("keys", [(), ("E",)], ids=["strip", "page"])
def test_what_it_looks_like(snap_compare: Callable[..., bool], size: tuple[int, int], keys: tuple[str, ...]) -> None:
    link = FakeLink()
    panels = (panel(queue), panel(lambda _: 1 / 0, "broken"))
    app = GputopApp(link, ViewOptions(theme="dark", panels=panels), clock=lambda: 100.0)

    async def play(pilot: Pilot[Down]) -> None:
        await pilot.pause()
        assert link.receive is not None
        link.receive(frame())
        while len([one for one in app.main.controllers.plugin.states if one.lines or one.problem]) < len(panels):
            await pilot.pause(0.01)
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)


async def test_on_a_source_of_a_plugin_nothing_can_be_changed() -> None:
    async with staged(frame(), source="net") as stage:
        await stage.press("down", "k")

        assert "source" in str(stage.messages)
        assert not stage.changes
