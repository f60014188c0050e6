"""Prompt at the bottom of a screen: a line for a filter or a search."""

from collections.abc import Mapping, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from gputop.ui.input.text_input import TextInput
from gputop.ui.render.line import Line
from gputop.ui.render.line_widget import FastLines


class PromptPanel(Horizontal):
    """Takes a line of text; while it is open it gets every key except Ctrl-C."""

    class Changed(Message):
        """The text has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Ended(Message):
        """The user pressed Enter (``is_kept``) or Esc."""

        def __init__(self, text: str, *, is_kept: bool) -> None:
            super().__init__()
            self.text, self.is_kept = text, is_kept

    class Stepped(Message):
        """The user wants the next match, or the one before."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self) -> None:
        super().__init__()
        self._label = FastLines()
        self.field = TextInput()
        self._earlier: Sequence[str] = ()
        self._place = 0
        self.steps: Mapping[str, int] = {}  # keys that go to a match, unless they are text
        self.left = 0  # column in which the text begins
        self.display = False

    def compose(self) -> ComposeResult:
        """Show the label and the field."""
        yield self._label
        yield self.field

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self.field.value

    def ask(self, label: str, text: str, earlier: Sequence[str] = ()) -> None:
        """Open with a text; Up goes back through ``earlier``, the newest last."""
        self.left = len(label) + 3
        self._label.styles.width = self.left
        self._label.draw((Line(((f" {label} ", "badge"), (" ", "text"))),))
        self.field.propose(text)
        self._earlier, self._place = (*earlier, text), len(earlier)
        self.display = True
        self.field.focus()

    def close(self) -> None:
        """Hide the prompt."""
        self.display = False

    def on_paste(self, event: events.Paste) -> None:
        """Insert the pasted text as one line."""
        event.stop()
        before = self.text
        self.field.put(event.text)
        self._tell(before)

    def on_key(self, event: events.Key) -> None:
        """Take the key."""
        event.stop()
        event.prevent_default()
        before = self.text
        match event.key:
            case "enter":
                self.post_message(self.Ended(before, is_kept=True))
            case "escape":
                self.post_message(self.Ended(before, is_kept=False))
            case key if key in self.steps and not event.is_printable:
                self.post_message(self.Stepped(self.steps[key]))
            case "up" | "down":
                self._recall(-1 if event.key == "up" else 1)
            case _:
                self.field.press(event)
        self._tell(before)

    def _recall(self, step: int) -> None:
        self._place = max(0, min(len(self._earlier) - 1, self._place + step))
        self.field.propose(self._earlier[self._place])

    def _tell(self, before: str) -> None:
        """Post that the text has changed: at once, so that an Enter cannot overtake it."""
        if self.text != before:
            self.post_message(self.Changed(self.text))
