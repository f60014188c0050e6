"""Dialog that asks for one line of text."""

from collections.abc import Callable, Sequence

from textual import events

from gputop.ui.input.text_input import TextInput
from gputop.ui.render.line import Line, cut
from gputop.ui.screens.dialogs.dialog import Dialog


class AskScreen(Dialog[str | None]):
    """Asks for a text, and returns it, or None. ``wrong`` returns the problem with a text, or an empty string."""

    field: TextInput
    takes_early_keys = True

    def __init__(self, title: str, text: str, hint: str, wrong: Callable[[str], str]) -> None:
        super().__init__()
        self.field = TextInput()
        self.text = text  # that is proposed
        self._title, self._hint, self._wrong = title, hint, wrong
        self._trouble = ""

    def on_mount(self) -> None:
        """Propose the text; characters typed ahead come after it."""
        self.field.propose(self.text + self.field.value)
        super().on_mount()

    def typed(self, event: events.Key) -> bool:
        """Give every key to the field except Enter and Esc."""
        is_edit = self.field.press(event)
        if is_edit:
            self.edited()
        return is_edit

    def edited(self) -> None:
        """Remove the message about the previous text."""
        self._trouble = ""
        self.redraw()

    def pressed(self, key: str, character: str) -> None:  # noqa: ARG002 - characters go to the field
        """Close with the text, or with None."""
        if key == "escape":
            self.dismiss(None)
        elif key == "enter":
            self._trouble = self._wrong(self.field.value)
            if not self._trouble:
                self.dismiss(self.field.value)
            self.redraw()

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - always one line
        """Return the line below the field: the problem, or a hint."""
        below = (self._trouble, "hot") if self._trouble else (self._hint, "muted")
        return [Line(tuple(cut([below], width)))]

    def title_line(self) -> str:
        """Return the question."""
        return self._title

    def keys_line(self) -> str:
        """Return the keys."""
        return "Enter · Esc cancel"
