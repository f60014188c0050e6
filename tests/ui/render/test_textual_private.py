"""Canaries for Textual's private names: each fails here, by name, when Textual changes."""

import inspect
import io

from app_driver import SMALL, staged
from examples import frame
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from textual import _compositor
from textual.app import App
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from gputop.ui.render.textual_private import (
    ChopsUpdate,
    LayoutUpdate,
    XTermParser,
    color_system,
    in_place_of,
    mark_all_changed,
    painted,
    written_strips,
)

WHERE = "Textual changed a private name: see gputop/ui/render/textual_private.py"


def test_the_app_displays_an_update_of_a_screen_through_display() -> None:
    parameters = list(inspect.signature(App._display).parameters)

    assert parameters == ["self", "screen", "renderable"], f"App._display: {WHERE}"


def test_the_app_prints_an_error_that_ends_it_in_fatal_error() -> None:
    assert "self._fatal_error()" in inspect.getsource(App._handle_exception), f"App._fatal_error: {WHERE}"


async def test_the_app_keeps_its_line_filters_in_filters() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        held = getattr(stage.app, "_filters", None)

        assert isinstance(held, list), f"App._filters: {WHERE}"
        assert [each for each in held if each.enabled] == list(stage.app.get_line_filters()), f"App._filters: {WHERE}"


def test_the_driver_queues_its_writes_in_a_thread() -> None:
    thread = WriterThread(io.StringIO())
    thread.write("a")

    assert "_writer_thread" in inspect.getsource(LinuxDriver.write), f"LinuxDriver._writer_thread: {WHERE}"
    assert thread._queue.qsize() == 1, f"WriterThread._queue: {WHERE}"


async def test_the_app_writes_to_the_terminal_with_its_driver() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        assert callable(getattr(getattr(stage.app, "_driver", None), "write", None)), f"App._driver: {WHERE}"


def test_the_app_takes_a_new_size_in_check_resize() -> None:
    source = inspect.getsource(getattr(App, "_check_resize", lambda: None))

    assert "_resize_event" in source, f"App._check_resize: {WHERE}"


async def test_a_widget_keeps_the_regions_to_paint_in_dirty_regions() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        widget: Widget = stage.app.main.footer
        widget.refresh(Region(0, 0, 1, 1))

        assert Region(0, 0, 1, 1) in getattr(widget, "_dirty_regions", ()), f"Widget._dirty_regions: {WHERE}"


async def test_a_screen_paints_its_lines_with_its_compositor() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        screen: Screen[None] = stage.app.main

        assert hasattr(getattr(screen, "_compositor", None), "render_strips"), f"Screen._compositor: {WHERE}"
        assert [strip.cell_length for strip in painted(screen)] == [SMALL[0]] * SMALL[1], f"render_strips: {WHERE}"


async def test_the_compositor_updates_all_of_a_screen_whose_region_is_dirty() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        compositor = stage.app.screen._compositor
        mark_all_changed(stage.app.screen)

        assert isinstance(compositor.render_update(), LayoutUpdate), f"Compositor._dirty_regions: {WHERE}"


def test_an_update_of_lines_is_a_chops_update_with_spans_chops_and_ends() -> None:
    strip = Strip([Segment("abc")])
    update = ChopsUpdate([{0: strip}], [(0, 0, 3)], [[3]])

    assert issubclass(ChopsUpdate, _compositor.CompositorUpdate), f"_compositor.CompositorUpdate: {WHERE}"
    assert list(written_strips(update)) == [(0, 0, strip)], f"ChopsUpdate: {WHERE}"
    assert hasattr(update, "render_segments"), f"CompositorUpdate.render_segments: {WHERE}"


def test_an_update_of_all_lines_is_a_layout_update_with_strips_and_a_region() -> None:
    left, right = Strip([Segment("ab")]), Strip([Segment("c")])
    update = LayoutUpdate([[left, right]], Region(2, 5, 3, 1))

    assert list(written_strips(update)) == [(5, 2, left), (5, 4, right)], f"LayoutUpdate: {WHERE}"


async def test_the_compositor_makes_such_updates_of_changed_lines() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        stage.app.main.footer.refresh(Region(0, 0, 5, 1))
        stage.app.main._compositor.update_widgets({stage.app.main.footer})
        update = stage.app.main._compositor.render_update()

        assert isinstance(update, ChopsUpdate), f"Compositor.render_update: {WHERE}"
        assert isinstance(update.chops, list), f"ChopsUpdate.chops: {WHERE}"


def test_a_console_keeps_its_colours_in_color_system() -> None:
    assert color_system(Console(color_system="256")) is ColorSystem.EIGHT_BIT, f"Console._color_system of rich: {WHERE}"


async def test_the_result_of_a_screen_goes_to_the_widget_that_pushed_it_in_place_of_another() -> None:
    async with staged(frame(1), size=SMALL) as stage:
        screen: Screen[None] = Screen()
        with in_place_of(stage.app.main):
            stage.app.push_screen(screen, lambda _: None)

        assert screen._result_callbacks[-1].requester is stage.app.main, f"MessagePump._context: {WHERE}"


def test_the_parser_of_the_terminal_is_fed_with_text_and_time() -> None:
    parser = XTermParser()

    assert [event.key for event in parser.feed("k") if isinstance(event, Key)] == ["k"], f"XTermParser.feed: {WHERE}"
    assert list(parser.tick()) == [], f"XTermParser.tick: {WHERE}"
