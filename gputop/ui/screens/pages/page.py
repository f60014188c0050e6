"""Scrolling page over the main screen."""

from collections.abc import Mapping
from typing import ClassVar

from textual import events

from gputop.ui.input.keymap import ALWAYS_QUITS
from gputop.ui.messages import KeyUnused, PageCopied
from gputop.ui.screens.dialogs.modal import SCROLLS, WIDEST, KeyedScreen


class Page(KeyedScreen[None]):
    """Covers the main screen with a page that scrolls."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "accept": "close", "help": "show_help", **SCROLLS,
        "page-on": "scroll_pages(1)", "copy": "copy_page",
    }  # fmt: skip
    title_text = ""

    @property
    def room(self) -> tuple[int, int]:
        """Columns and lines inside the frame, at its largest."""
        width, height = self.size
        if self.is_full:
            return super().room
        return max(1, min(WIDEST, width * 94 // 100) - 4), max(1, height - 4)

    def title_line(self) -> str:
        """Return the title."""
        return self.title_text

    def keys_line(self) -> str:
        """Return the key that closes the page, or the number of lines below."""
        return f"{self.rest} more below" if self.rest > 0 else f"{self.name_of('back')} close"

    def copy_page(self) -> None:
        """Copy the whole page as text."""
        title = self.title_line()
        lines = [title, "", *("".join(text for text, _ in line.spans).rstrip() for line in self.body.lines)]
        self.post_message(PageCopied(title, "\n".join(lines) + "\n"))

    def pressed(self, key: str, character: str) -> None:
        """Run the method of a key, or say that it has none."""
        if self.method(key) is None and key != ALWAYS_QUITS:
            self.post_message(KeyUnused(key))
        super().pressed(key, character)

    def on_click(self, event: events.Click) -> None:  # noqa: ARG002 - for subclasses
        """Close the page, unless it covers the whole screen."""
        if not self.is_full:
            self.dismiss()
