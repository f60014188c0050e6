"""Help page: a sheet of all keys in columns, and a search in everything that the tables of keys and columns explain."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from textual import events

from gputop.core.processes.columns import COLUMNS
from gputop.core.text.cells import width as cells
from gputop.core.text.fit import fit
from gputop.ui.input.actions import ACTIONS, Action
from gputop.ui.input.keymap import keys_text
from gputop.ui.input.text_input import TextInput
from gputop.ui.render.line import BLANK, Line, Spans, cut, length
from gputop.ui.screens.pages.page import Page

_LEAST_COLUMN: Final = 36
_KEYS: Final = 13
_LEAST_GROUP: Final = 2  # lines of a group that stay with its title
TOGETHER: Final = {
    "view-next": ("view-before", "Next, previous view"),
    "view-users": ("view-jobs", "By user, by job"),
    "search-next": ("search-before", "Next, previous match"),
    "slower": ("faster", "Read slower, faster"),
    "nice-down": ("nice-up", "Raise, lower priority"),
    "sort-before": ("sort-next", "Previous, next sort"),
    "up": ("down", "Up, down"),
    "page-up": ("page-down", "Page up, down"),
    "home": ("end", "First, last"),
    "left": ("right", "Scroll left, right"),
    "line-start": ("line-end", "Scroll to start, end"),
    "zoom-in": ("zoom-out", "Zoom in, out"),
    "earlier": ("later", "Earlier, later"),
}
"""Actions that share a line of the sheet with another one, and the label of both."""


class HelpScreen(Page):
    """Lists each key. A search explains the matching keys and columns of the process table."""

    field: TextInput

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "back": "step_back", "help": "close", "search": "begin_search"}
    title_text = "Help"
    is_full = True

    def __init__(self, *, actions: Sequence[Action] = ACTIONS) -> None:
        super().__init__()
        self.field = TextInput(hint="/ finds a key by its action, or a column by its name")
        self._actions = [action for action in actions if action.keys]
        self._searches = False

    def method(self, key: str) -> str | None:
        """Return the method that a key runs; / searches in every keymap."""
        return "begin_search" if key == "slash" else super().method(key)

    def typed(self, event: events.Key) -> bool:
        """Edit the text of the search."""
        return self._searches and super().typed(event)

    def edited(self) -> None:
        """Show the matches from the first one."""
        self.top = 0
        self.redraw()

    def begin_search(self) -> None:
        """Open the field."""
        self._searches = True
        self.field.focus()
        self.redraw()

    def step_back(self) -> None:
        """Show the sheet again; without a search close the page."""
        if not self._searches:
            self.close()
            return
        self._searches = False
        self.field.clear()
        self.edited()

    def keys_line(self) -> str:
        """Return the keys, and the number of lines below."""
        rest = f"{self.rest} more below  " if self.rest > 0 else ""
        if self._searches:
            return f"{rest}{self.name_of('back')} all keys"
        return f"{rest}/ search  {self.name_of('back')} close"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the sheet of keys, or the explanations that match the search."""
        if self._searches:
            return self._matches(self.field.value.strip().lower(), width)
        return beside(self._sheet(), width, height)

    def _sheet(self) -> list[list[Line]]:
        """Return the lines of each group, the title first."""
        groups: dict[str, list[Line]] = {}
        shown = {action.id: action for action in self._actions}
        for action in self._actions:
            if action.id not in shown:  # it shares the line of another one
                continue
            lines = groups.setdefault(action.group, [Line(((action.group, "accent"),))])
            inks = ("faint", "faint") if action.off else ("key", "text")
            second, label = TOGETHER.get(action.id, ("", ""))
            other = shown.pop(second, None)
            keys = _first_keys(keys_text(action)) if other is None else _keys_of_both(action, other)
            words = f" {action.label if other is None else label}"
            lines.append(Line(((fit(keys, _KEYS), inks[0]), (words, inks[1]))))
        return list(groups.values())

    def _matches(self, text: str, width: int) -> list[Line]:
        lines: list[Line] = []
        for action in self._actions:
            said = f"Off: {action.off}." if action.off else action.help
            if text in f"{keys_text(action)} {action.label} {action.help}".lower():
                lines += _entry((keys_text(action), action.label), said, width, is_off=bool(action.off))
        for column in COLUMNS:
            if text in f"column {column.title} {column.help}".lower():
                lines += _entry((column.title, "column"), column.help, width)
        return lines or [Line((("nothing matches", "muted"),))]


def _keys_of_both(one: Action, other: Action) -> str:
    """Return the first keys of both, then the second ones, as long as two fit."""
    pairs = [" ".join(pair) for pair in zip(keys_text(one).split(), keys_text(other).split(), strict=False)]
    while len(pairs) > 1 and cells(" ".join(pairs)) > _KEYS:
        pairs.pop()
    return " ".join(pairs)


def _first_keys(text: str) -> str:
    """Return as many keys as fit; the search shows all of them."""
    while " " in text and cells(text) > _KEYS:
        text = text.rpartition(" ")[0]
    return text


def beside(groups: Sequence[Sequence[Line]], width: int, height: int) -> list[Line]:
    """Return the groups in columns, as many as the width holds and the height needs; a title stays with its group."""
    total = sum(len(group) + 1 for group in groups)
    needed = max(1, -(-(total + 2 * _LEAST_GROUP) // max(1, height)))
    count = max(1, min(needed, width // _LEAST_COLUMN))
    rows = height if count * height >= total else -(-total // count) + _LEAST_GROUP
    columns: list[list[Line]] = [[]]
    for group in groups:
        if columns[-1] and len(columns[-1]) + 1 + _LEAST_GROUP > rows:
            columns.append([])
        columns[-1] += [BLANK] if columns[-1] else []
        for line in group:
            if len(columns[-1]) >= rows:
                columns.append([])
            columns[-1].append(line)
    each = width // len(columns)
    return [Line(tuple(_row(columns, at, each))) for at in range(max(map(len, columns)))]


def _row(columns: Sequence[Sequence[Line]], at: int, width: int) -> Spans:
    """Return a line of all columns, each as wide as the others."""
    spans: Spans = []
    for column in columns:
        part = cut(list(column[at].spans), width - 1) if at < len(column) else []
        room = width - length(part)
        spans += [*part, (" " * room, "text")]
    return spans


def _entry(names: tuple[str, str], text: str, width: int, *, is_off: bool = False) -> list[Line]:
    """Return an entry; a long text continues below its beginning."""
    keys, label = names
    head = fit(keys, 16), fit(label, 26)
    room = max(16, width - len(head[0]) - len(head[1]))
    first, *more = wrap(text, room)
    indent = " " * (len(head[0]) + len(head[1]))
    inks = ("faint", "faint", "muted") if is_off else ("key", "text", "muted")
    lines = [Line(((head[0], inks[0]), (head[1], inks[1]), (first, inks[2])))]
    return lines + [Line(((indent, "text"), (rest, "muted"))) for rest in more]
