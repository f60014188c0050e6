"""What the palette offers: all that can be done by its name, each theme, and each column to sort by."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from textual.app import SystemCommand

from gputop.core.processes.columns import COLUMNS
from gputop.ui.input.actions import Action
from gputop.ui.render.theme import THEME_NAMES

Run: TypeAlias = Callable[[str], Awaitable[object]]


def commands(actions: Iterable[Action], run: Run) -> Iterator[SystemCommand]:
    """Return the commands; ``run`` runs an action."""
    for action in actions:
        if action.in_palette:
            yield SystemCommand(action.label, action.help, partial(run, action.run))
    for name in THEME_NAMES:
        yield SystemCommand(f"Theme: {name}", "Change the colours.", partial(run, f"theme('{name}')"))
    for column in COLUMNS:
        yield SystemCommand(f"Sort by {column.title}", column.help, partial(run, f"processes.sort_by('{column.key}')"))
