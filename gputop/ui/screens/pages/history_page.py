"""Page with plots over time: zoom, pan and a cursor."""

from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec.structs import replace

from gputop.core.recording.look import Look
from gputop.core.recording.window import Window
from gputop.ui.panels.band import cells_of
from gputop.ui.screens.pages.page import Page

_PAN: Final = 0.5


class HistoryPage(Page):
    """Lets the user choose the time that the plots show. A subclass sets ``look``."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES, "back": "step_back", "history": "close", "zoom-in": "zoom(-1)", "zoom-out": "zoom(1)",
        "left": "point(-1)", "right": "point(1)", "earlier": "pan(-1)", "later": "pan(1)", "home": "go_to_start",
        "end": "go_to_end",
    }  # fmt: skip
    is_full = True
    look: Look

    @property
    def whole(self) -> Window:
        """Return the time of which values are kept."""
        raise NotImplementedError

    def look_keys(self) -> list[str]:
        """Return the keys that choose the time."""
        name = self.name_of
        return [
            f"{name('zoom-in')} {name('zoom-out')} zoom", f"{name('left')} {name('right')} cursor",
            f"{name('earlier')} {name('later')} move",
        ]  # fmt: skip

    def back_key(self) -> str:
        """Return the key that removes the cursor, or closes the page."""
        return f"{self.name_of('back')} {'back' if self.look.cursor_s is not None else 'close'}"

    def step_back(self) -> None:
        """Remove the cursor and follow the last sample; without a cursor, close."""
        if self.look.cursor_s is None:
            self.close()
        else:
            self._show(replace(self.look, cursor_s=None))

    def zoom(self, step: int) -> None:
        """Show more or less time."""
        self._show(self.look.zoomed(step, self.whole))

    def pan(self, step: int) -> None:
        """Show earlier or later time."""
        self._show(self.look.panned(step * _PAN, self.whole))

    def point(self, step: int) -> None:
        """Move the cursor by a column; the first press sets it on the last sample."""
        self._show(self.look.pointed(step, self.whole, cells_of(self.room[0])))

    def go_to_start(self) -> None:
        """Show the oldest values."""
        self._show(replace(self.look.ending(self.whole.start_s, self.whole), cursor_s=None))

    def go_to_end(self) -> None:
        """Show the latest values, and follow them."""
        self._show(Look(self.look.zoom))

    def _show(self, look: Look) -> None:
        self.look = look
        self.redraw()
