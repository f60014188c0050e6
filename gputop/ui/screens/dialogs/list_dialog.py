"""Dialog with a list and a cursor; keys that were typed ahead count too, since none of them can do harm."""

from collections.abc import Sequence
from typing import Final, TypeVar

from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.modal import FAR

T = TypeVar("T")
V = TypeVar("V")

MOVES: Final = {"up": "move(-1)", "down": "move(1)", "home": "move_to(0)", "end": f"move_to({FAR})"}


class ListDialog(Dialog[T]):
    """Covers the screen with a list. ``at``: the entry under the cursor; `page` keeps it within the list."""

    takes_early_keys = True
    at = 0
    first_shown = 0

    def move(self, step: int) -> None:
        """Move the cursor."""
        self.move_to(self.at + step)

    def move_to(self, at: int) -> None:
        """Set the cursor on an entry."""
        self.at = at
        self.redraw()

    def on_mouse_scroll_down(self) -> None:
        """Go to the next entry."""
        self.move(1)

    def on_mouse_scroll_up(self) -> None:
        """Go to the previous entry."""
        self.move(-1)

    def window(self, entries: Sequence[V], rows: int) -> Sequence[V]:
        """Return the ``rows`` entries around the cursor."""
        lowest = max(0, min(self.first_shown, self.at, len(entries) - rows))
        self.first_shown = max(lowest, self.at - rows + 1)
        return entries[self.first_shown : self.first_shown + rows]
