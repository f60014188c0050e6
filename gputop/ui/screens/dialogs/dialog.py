"""A question over the screen: it takes its own keys alone, and of those only what was typed after it was drawn."""

from collections.abc import Sequence
from time import monotonic
from typing import Final, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from gputop.ui.render.line import Line, framed
from gputop.ui.render.line_widget import FastLines
from gputop.ui.screens.dialogs.modal import KeyedScreen

T = TypeVar("T")

WIDEST: Final = 110
_PAUSE_S: Final = 0.5  # after a key that came too early
_CLICK_GUARD_S: Final = 0.3  # a click that was meant for what lay there before


class DialogBody(FastLines):
    """Shows lines in a frame with a title, and with the keys at its lower edge."""

    def frame(self, title: str, lines: Sequence[Line], keys: str, *, inner: int, ink: str) -> None:
        """Draw, ``inner`` cells wide inside of the frame."""
        self.styles.width, self.styles.height = inner + 4, len(lines) + 2
        self.draw(framed(title, lines, keys, inner=inner, ink=ink))


class Dialog(KeyedScreen[T]):
    """Covers the screen with a question."""

    ink = "accent"

    def __init__(self, *, is_ascii: bool) -> None:
        super().__init__()
        self.body = DialogBody(is_ascii=is_ascii)
        self._drawn_s: float | None = None
        self._deaf_until_s = 0.0

    def compose(self) -> ComposeResult:
        """Show the frame."""
        yield self.body

    def on_mount(self) -> None:
        """Draw, and listen from then on."""
        self.redraw()
        self.call_after_refresh(self._listen)

    def on_resize(self) -> None:
        """Fit the new size."""
        self.redraw()

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:
        """Say whether an event happened after the dialog was seen."""
        return self._drawn_s is not None and event.time >= max(self._drawn_s + guard_s, self._deaf_until_s)

    @property
    def is_listening(self) -> bool:
        """Whether it was seen, so that keys count."""
        return self._drawn_s is not None

    def missed(self, event: events.Key) -> None:
        """Let what follows at once not count either: half of what was typed ahead may mean something else."""
        self._deaf_until_s = event.time + _PAUSE_S

    def is_meant_click(self, event: Message) -> bool:
        """Say whether a click came long enough after the dialog was seen."""
        return self.is_meant(event, _CLICK_GUARD_S)

    @property
    def room(self) -> tuple[int, int]:
        """Columns and lines inside of the frame, as large as it may be."""
        width, height = self.size
        return max(20, min(WIDEST, width * 98 // 100) - 4), max(4, height - 2 - (2 if height > 24 else 0))

    def redraw(self) -> None:
        """Draw the page."""
        if not all(self.size):
            return
        lines = self.page(*self.room)
        self.body.frame(self.title_line(), lines, self.keys_line(), inner=self.room[0], ink=self.ink)

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the lines inside of the frame, at most ``height``."""
        raise NotImplementedError

    def title_line(self) -> str:
        """Return what stands in the upper edge."""
        raise NotImplementedError

    def keys_line(self) -> str:
        """Return what stands in the lower edge."""
        raise NotImplementedError

    def _listen(self) -> None:
        self.redraw()
        self._drawn_s = monotonic()  # the clock of Textual's messages
