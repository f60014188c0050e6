"""What the palette offers: all actions by their names, with their keys, each theme, and each column to sort by."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeAlias

from textual.app import SystemCommand

from gputop.core.processes.columns import COLUMNS
from gputop.ui.input.actions import Action
from gputop.ui.input.keymap import keys_text
from gputop.ui.render.theme import THEME_NAMES

Run: TypeAlias = Callable[[str], Awaitable[object]]

_LABEL: Final = 32


def commands(actions: Iterable[Action], run: Run) -> Iterator[SystemCommand]:
    """Return the commands, a line for each; ``run`` runs an action."""
    for action in actions:
        if action.in_palette:
            yield SystemCommand(f"{action.label:<{_LABEL}}{keys_text(action)}".rstrip(), "", partial(run, action.run))
    for name in THEME_NAMES:
        yield SystemCommand(f"Theme: {name}", "", partial(run, f"theme('{name}')"))
    for column in COLUMNS:
        yield SystemCommand(f"Sort by {column.title}", "", partial(run, f"processes.sort_by('{column.key}')"))
