"""The help page, from the tables of keys and columns."""

from collections.abc import Sequence
from textwrap import wrap

from gputop.core.columns import COLUMNS
from gputop.ui.actions import ACTIONS, GENERAL, MOVE, SORT, VIEW, keys_text
from gputop.ui.line import BLANK, Line, fit
from gputop.ui.screens.overlay import Overlay


class HelpScreen(Overlay):
    """Shows what each key and each column is."""

    title_text = "Help"

    def page(self, width: int) -> Sequence[Line]:
        """Return keys by group, then columns."""
        lines: list[Line] = []
        for group in (GENERAL, VIEW, SORT, MOVE):
            lines += [BLANK] if lines else []
            lines.append(Line(((group, "accent"),)))
            for action in ACTIONS:
                if action.group == group:
                    lines += _entry((keys_text(action), action.label), action.help, width)
        lines += [BLANK, Line((("Columns", "accent"),))]
        for column in COLUMNS:
            lines += _entry((column.title, ""), column.help, width)
        return lines


def _entry(names: tuple[str, str], text: str, width: int) -> list[Line]:
    """Return an entry; its text goes on below itself."""
    keys, label = names
    head = fit(keys, 16), fit(label, 26) if label else ""
    room = max(16, width - len(head[0]) - len(head[1]))
    first, *more = wrap(text, room)
    indent = " " * (len(head[0]) + len(head[1]))
    lines = [Line(((head[0], "key"), (head[1], "text"), (first, "muted")))]
    return lines + [Line(((indent, "text"), (rest, "muted"))) for rest in more]
