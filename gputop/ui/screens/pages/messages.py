"""Page of past messages."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from gputop.core.text.fit import fit
from gputop.ui.panels.values import clock
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.message_log import MessageLog

_TIME: Final = 10


class MessagesScreen(Page):
    """Lists the messages since the start, the last one first."""

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "messages": "close"}
    title_text = "Messages"

    def __init__(self, log: MessageLog) -> None:
        super().__init__()
        self._log = log

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return each message with its time."""
        lines = []
        for said in self._log.past:
            parts = [part for line in said.text.splitlines() for part in wrap(line, max(20, width - _TIME))]
            times = [clock(said.time_s), *[""] * len(parts)]
            lines += [
                Line(((fit(time, _TIME), "muted"), (part, said.ink))) for time, part in zip(times, parts, strict=False)
            ]
        return lines or [Line((("no messages yet", "muted"),))]
