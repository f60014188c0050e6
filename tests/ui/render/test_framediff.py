"""Writing only what changed leaves the terminal as writing everything does."""

import os
import subprocess
import sys

import pyte
import pytest
from app_driver import SMALL, staged
from examples import frame, process
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import set_cell_size
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from gputop.ui.render.framediff import FrameDiff

WIDTH, HEIGHT = 24, 3
CONSOLE = Console(color_system="truecolor", force_terminal=True)
STYLES = (Style(color="red"), Style(color="blue", bold=True), Style(bgcolor="green"), Style())
TEXTS = st.sampled_from(
    ("ab", "abc", "acb", "0% ", "10%", "⣀⣿⣿", "⣿⣿⣀", "━━─", "训练", "练训", "é", "e\u0301x", "         ", " " * 14)
)
LAYOUTS = ((0, WIDTH), (0, 9, WIDTH))


@st.composite
def strips(draw: st.DrawFn, width: int) -> Strip:
    """Draw a strip of pieces of text in some styles."""
    segments, room = [], width
    while room > 0:
        text = draw(TEXTS)
        text = set_cell_size(text, min(room, Segment(text).cell_length or 1))
        segments.append(Segment(text, draw(st.sampled_from(STYLES))))
        room -= Segment(text).cell_length
    return Strip(segments, width)


@st.composite
def updates(draw: st.DrawFn) -> CompositorUpdate:
    """Draw an update of some lines, or of all."""
    if draw(st.integers(0, 9)) == 0:
        return LayoutUpdate([[draw(strips(WIDTH))] for _ in range(HEIGHT)], Region(0, 0, WIDTH, HEIGHT))
    cuts = [draw(st.sampled_from(LAYOUTS)) for _ in range(HEIGHT)]
    chops: list[dict[int, Strip | None]] = [dict.fromkeys(line[:-1]) for line in cuts]
    spans = []
    for y in sorted(draw(st.sets(st.integers(0, HEIGHT - 1), min_size=1))):
        for x, end in zip(cuts[y], cuts[y][1:]):  # noqa: B905 - pairs
            if draw(st.booleans()) or len(cuts[y]) == 2:
                chops[y][x] = draw(strips(end - x))
                spans.append((y, x, end))
            elif draw(st.booleans()):
                chops[y][x] = draw(strips(end - x))  # outside of the spans: what lies below the widget there
    return ChopsUpdate(chops, spans or [(0, 0, 0)], [list(line[1:]) for line in cuts])


def after(sequences: list[str]) -> list[list[tuple[str, str, str, bool]]]:
    screen = pyte.Screen(WIDTH + 2, HEIGHT)  # pyte wraps a wide character that just fits
    stream = pyte.Stream(screen)
    for sequence in sequences:
        stream.feed(sequence)
    return [
        [(cell.data, cell.fg, cell.bg, cell.bold) for cell in (screen.buffer[y][x] for x in range(WIDTH))]
        for y in range(HEIGHT)
    ]


def both(of: list[CompositorUpdate]) -> tuple[list[str], list[str]]:
    diff = FrameDiff(erases=True)
    less = []
    for update in of:
        reduced = diff.reduced(update)
        assert isinstance(reduced, CompositorUpdate)
        less.append(reduced.render_segments(CONSOLE))
    return [update.render_segments(CONSOLE) for update in of], less


@settings(max_examples=200, deadline=None)
@given(st.lists(updates(), min_size=1, max_size=8))
def test_the_terminal_shows_the_same(of: list[CompositorUpdate]) -> None:
    all_of_it, less = both(of)

    assert after(less) == after(all_of_it)


def line(text: str, style: Style = STYLES[0]) -> ChopsUpdate:
    return ChopsUpdate([{0: Strip([Segment(text, style)], len(text))}], [(0, 0, len(text))], [[len(text)]])


def test_a_line_that_stays_is_not_written_again() -> None:
    _, less = both([line("abc"), line("abc")])

    assert less[1] == ""


def test_of_a_line_that_changes_only_the_change_is_written() -> None:
    _, less = both([line("load  9%"), line("load 10%")])

    assert "load" not in less[1]
    assert "10" in less[1]


def test_a_full_update_writes_only_what_changed() -> None:
    full = LayoutUpdate([[Strip([Segment("abX", STYLES[0])])]], Region(0, 0, 3, 1))
    _, less = both([line("abc"), full, line("abX")])

    assert "X" in less[1]
    assert "ab" not in less[1]
    assert less[2] == ""


def test_cells_of_one_style_are_written_together() -> None:
    red, blue = (Segment("a", STYLES[0]), Segment("b", STYLES[1]))
    _, less = both([ChopsUpdate([{0: Strip([red, blue, red, blue])}], [(0, 0, 4)], [[4]])])

    assert less[0].count("31m") == 1


def test_long_blanks_are_erased_and_not_written_but_drawn_ones_are() -> None:
    blank = " " * 20
    _, less = both([line(f"a{blank}b", Style(bgcolor="green")), line(f"c{blank}d", Style(underline=True))])

    assert blank not in less[0]
    assert "\x1b[20X" in less[0]
    assert blank in less[1]


def test_a_terminal_that_erases_in_another_colour_gets_the_blanks() -> None:
    blank = " " * 20

    assert blank in FrameDiff().write(line(f"a{blank}b"), ColorSystem.TRUECOLOR)


@pytest.mark.parametrize(("terminal", "erases"), [("xterm-256color", True), ("screen", False), ("nonsense", False)])
def test_what_the_terminal_can_do_comes_from_terminfo(terminal: str, erases: bool) -> None:  # noqa: FBT001
    script = "from gputop.ui.render.terminal_features import erases_in_colour; print(erases_in_colour())"
    said = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "TERM": terminal}, capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == str(erases)


def test_what_was_forgotten_is_written_again() -> None:
    diff = FrameDiff()
    diff.write(line("abc"), ColorSystem.TRUECOLOR)
    diff.forget()

    assert "abc" in diff.write(line("abc"), ColorSystem.TRUECOLOR)


@pytest.mark.parametrize("is_on", [True, False])
async def test_it_can_be_switched_off(is_on: bool) -> None:  # noqa: FBT001 - a parameter of the test
    async with staged(frame(1, (process(1),)), size=SMALL, writes_changes_only=is_on) as stage:
        assert (stage.app._diff is not None) is is_on


async def test_after_a_resize_everything_is_written_again() -> None:
    async with staged(frame(1, (process(1),)), size=SMALL) as stage:
        full = LayoutUpdate([[Strip([Segment("abc", STYLES[0])])]], Region(0, 0, *SMALL))
        stage.app.on_resize()
        written = []
        for update in (line("abc"), full, full):
            reduced = stage.app.reduced(update)
            assert isinstance(reduced, CompositorUpdate)
            written.append("abc" in reduced.render_segments(CONSOLE))

        assert written == [True, True, False]
