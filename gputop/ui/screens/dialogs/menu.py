"""A list to choose one from."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct
from textual import events
from textual.message import Message

from gputop.core.text.text import fit
from gputop.ui.render.line import Line, ends, length
from gputop.ui.screens.dialogs.dialog import Dialog


class Choice(Struct, frozen=True):
    """An entry of a menu. ``note`` stands at the right end."""

    value: str
    label: str
    note: str = ""


class MenuScreen(Dialog[str | None]):
    """Ends with the value that was chosen, or None. Letters go to the next entry that begins with them."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "cancel", "quit": "cancel", "accept": "choose", "up": "previous", "down": "following",
        "home": "first", "end": "last", "page-up": "page_back", "page-down": "page_on",
    }  # fmt: skip

    def __init__(self, title: str, choices: Sequence[Choice], current: str | None, *, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self.title_text = title
        self.choices = choices
        self.current = current
        values = [choice.value for choice in choices]
        self.at = values.index(current) if current in values else 0
        self._top = 0
        self._shown = 1

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:  # noqa: ARG002 - nothing here does harm
        """Take keys that were typed ahead as well."""
        return True

    def title_line(self) -> str:
        """Return the question."""
        return self.title_text

    def keys_line(self) -> str:
        """Return what keys do, and how much there is."""
        place = f"{self.at + 1}/{len(self.choices)}  " if len(self.choices) > self._shown else ""
        return f"{place}{self.name_of('accept')} chooses  {self.name_of('back')} cancels"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the entries around the chosen one."""
        self._shown = min(height, len(self.choices))
        self._top = max(0, min(self._top, self.at, len(self.choices) - self._shown))
        self._top = max(self._top, self.at - self._shown + 1)
        shown = list(enumerate(self.choices))[self._top : self._top + self._shown]
        return [self._line(choice, at, width) for at, choice in shown]

    def pressed(self, key: str, character: str) -> None:
        """Go to the next entry that begins with a letter."""
        if self.method(key) or not character.strip():
            super().pressed(key, character)
            return
        count = len(self.choices)
        for step in range(1, count + 1):
            if self.choices[(self.at + step) % count].label.lower().startswith(character.lower()):
                self._go((self.at + step) % count)
                return

    def on_click(self, event: events.Click) -> None:
        """Choose what is clicked; beside the list cancel."""
        at = self._top + event.screen_y - self.body.region.y - 1
        if not self.body.region.contains(event.screen_x, event.screen_y):
            self.dismiss(None)
        elif self._top <= at < min(self._top + self._shown, len(self.choices)):
            self.dismiss(self.choices[at].value)

    def on_mouse_scroll_down(self) -> None:
        """Go on."""
        self._go(self.at + 1)

    def on_mouse_scroll_up(self) -> None:
        """Go back."""
        self._go(self.at - 1)

    def cancel(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def choose(self) -> None:
        """Choose what is marked."""
        self.dismiss(self.choices[self.at].value)

    def previous(self) -> None:
        """Mark the one before."""
        self._go(self.at - 1)

    def following(self) -> None:
        """Mark the next."""
        self._go(self.at + 1)

    def first(self) -> None:
        """Mark the first."""
        self._go(0)

    def last(self) -> None:
        """Mark the last."""
        self._go(len(self.choices) - 1)

    def page_back(self) -> None:
        """Go a page back."""
        self._go(self.at - self._shown)

    def page_on(self) -> None:
        """Go a page on."""
        self._go(self.at + self._shown)

    def _go(self, at: int) -> None:
        self.at = max(0, min(at, len(self.choices) - 1))
        self.redraw()

    def _line(self, choice: Choice, at: int, width: int) -> Line:
        mark = "▶ " if choice.value == self.current else "  "
        room = max(1, width - length([(choice.note, "")]) - 5)
        left = [(mark, "accent"), (fit(choice.label, min(room, max(1, length([(choice.label, "")])))), "text")]
        return Line(ends(left, [(choice.note, "muted")], width), "cursor" if at == self.at else "text")
