"""Help page, made from the tables of keys and columns."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from gputop.core.processes.columns import COLUMNS
from gputop.core.text.fit import fit
from gputop.ui.input.actions import ACTIONS, Action
from gputop.ui.input.keymap import keys_text
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.page import Page


class HelpScreen(Page):
    """Explains each key and each column."""

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "help": "close"}
    title_text = "Help"

    def __init__(self, *, refusal: str = "", actions: Sequence[Action] = ACTIONS) -> None:
        super().__init__()
        self._actions = actions
        self._refusal = refusal

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return keys by group, then columns."""
        lines: list[Line] = []
        for group in dict.fromkeys(action.group for action in self._actions):
            lines += [BLANK] if lines else []
            lines.append(Line(((group, "accent"),)))
            for action in self._actions:
                if action.group == group and action.keys:
                    is_off = bool(self._refusal) and action.changes_machine
                    text = f"Off: {self._refusal}." if is_off else action.help
                    lines += _entry((keys_text(action), action.label), text, width, is_off=is_off)
        lines += [BLANK, Line((("Columns", "accent"),))]
        for column in COLUMNS:
            lines += _entry((column.title, ""), column.help, width)
        return lines


def _entry(names: tuple[str, str], text: str, width: int, *, is_off: bool = False) -> list[Line]:
    """Return an entry; a long text continues below its beginning."""
    keys, label = names
    head = fit(keys, 16), fit(label, 26) if label else ""
    room = max(16, width - len(head[0]) - len(head[1]))
    first, *more = wrap(text, room)
    indent = " " * (len(head[0]) + len(head[1]))
    inks = ("faint", "faint", "muted") if is_off else ("key", "text", "muted")
    lines = [Line(((head[0], inks[0]), (head[1], inks[1]), (first, inks[2])))]
    return lines + [Line(((indent, "text"), (rest, "muted"))) for rest in more]
