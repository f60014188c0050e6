"""Message panel: one line above the keys, hidden without a message."""

from gputop.ui.render.line import BLANK, Line, ends, length
from gputop.ui.render.line_widget import OpeningLines
from gputop.ui.state.message_log import Said


class MessagePanel(OpeningLines):
    """Shows a message. A click opens the page of past messages."""

    opens = "page.messages"

    def __init__(self) -> None:
        super().__init__()
        self.display = False

    def show(self, said: Said | None, key: str) -> bool:
        """Draw a message, or hide; return whether the panel came or went. ``key``: opens the page of messages."""
        was_shown = bool(self.display)
        self.draw_fitted([] if said is None else [_line(said, key, self.app.size.width)])
        return was_shown != bool(self.display)


def _line(said: Said, key: str, width: int) -> Line:
    text = " · ".join(said.text.splitlines())
    more = f" {key}: all " if length([(text, "")]) + 2 > width else ""
    return Line(ends([(f" {text}", said.ink)], [(more, "key")] if more else [], width), BLANK.base)
