"""Choice of columns as a file has it: all of them in order, or only the changes to the default ones."""

from collections.abc import Sequence
from typing import Final

from gputop.core.processes.columns import DEFAULT_COLUMNS

USUAL: Final = tuple(column.key for column in DEFAULT_COLUMNS)
_COMMAND: Final = "command"


def is_change(entry: str) -> bool:
    """Return whether an entry such as +job or -nice changes the default columns."""
    return entry.startswith(("+", "-"))


def expanded(entries: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a list of the file selects."""
    if not entries or not all(map(is_change, entries)):
        return tuple(entries)
    held = USUAL
    for entry in entries:
        key = entry[1:]
        held = with_column(held, key) if entry.startswith("+") else tuple(one for one in held if one != key)
    return held


def shortened(held: tuple[str, ...]) -> tuple[str, ...]:
    """Return the changes to the default columns, or the columns themselves where changes do not lead to them."""
    removed = [f"-{key}" for key in USUAL if key not in held]
    short = (*removed, *(f"+{key}" for key in held if key not in USUAL))
    return short if len(short) < len(held) and expanded(short) == held else held


def with_column(held: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Return the columns with one more, before the command at the end."""
    if key in held:
        return held
    return (*held[:-1], key, held[-1]) if held[-1:] == (_COMMAND,) else (*held, key)
