"""A line of text that the user edits."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.text.text import clean


class Editing(Struct, frozen=True):
    """The text and the place of the cursor in it."""

    text: str = ""
    at: int = 0

    def pressed(self, key: str, character: str | None) -> "Editing | None":
        """Return the text after a key; None where the key means nothing to a line of text."""
        if key in _KEYS:
            return Editing(*_KEYS[key](self.text, self.at))
        return self.typed(character) if character and character.isprintable() else None

    def typed(self, more: str) -> "Editing":
        """Return the text with more of it at the cursor; what could steer a terminal is made harmless."""
        added = clean(" ".join(more.split("\n")))
        return Editing(self.text[: self.at] + added + self.text[self.at :], self.at + len(added))


def _without_word(text: str, at: int) -> tuple[str, int]:
    begin = text[:at].rstrip().rfind(" ") + 1
    return text[:begin] + text[at:], begin


_KEYS: Final[dict[str, Callable[[str, int], tuple[str, int]]]] = {
    "backspace": lambda text, at: (text[: max(0, at - 1)] + text[at:], max(0, at - 1)),
    "delete": lambda text, at: (text[:at] + text[at + 1 :], at),
    "left": lambda text, at: (text, max(0, at - 1)),
    "right": lambda text, at: (text, min(len(text), at + 1)),
    "home": lambda text, _: (text, 0),
    "end": lambda text, _: (text, len(text)),
    "ctrl+a": lambda text, _: (text, 0),
    "ctrl+e": lambda text, _: (text, len(text)),
    "ctrl+u": lambda text, at: (text[at:], 0),
    "ctrl+k": lambda text, at: (text[:at], at),
    "ctrl+w": _without_word,
}
