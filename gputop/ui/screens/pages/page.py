"""A page of lines over the main screen, that scrolls and goes away again."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult

from gputop.ui.render.line import Line, framed
from gputop.ui.render.line_widget import FastLines
from gputop.ui.screens.dialogs.modal import KeyedScreen

WIDEST: Final = 110  # as in gputop.tcss
_FAR: Final = 10**6


class OverlayBody(FastLines):
    """Shows a part of the page in a frame. ``edges``: title, and what stands below, given the lines that are hidden."""

    def __init__(self, edges: Callable[[int], tuple[str, str]], *, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self._edges = edges
        self._page: Sequence[Line] = ()
        self.top = 0

    def show(self, page: Sequence[Line], *, is_full: bool) -> None:
        """Draw this page, at the place where it was. ``is_full``: as high as the screen, however short it is."""
        self._page = page
        height = self.screen.size.height
        self.styles.height = height if is_full else min(len(page) + 2, max(4, height - 2))
        self.scroll_page_to(self.top)

    def scroll_page_to(self, top: int) -> None:
        """Move the page so that this line of it comes first."""
        room = max(1, self.size.height - 2)
        self.top = max(0, min(top, len(self._page) - room))
        shown = self._page[self.top : self.top + room]
        title, keys = self._edges(len(self._page) - self.top - len(shown))
        self.draw(framed(title, shown, keys, inner=max(1, self.size.width - 4), ink="accent"))

    def on_resize(self) -> None:
        """Fit the new size."""
        self.scroll_page_to(self.top)


class Overlay(KeyedScreen[None]):
    """Covers the main screen with a page."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "accept": "close", "help": "show_help", "up": "line_up", "down": "line_down",
        "page-up": "page_up", "page-down": "page_down", "page-on": "page_down", "home": "first", "end": "last",
    }  # fmt: skip
    title_text = ""

    def __init__(self, *, is_ascii: bool) -> None:
        super().__init__()
        self.body = OverlayBody(lambda rest: (self.title_line(), self.keys_line(rest)), is_ascii=is_ascii)

    def compose(self) -> ComposeResult:
        """Show the page."""
        yield self.body

    def on_mount(self) -> None:
        """Fill the page in."""
        self.draw_page()

    def on_resize(self) -> None:
        """Fill it in again, for the new width."""
        self.draw_page()

    def draw_page(self) -> None:
        """Draw the page as wide as the stylesheet lets it be."""
        self.body.show(self.page(min(WIDEST, self.size.width * 94 // 100) - 4), is_full=self.is_full)

    def page(self, width: int) -> Sequence[Line]:
        """Return the whole page, in lines of this width."""
        raise NotImplementedError

    def title_line(self) -> str:
        """Return what stands in the upper edge."""
        return self.title_text

    def keys_line(self, rest: int) -> str:
        """Return what stands at the lower edge; ``rest``: lines of the page below it."""
        return f"{rest} more below" if rest > 0 else f"{self.name_of('back')} closes"

    def close(self) -> None:
        """Go."""
        self.dismiss()

    def show_help(self) -> None:
        """Show the help page on top."""
        self.call_later(self.app.run_action, "page.help")

    def line_up(self) -> None:
        """Scroll up."""
        self.scroll_lines(-1)

    def line_down(self) -> None:
        """Scroll down."""
        self.scroll_lines(1)

    def page_up(self) -> None:
        """Scroll up by a page."""
        self.scroll_lines(-max(1, self.body.size.height - 4))

    def page_down(self) -> None:
        """Scroll down by a page."""
        self.scroll_lines(max(1, self.body.size.height - 4))

    def first(self) -> None:
        """Go to the first line."""
        self.scroll_lines(-_FAR)

    def last(self) -> None:
        """Go to the last line."""
        self.scroll_lines(_FAR)

    def scroll_lines(self, step: int) -> None:
        """Move the page under the frame."""
        self.body.scroll_page_to(self.body.top + step)

    def on_mouse_scroll_down(self) -> None:
        """Scroll down."""
        self.scroll_lines(3)

    def on_mouse_scroll_up(self) -> None:
        """Scroll up."""
        self.scroll_lines(-3)

    def on_click(self) -> None:
        """Close."""
        self.dismiss()
