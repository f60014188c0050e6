"""Private names of Textual and rich that gputop uses, each for a cost that it saves or a gap that it closes.

Everything else in gputop uses public names only. tests/ui/render/test_textual_private.py watches each name, so a new
version of Textual fails there and not on a screen.
"""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from shutil import get_terminal_size
from typing import Any, Generic, TypeAlias, TypeVar

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.text import Text
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers._writer_thread import WriterThread
from textual.events import Resize
from textual.filter import LineFilter
from textual.geometry import Size
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from gputop.core.text.system_limits import limit_text

__all__ = [
    "ChopsUpdate", "CompositorUpdate", "DisplayHook", "LayoutUpdate", "Update", "XTermParser", "color_system",
    "in_place_of", "mark_all_changed", "mark_painted", "painted", "waiting_writes", "written_strips",
]  # fmt: skip

T = TypeVar("T")
Update: TypeAlias = RenderableType | CompositorUpdate | None


class DisplayHook(App[T], Generic[T], inherit_bindings=False):
    """App whose updates of the terminal go through ``reduced`` first, and whose line filters can be chosen."""

    def reduced(self, update: Update) -> Update:
        """Return what to write for an update of the screen."""
        return update

    def use_filter(self, line_filter: LineFilter, *, is_only: bool) -> None:
        """Draw every line through this filter, in place of Textual's own filters or after them."""
        self._filters = [*([] if is_only else self._filters), line_filter]

    def write_sequence(self, text: str) -> None:
        """Write to the terminal as it is, between two updates of the screen."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(text)

    def take_size(self) -> None:
        """Lay the screen out for the present size of the terminal, which Textual can miss.

        Its timer may not have fired. And two signals in a row can post their sizes in the wrong order: the second one
        interrupts the handler of the first.
        """
        size = self.size if self.is_headless else Size(*get_terminal_size(self.size))
        if size == self.size:
            self._check_resize()
        else:
            self.post_message(Resize(size, size))

    def _fatal_error(self) -> None:
        """Print a limit of the system that ended the screen as a line, and any other error with its traceback."""
        if text := limit_text(sys.exc_info()[1]):
            self.panic(Text(f"gputop: {text}"))
        else:
            super()._fatal_error()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, self.reduced(renderable))  # type: ignore[arg-type] # Textual does so too


def waiting_writes(app: App[Any]) -> int:
    """Return how many writes wait for the terminal; 0 for a driver that writes at once."""
    thread: WriterThread | None = getattr(app._driver, "_writer_thread", None)
    return 0 if thread is None else thread._queue.qsize()


def in_place_of(pump: MessagePump) -> AbstractContextManager[None]:
    """Let Textual give the result of a screen that is pushed here to this widget, whichever widget runs the code."""
    return pump._context()


def mark_painted(widget: Widget) -> None:
    """Take note that all lines of a widget are painted: `Widget.render_lines` does it, an override must as well."""
    widget._dirty_regions.clear()


def mark_all_changed(screen: Screen[Any]) -> None:
    """Let the next update of a screen write all of it, also the cells that no widget covers."""
    screen._compositor._dirty_regions.add(screen._compositor.size.region)


def painted(screen: Screen[Any]) -> list[Strip]:
    """Return the lines of a screen as they are painted now."""
    return screen._compositor.render_strips()


def written_strips(update: ChopsUpdate | LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield the row, the column and the content of each piece of a line that an update writes.

    A piece of a changed line outside of the spans is left out: Textual fills it with what lies below the widget there.
    """
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                yield y, x, strip
                x += strip.cell_length
        return
    spans: dict[int, list[tuple[int, int]]] = {}
    for y, start, end in update.spans:
        spans.setdefault(y, []).append((start, end))
    for y, changed in sorted(spans.items()):
        for (x, piece), end in zip(update.chops[y].items(), update.chop_ends[y], strict=True):
            if piece is not None and any(x < right and left < end for left, right in changed):
                yield y, x, piece


def color_system(console: Console) -> ColorSystem:
    """Return the colours that the terminal has."""
    return console._color_system or ColorSystem.TRUECOLOR
