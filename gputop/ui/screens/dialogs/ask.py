"""A dialog that asks for one line of text."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from gputop.ui.input.text_input import Editing
from gputop.ui.panels.prompt import prompt_line
from gputop.ui.render.line import Line, cut
from gputop.ui.screens.dialogs.dialog import Dialog


class AskScreen(Dialog[str | None]):
    """Asks. ``wrong`` says what is wrong with a text, nothing where it will do; it ends with the text, or with None."""

    TAKES: ClassVar[Mapping[str, str]] = {}

    def __init__(self, title: str, text: str, hint: str, wrong: Callable[[str], str], *, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self.editing = Editing(text, len(text))
        self._title, self._hint, self._wrong = title, hint, wrong
        self._trouble = ""

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:  # noqa: ARG002 - nothing is done before Enter
        """Take what was typed ahead."""
        return True

    def pressed(self, key: str, character: str) -> None:
        """Take a key."""
        self._trouble = ""
        if key == "escape":
            self.dismiss(None)
        elif key == "enter":
            self._trouble = self._wrong(self.editing.text)
            if not self._trouble:
                self.dismiss(self.editing.text)
        else:
            self.editing = self.editing.pressed(key, character) or self.editing
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        """Take what is pasted, as one line."""
        event.stop()
        self.editing = self.editing.typed(event.text)
        self.redraw()

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it is always short
        """Return the field, and what there is to know of it."""
        below = (self._trouble, "hot") if self._trouble else (self._hint, "muted")
        return [prompt_line(">", self.editing, width), Line(tuple(cut([below], width)))]

    def title_line(self) -> str:
        """Name what is asked."""
        return self._title

    def keys_line(self) -> str:
        """Name the keys."""
        return "Enter · Esc cancel"
