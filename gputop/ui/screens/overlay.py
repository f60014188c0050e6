"""A page of lines over the main screen, that scrolls and goes away again."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from gputop.ui.line import Line, Spans, cut, fit, length
from gputop.ui.widgets.fastlines import FastLines

WIDEST: Final = 110  # as in gputop.tcss


class OverlayBody(FastLines):
    """Shows a part of the page in a frame."""

    def __init__(self, title: str, *, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self.title = title
        self.is_full = False
        self._page: Sequence[Line] = ()
        self._top = 0

    def show(self, page: Sequence[Line]) -> None:
        """Draw this page, at the place where it was. ``is_full``: as high as the screen, however short it is."""
        self._page = page
        height = self.screen.size.height
        self.styles.height = height if self.is_full else min(len(page) + 2, max(4, height - 2))
        self._paint()

    def scroll_lines(self, step: int) -> None:
        """Move the page under the frame."""
        self.scroll_page_to(self._top + step)

    def scroll_page_to(self, top: int) -> None:
        """Move the page so that this line of it comes first."""
        self._top = top
        self._paint()

    @property
    def top(self) -> int:
        """The line of the page that comes first."""
        return self._top

    @property
    def room(self) -> int:
        """Lines inside of the frame."""
        return max(1, self.size.height - 2)

    def on_resize(self) -> None:
        """Fit the new size."""
        self._paint()

    def _paint(self) -> None:
        self._top = max(0, min(self._top, len(self._page) - self.room))
        inner = max(1, self.size.width - 4)
        shown = self._page[self._top : self._top + self.room]
        body = [Line((("│ ", "accent"), *cut(list(line.spans), inner), (" │", "accent"))) for line in shown]
        rest = len(self._page) - self._top - len(shown)
        self.draw([self._edge("╭", self.title, "╮"), *body, self._edge("╰", self.foot(rest), "╯")])

    def foot(self, rest: int) -> str:
        """Return what stands at the lower edge; ``rest``: lines of the page below it."""
        return f" {rest} more below " if rest > 0 else " Esc closes "

    def _edge(self, left: str, text: str, right: str) -> Line:
        text = fit(text, self.size.width - 4) if len(text) > self.size.width - 4 else text
        spans: Spans = [(left + "─", "accent"), (text, "title" if left == "╭" else "muted")]
        rule = "─" * max(0, self.size.width - length(spans) - 1)
        return Line((*spans, (rule + right, "accent")))


class Overlay(ModalScreen[None]):
    """Covers the main screen with a page. Its own keys only scroll and close."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,h,question_mark,i,enter,f10", "dismiss", "Close", show=False),
        Binding("up,k,alt+k", "scroll_lines(-1)", "Up", show=False),
        Binding("down,j,alt+j", "scroll_lines(1)", "Down", show=False),
        Binding("pageup", "scroll_lines(-15)", "Page up", show=False),
        Binding("pagedown,space", "scroll_lines(15)", "Page down", show=False),
        Binding("home", "scroll_lines(-99999)", "Top", show=False),
        Binding("end", "scroll_lines(99999)", "Bottom", show=False),
    ]
    title_text = ""

    def __init__(self, *, is_ascii: bool) -> None:
        super().__init__()
        self._body = OverlayBody(f" {self.title_text} ", is_ascii=is_ascii)

    def compose(self) -> ComposeResult:
        """Show the page."""
        yield self._body

    def on_mount(self) -> None:
        """Fill the page in."""
        self.draw_page()

    def on_resize(self) -> None:
        """Fill it in again, for the new width."""
        self.draw_page()

    def draw_page(self) -> None:
        """Draw the page as wide as the stylesheet lets it be."""
        self._body.show(self.page(min(WIDEST, self.size.width * 94 // 100) - 4))

    def page(self, width: int) -> Sequence[Line]:
        """Return the whole page, in lines of this width."""
        raise NotImplementedError

    def action_scroll_lines(self, step: int) -> None:
        """Scroll."""
        self._body.scroll_lines(step)

    def on_mouse_scroll_down(self) -> None:
        """Scroll down."""
        self._body.scroll_lines(3)

    def on_mouse_scroll_up(self) -> None:
        """Scroll up."""
        self._body.scroll_lines(-3)

    def on_click(self) -> None:
        """Close."""
        self.dismiss()
