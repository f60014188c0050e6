"""The prompt at the bottom, for a filter or a search."""

from collections.abc import Sequence

from textual import events
from textual.message import Message

from gputop.ui.input.text_input import Editing
from gputop.ui.render.line import Line, cut, length
from gputop.ui.render.line_widget import FastLines


class PromptPanel(FastLines, can_focus=True):
    """Takes a line of text. While it is open it takes all keys but Ctrl-C."""

    class Changed(Message):
        """The text has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Ended(Message):
        """The user pressed Enter or Esc."""

        def __init__(self, text: str, *, is_kept: bool) -> None:
            super().__init__()
            self.text, self.is_kept = text, is_kept

    class Stepped(Message):
        """The user pressed F3 or Shift-F3: next or previous match."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self.label = ""
        self.editing = Editing()
        self._earlier: Sequence[str] = ()
        self._place = 0
        self.steps: dict[str, int] = {}  # keys that go to a match; printable keys are text
        self.display = False

    def ask(self, label: str, text: str, earlier: Sequence[str] = ()) -> None:
        """Open with a text. ``earlier``: texts that Up goes back to, the newest last."""
        self.label, self.editing = label, Editing(text, len(text))
        self._earlier, self._place = (*earlier, text), len(earlier)
        self.display = True
        self.screen.set_focus(self)
        self._paint()

    def close(self) -> None:
        """Hide the prompt."""
        self.display = False

    @property
    def left(self) -> int:
        """The column in which the text begins."""
        return len(self.label) + 3

    def on_resize(self) -> None:
        """Fit the new width."""
        self._paint()

    def on_paste(self, event: events.Paste) -> None:
        """Insert pasted text, as one line."""
        event.stop()
        self._set(self.editing.typed(event.text))

    def on_key(self, event: events.Key) -> None:
        """Take the key."""
        event.stop()
        event.prevent_default()
        match event.key:
            case "enter":
                self.post_message(self.Ended(self.editing.text, is_kept=True))
            case "escape":
                self.post_message(self.Ended(self.editing.text, is_kept=False))
            case key if key in self.steps and not event.is_printable:
                self.post_message(self.Stepped(self.steps[key]))
            case "up" | "down":
                self._recall(-1 if event.key == "up" else 1)
            case _:
                edited = self.editing.pressed(event.key, event.character)
                if edited is not None:
                    self._set(edited)

    def _recall(self, step: int) -> None:
        place = max(0, min(len(self._earlier) - 1, self._place + step))
        if place != self._place:
            self._place = place
            text = self._earlier[place]
            self._set(Editing(text, len(text)))

    def _set(self, editing: Editing) -> None:
        is_changed = editing.text != self.editing.text
        self.editing = editing
        self._paint()
        if is_changed:
            self.post_message(self.Changed(editing.text))

    def _paint(self) -> None:
        width = self.size.width or self.screen.size.width
        self.draw((prompt_line(self.label, self.editing, width),))


def prompt_line(label: str, editing: Editing, width: int) -> Line:
    """Return the line; a text that is too long shows the part around the cursor."""
    head = (f" {label} ", "badge")
    room = max(1, width - length([head]) - 2)
    before, under, after = editing.text[: editing.at], editing.text[editing.at : editing.at + 1], editing.text
    while length([(before, "")]) >= room:
        before = before[1:]
    spans = [head, (" ", "text"), (before, "title"), (under or " ", "cursor"), (after[editing.at + 1 :], "title")]
    return Line(tuple(cut(spans, width)))
