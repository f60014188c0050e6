"""The help page, from the tables of keys and columns."""

from collections.abc import Sequence

from gputop.core.columns import COLUMNS
from gputop.ui.actions import ACTIONS, GENERAL, MOVE, SORT, VIEW, keys_text
from gputop.ui.line import BLANK, Line, fit
from gputop.ui.screens.overlay import Overlay


class HelpScreen(Overlay):
    """Shows what each key and each column is."""

    title_text = "Help"

    def page(self) -> Sequence[Line]:
        """Return keys by group, then columns."""
        lines: list[Line] = []
        for group in (GENERAL, VIEW, SORT, MOVE):
            lines += [BLANK] if lines else []
            lines.append(Line(((group, "accent"),)))
            lines += [_entry(keys_text(a), a.label, a.help) for a in ACTIONS if a.group == group]
        lines += [BLANK, Line((("Columns", "accent"),))]
        lines += [_entry(column.title, "", column.help) for column in COLUMNS]
        return lines


def _entry(keys: str, label: str, text: str) -> Line:
    label = fit(label, 26) if label else ""
    return Line(((fit(keys, 18), "key"), (label, "text"), (text, "muted")))
