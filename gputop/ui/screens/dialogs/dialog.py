"""Question over the screen; a key counts only if it was typed after the question was drawn."""

from time import monotonic
from typing import ClassVar, Final, TypeVar

from textual import events
from textual.message import Message

from gputop.ui.screens.dialogs.modal import KeyedScreen

T = TypeVar("T")

_PAUSE_S: Final = 0.5  # after a key that came too early
_CLICK_GUARD_S: Final = 0.3  # for a click that was meant for the screen below


class Dialog(KeyedScreen[T]):
    """Covers the screen with a question. ``takes_early_keys``: keys count that were typed before it was drawn."""

    takes_early_keys: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._drawn_s: float | None = None
        self._deaf_until_s = 0.0

    def on_mount(self) -> None:
        """Draw the question, and listen from then on."""
        super().on_mount()
        self.call_after_refresh(self._listen)

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:
        """Return whether an event happened after the user saw the dialog."""
        if self.takes_early_keys:
            return True
        return self._drawn_s is not None and event.time >= max(self._drawn_s + guard_s, self._deaf_until_s)

    @property
    def is_listening(self) -> bool:
        """Whether the dialog has been drawn, so that keys count."""
        return self._drawn_s is not None

    def missed(self, event: events.Key) -> None:
        """Ignore keys for a moment: the rest of what was typed ahead may mean something else here."""
        self._deaf_until_s = event.time + _PAUSE_S

    def is_meant_click(self, event: Message) -> bool:
        """Return whether a click came long enough after the user saw the dialog."""
        return self.is_meant(event, _CLICK_GUARD_S)

    def _listen(self) -> None:
        self.redraw()
        self._drawn_s = monotonic()  # the clock of Textual's messages
