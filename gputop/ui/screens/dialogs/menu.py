"""Menu: a list to choose one entry from."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import OptionList

from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.ui.render.line import Line, ends
from gputop.ui.render.line_widget import as_text
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.modal import FAR


class Choice(Struct, frozen=True):
    """Entry of a menu, with a note at its right end."""

    value: str
    label: str
    note: str = ""


class MenuScreen(Dialog[str | None]):
    """Returns the chosen value, or None. A letter goes to the next entry that begins with it."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "accept": "choose", "up": "move(-1)", "down": "move(1)",
        "home": f"move({-FAR})", "end": f"move({FAR})", "page-up": "page_up", "page-down": "page_down",
    }  # fmt: skip
    takes_early_keys = True

    def __init__(self, title: str, choices: Sequence[Choice], current: str | None) -> None:
        super().__init__()
        self.title_text = title
        self.choices = choices
        self.current = current
        self.list = OptionList(compact=True)

    def compose(self) -> ComposeResult:
        """Show the list in the frame."""
        with self.frame:
            yield self.list

    def on_mount(self) -> None:
        """Draw the entries, and highlight the current one."""
        super().on_mount()
        self.list.focus()

    @property
    def at(self) -> int:
        """The number of the highlighted entry."""
        return self.list.highlighted or 0

    def title_line(self) -> str:
        """Return the question."""
        return self.title_text

    def keys_line(self) -> str:
        """Return the keys, and the position in a list that is longer than the frame."""
        place = f"{self.at + 1}/{len(self.choices)}  " if len(self.choices) > self.room[1] else ""
        return f"{place}{self.name_of('accept')} choose  {self.name_of('back')} cancel"

    def redraw(self) -> None:
        """Draw the entries as wide as the frame."""
        if not all(self.size):
            return
        room, height = self.room
        values = [choice.value for choice in self.choices]
        at = self.at if self.list.option_count else values.index(self.current) if self.current in values else 0
        self.list.set_options(self._text(choice, room) for choice in self.choices)
        self.list.highlighted = at
        self.frame.styles.width = room + 4
        self.frame.styles.height = min(height, len(self.choices)) + 2
        self._label()

    def pressed(self, key: str, character: str) -> None:
        """Go to the next entry that begins with a letter."""
        if self.method(key) or not character.strip():
            super().pressed(key, character)
            return
        count = len(self.choices)
        for at in ((self.at + step) % count for step in range(1, count + 1)):
            if self.choices[at].label.lower().startswith(character.lower()):
                self.list.highlighted = at
                return

    def on_option_list_option_highlighted(self) -> None:
        """Show the position in the list."""
        self._label()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Choose the clicked entry."""
        self.dismiss(self.choices[message.option_index].value)

    def on_click(self, event: events.Click) -> None:
        """Choose nothing after a click outside of the list."""
        if not self.frame.region.contains(event.screen_x, event.screen_y):
            self.dismiss(None)

    def choose(self) -> None:
        """Choose the highlighted entry."""
        self.dismiss(self.choices[self.at].value)

    def move(self, step: int) -> None:
        """Move the highlight, at most to the first or last entry."""
        self.list.highlighted = max(0, min(self.at + step, len(self.choices) - 1))

    def page_up(self) -> None:
        """Go back a page."""
        self.list.action_page_up()  # type: ignore[no-untyped-call] # of Textual

    def page_down(self) -> None:
        """Go forward a page."""
        self.list.action_page_down()  # type: ignore[no-untyped-call] # of Textual

    def _text(self, choice: Choice, room: int) -> Text:
        mark = "▶ " if choice.value == self.current else "  "
        label = fit(choice.label, max(1, min(width(choice.label), room - width(choice.note) - 5)))
        line = Line(ends([(mark, "accent"), (label, "text")], [(choice.note, "muted")], room))
        return as_text(line, self.app)
