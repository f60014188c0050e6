"""Private names of Textual and rich that gputop uses, each for a cost that it saves or a gap that it closes.

Everything else in gputop uses public names only. tests/ui/render/test_textual_private.py watches each name, so a new
version of Textual fails there and not on a screen.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeAlias, TypeVar

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App
from textual.filter import LineFilter
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

__all__ = [
    "ChopsUpdate", "CompositorUpdate", "DisplayHook", "Update", "changed_spans", "color_system", "in_place_of",
    "mark_painted", "painted",
]  # fmt: skip

T = TypeVar("T")
Update: TypeAlias = RenderableType | CompositorUpdate | None


class DisplayHook(App[T], Generic[T], inherit_bindings=False):
    """App whose updates of the terminal go through ``reduced`` first, and whose line filters can be chosen."""

    def reduced(self, screen: Screen[Any], update: Update) -> Update:  # noqa: ARG002 - for subclasses
        """Return what to write for an update of this screen."""
        return update

    def use_filter(self, line_filter: LineFilter, *, is_only: bool) -> None:
        """Draw every line through this filter, in place of Textual's own filters or after them."""
        self._filters = [*([] if is_only else self._filters), line_filter]

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, self.reduced(screen, renderable))  # type: ignore[arg-type] # Textual does so too


def in_place_of(pump: MessagePump) -> AbstractContextManager[None]:
    """Let Textual give the result of a screen that is pushed here to this widget, whichever widget runs the code."""
    return pump._context()


def mark_painted(widget: Widget) -> None:
    """Take note that all lines of a widget are painted: `Widget.render_lines` does it, an override must as well."""
    widget._dirty_regions.clear()


def painted(screen: Screen[Any]) -> list[Strip]:
    """Return the lines of a screen as they are painted now."""
    return screen._compositor.render_strips()


def changed_spans(update: ChopsUpdate) -> Iterator[tuple[int, Mapping[int, Strip | None], tuple[int, ...]]]:
    """Yield for each changed line its row, its pieces by column, and where those begin and end.

    A piece outside of the spans is None: Textual fills it with what lies below the widget there.
    """
    spans: dict[int, list[tuple[int, int]]] = {}
    for y, start, end in update.spans:
        spans.setdefault(y, []).append((start, end))
    for y, changed in sorted(spans.items()):
        chops, ends = update.chops[y], update.chop_ends[y]
        pieces = {
            x: strip if any(x < right and left < end for left, right in changed) else None
            for (x, strip), end in zip(chops.items(), ends, strict=True)
        }
        yield y, pieces, (*chops, *ends)


def color_system(console: Console) -> ColorSystem:
    """Return the colours that the terminal has."""
    return console._color_system or ColorSystem.TRUECOLOR
