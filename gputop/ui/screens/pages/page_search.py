"""Looking for a text on a page: the line that is typed, and which line has it."""

from collections.abc import Sequence

from gputop.ui.render.line import Line

_LONGEST = 200


class PageSearch:
    """What is looked for. ``is_open``: keys are text."""

    def __init__(self) -> None:
        self.text = ""
        self.is_open = False

    def open(self) -> None:
        """Begin a new text."""
        self.text, self.is_open = "", True

    def press(self, key: str, character: str | None) -> None:
        """Take a key: Enter keeps the text, Esc drops it."""
        if key in {"enter", "escape"}:
            self.is_open = False
            self.text = self.text if key == "enter" else ""
        elif key in {"backspace", "ctrl+h"}:
            self.text = self.text[:-1]
        elif character and character.isprintable():
            self.text = (self.text + character)[:_LONGEST]

    def find(self, page: Sequence[Line], start: int, step: int = 1) -> int | None:
        """Return the line that has the text, from ``start`` on and around the end."""
        needle = self.text.lower()
        for distance in range(len(page) if needle else 0):
            at = (start + distance * step) % len(page)
            if needle in "".join(text for text, _ in page[at].spans).lower():
                return at
        return None
