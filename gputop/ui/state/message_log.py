"""Messages to the user: the one that is shown now, and the past ones."""

from collections import deque
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gputop.ui.state.signal_followup import Clock

_MOST: Final = 200
_USUAL_S: Final = 5.0


class Said(Struct, frozen=True, kw_only=True):
    """A message. ``time_s``: since the epoch; ``until_s``: by the clock of the log; ``action``: what it is about."""

    text: str
    ink: str
    time_s: float
    until_s: float
    action: str = ""


class MessageLog:
    """Keeps messages. A later message about the same action replaces the earlier one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: deque[Said] = deque(maxlen=_MOST)

    def add(self, text: str, *, ink: str, time_s: float, for_s: float | None, action: str = "") -> None:
        """Add a message, which is shown for some seconds."""
        for one in [one for one in self._held if action and one.action == action]:
            self._held.remove(one)
        until_s = self._clock() + (_USUAL_S if for_s is None else for_s)
        self._held.append(Said(text=text, ink=ink, time_s=time_s, until_s=until_s, action=action))

    @property
    def current(self) -> Said | None:
        """The message to show now: the last one whose time is not over."""
        now = self._clock()
        return next((one for one in reversed(self._held) if now < one.until_s), None)

    @property
    def past(self) -> Sequence[Said]:
        """All messages, the last one first."""
        return tuple(reversed(self._held))
