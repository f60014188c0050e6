"""Screen over the main one: a frame with a title and keys, and in it a page of lines that scrolls."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import ClassVar, Final, TypeVar

from rich.style import Style
from textual import actions, events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.strip import Strip

from gputop.core.protocol.link import News
from gputop.ui.input.keymap import Keymap, keymap
from gputop.ui.input.text_input import TextInput
from gputop.ui.panels.message import MessagePanel
from gputop.ui.render.line import Line
from gputop.ui.render.line_widget import FastLines, dimmed, filtered
from gputop.ui.render.textual_private import mark_painted, painted
from gputop.ui.state.message_log import Said
from gputop.ui.state.view import View
from gputop.ui.terminal_app import TerminalApp

T = TypeVar("T")

WIDEST: Final = 110  # columns; longer lines are hard to read
FAR: Final = 10**6
SCROLLS: Final = {
    "up": "scroll_lines(-1)", "down": "scroll_lines(1)", "page-up": "scroll_pages(-1)", "page-down": "scroll_pages(1)",
    "home": "scroll_page_to(0)", "end": f"scroll_page_to({FAR})",
}  # fmt: skip


class PageBorder(VerticalScroll, can_focus=False):
    """Border with a title above and keys below, around content that scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self._edges = ("", "", "")

    def label(self, title: str, keys: str, ink: str) -> None:
        """Write the title and the keys into the border, and draw it in this ink."""
        if self._edges != (title, keys, ink):
            self._edges = title, keys, ink
            self.border_title, self.border_subtitle = Content(title), Content(keys)
            self.set_classes(f"-{ink}")


class KeyedScreen(ModalScreen[T]):
    """Covers the screen. ``TAKES``: the method for each action, as ``move(-1)``.

    ``is_full``: it hides the main screen completely.

    Keys come from the table of actions, so that every keymap holds here. Textual's bindings are not used: they would
    also take a key that was typed for the screen below before this one appeared.
    """

    TAKES: ClassVar[Mapping[str, str]] = {}
    AUTO_FOCUS = ""  # a hidden prompt would get it
    is_full = False
    ink = "accent"
    field: TextInput | None = None

    def __init__(self) -> None:
        super().__init__()
        self.frame = PageBorder()
        self.body = FastLines()
        self.message = MessagePanel()
        self.top = 0  # first line of the page in the frame
        self._shown = 1

    # --- what a subclass says ------------------------------------------------------------------------------------
    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the lines inside of the frame; those after ``height`` are reached by scrolling."""
        raise NotImplementedError

    def title_line(self) -> str:
        """Return the title, for the upper edge."""
        raise NotImplementedError

    def keys_line(self) -> str:
        """Return the keys, for the lower edge."""
        raise NotImplementedError

    def follow(self, view: View) -> None:
        """Draw the new view; dialogs, which show one moment, stay unchanged."""

    def hear(self, news: News) -> bool:  # noqa: ARG002 - for subclasses
        """Receive news from the link; return whether this screen shows it."""
        return False

    # --- drawing -------------------------------------------------------------------------------------------------
    def compose(self) -> ComposeResult:
        """Show the frame with the field, if there is one, and the page."""
        with self.frame:
            if self.field is not None:
                yield self.field
            yield self.body
        yield self.message

    def on_mount(self) -> None:
        """Draw the page, and update its keys when the user scrolls."""
        self.watch(self.frame, "scroll_y", self._scrolled, init=False)
        if self.field is not None:
            self.field.focus()
        self.redraw()

    def on_resize(self) -> None:
        """Fit the new size."""
        self.redraw()

    @property
    def room(self) -> tuple[int, int]:
        """Columns and lines inside of the frame, at its largest."""
        width, height = self.size
        height -= bool(self.message.display)
        if self.is_full:
            return max(1, width - 4), max(1, height - 2)
        return max(20, min(WIDEST, width * 98 // 100) - 4), max(1, height - 2 - (2 if height > 24 else 0))

    @property
    def rest(self) -> int:
        """Lines of the page below the frame."""
        return max(0, len(self.body.lines) - self.top - self._shown)

    def show_message(self, said: Said | None, key: str) -> None:
        """Show a message below the frame, or none; the frame makes room for it."""
        if self.is_mounted and self.message.show(said, key):
            self.redraw()

    def redraw(self) -> None:
        """Draw the page; the visible part stays visible."""
        if not all(self.size):
            return
        width, height = self.room
        height -= 0 if self.field is None else 1
        lines = self.page(width, max(1, height))
        self._shown = max(1, height) if self.is_full else max(1, min(height, len(lines)))
        self.frame.styles.width = width + 4
        self.frame.styles.height = self._shown + 2 + (0 if self.field is None else 1)
        self.body.styles.height = max(1, len(lines))
        self.body.draw(lines)
        self.scroll_page_to(self.top)

    def scroll_page_to(self, top: int) -> None:
        """Move the page so that this line of it comes first."""
        self.top = max(0, min(top, len(self.body.lines) - self._shown))
        if round(self.frame.scroll_y) != self.top:
            self.frame.scroll_to(y=self.top, animate=False)  # after the layout of what was just drawn
        self._label()

    def _scrolled(self, y: float) -> None:
        self.top = round(y)
        self._label()

    def _label(self) -> None:
        self.frame.label(self.title_line(), self.keys_line(), self.ink)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint the dimmed screen below without the box model: for 200x60 in a tenth of the time.

        After a resize the screen below may be smaller for a moment. Textual fails if a part has no line at all.
        """
        behind = self.render()
        if not isinstance(behind, BackgroundScreen):
            return super().render_lines(crop)
        strips = painted(behind.screen)[crop.y : crop.bottom]
        strips += [Strip([])] * (crop.height - len(strips))
        mark_painted(self)
        blank = Style(bgcolor=behind.screen.rich_style.bgcolor)
        whole = [dimmed(strip.crop_extend(crop.x, crop.right, blank), behind.color) for strip in strips]
        return filtered(self, whole)

    # --- keys ----------------------------------------------------------------------------------------------------
    def on_key(self, event: events.Key) -> None:
        """Handle a key, unless the user pressed it before this screen opened.

        A key that waited while an earlier one closed this screen belongs to the screen that is in front now.
        """
        late = copy(event)
        event.stop()
        event.prevent_default()
        if not self.is_current:
            self.app.post_message(late)
        elif not self.is_meant(event):
            self.missed(event)
        elif not self.typed(event):
            self.pressed(event.key, event.character or "")

    def on_paste(self, event: events.Paste) -> None:
        """Insert the pasted text into the field."""
        event.stop()
        if self.field is not None and self.is_meant(event):
            self.field.put(event.text)
            self.edited()

    def typed(self, event: events.Key) -> bool:
        """Edit the field; return whether the key did. A character goes to the field first, other keys to actions."""
        if self.field is None:
            return False
        is_edit = self.field.types(event) or (self.method(event.key) is None and self.field.edits(event))
        if is_edit:
            self.edited()
        return is_edit

    def edited(self) -> None:
        """React to a change of the field by the user."""

    def pressed(self, key: str, character: str) -> None:  # noqa: ARG002 - for subclasses
        """Run the method of a key."""
        method = self.method(key)
        if method is not None:
            _, name, arguments = actions.parse(method)
            getattr(self, name)(*arguments)

    def missed(self, event: events.Key) -> None:
        """React to a key that was not for this screen."""

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether an event is for this screen; a key typed ahead is, if it can do no harm."""
        return True

    def method(self, key: str) -> str | None:
        """Return the method that a key runs here, if any."""
        return self.keymap.taken(self.TAKES).get(key)

    def name_of(self, action: str) -> str:
        """Return the first key of an action, as it is printed on a keyboard."""
        return self.keymap.name(action)

    @property
    def keymap(self) -> Keymap:
        """The current keys."""
        return self.app.keymap if isinstance(self.app, TerminalApp) else keymap("gputop")

    def close(self) -> None:
        """Close without a result."""
        self.dismiss()

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close with a result; once closed, do nothing: Textual would close the screen that is in front now."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def show_help(self) -> None:
        """Show the help page on top."""
        self.call_later(self.app.run_action, "page.help")

    # --- scrolling -----------------------------------------------------------------------------------------------

    def scroll_lines(self, step: int) -> None:
        """Scroll by lines."""
        self.scroll_page_to(self.top + step)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by pages."""
        self.scroll_page_to(self.top + pages * max(1, self._shown - 2))
