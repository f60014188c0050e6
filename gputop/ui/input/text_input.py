"""One-line text field: Textual's Input, whose keys its owner hands on."""

from typing import Final

from textual import events
from textual.actions import parse
from textual.binding import Binding
from textual.widgets import Input

from gputop.core.text.text import clean

_ACTIONS: Final = {
    key: parse(binding.action)
    for binding in Input.BINDINGS
    if isinstance(binding, Binding) and binding.action != "submit"
    for key in binding.key.split(",")
}


class TextInput(Input):
    """Field for text of one line; ``signs`` limits the characters that it takes.

    Keys and pastes pass through to the screen, which hands them back through `press` and `put`: so a key that was typed
    before the field had the focus counts as well, and in its order.
    """

    def __init__(self, *, hint: str = "", signs: str = "", selects: bool = False) -> None:
        super().__init__(placeholder=hint, select_on_focus=selects, compact=True)
        self.cursor_blink = False
        self._signs = signs
        self._selects = selects

    def on_key(self, event: events.Key) -> None:
        """Leave the key to the screen."""
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Leave the text to the screen."""
        event.prevent_default()

    def press(self, event: events.Key) -> bool:
        """Edit the text as the key says; return whether the key has a meaning here."""
        return self.types(event) or self.edits(event)

    def types(self, event: events.Key) -> bool:
        """Insert the character of a key; return whether the field takes it."""
        is_taken = event.is_printable and (not self._signs or (event.character or "") in self._signs)
        if is_taken:
            self.put(event.character or "")
        return is_taken

    def edits(self, event: events.Key) -> bool:
        """Move the cursor, select or delete as the key says; return whether it does any of these."""
        if event.key not in _ACTIONS:
            return False
        _, name, arguments = _ACTIONS[event.key]
        getattr(self, f"action_{name}")(*arguments)
        return True

    def put(self, text: str) -> None:
        """Insert text as one line in place of the selection."""
        self.replace(clean(" ".join(text.split("\n"))), *self.selection)

    def propose(self, text: str) -> None:
        """Show a text; in a field that selects, the next character replaces it."""
        self.value = f"{text} "  # the first change of an Input does not scroll to its cursor (Textual 8.2.8)
        self.value = text
        if self._selects:
            self.select_all()
        else:
            self.action_end()
