"""The rows that plugins add, by table. Plugins fill them once, before the first import of the tables.

This module does not know the types of rows, so tables can use it without knowledge of plugins.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

T = TypeVar("T")


class LeftOut(Struct, frozen=True):
    """A row of a plugin that was rejected, and the reason."""

    plugin: str
    table: str
    key: str
    reason: str


_rows: Final[dict[str, list[tuple[str, Any]]]] = {}
_left_out: Final[list[LeftOut]] = []
_closed: Final[set[str]] = set()
_off: Final[dict[tuple[str, str], str]] = {}


def plug(plugin: str, table: str, rows: Iterable[Any]) -> None:
    """Add rows to a table. Raises RuntimeError if the table is already complete."""
    if table in _closed:
        raise RuntimeError(f"the table of {table} is already in use")
    _rows.setdefault(table, []).extend((plugin, row) for row in rows)


def joined(table: str, own: Sequence[T], key: Callable[[T], str], *, last: int = 0) -> tuple[T, ...]:
    """Return gputop's own rows, with those of plugins before the ``last`` own ones. Keys are unique."""
    _closed.add(table)
    taken = {key(row) for row in own}
    added: list[T] = []
    for plugin, row in _rows.get(table, ()):
        if key(row) in taken:
            _leave_out(LeftOut(plugin, table, key(row), "this key is in use"))
        else:
            taken.add(key(row))
            added.append(row)
    place = len(own) - last
    return (*own[:place], *added, *own[place:])


def added_keys(table: str) -> tuple[str, ...]:
    """Return the keys of the rows that plugins added to a table whose rows have a ``key``."""
    rejected = {one.key for one in _left_out if one.table == table}
    return tuple(row.key for _, row in _rows.get(table, ()) if row.key not in rejected)


def left_out() -> tuple[LeftOut, ...]:
    """Return the rejected rows of the tables in use."""
    return tuple(_left_out)


def turn_off(plugin: str, table: str, key: str, reason: str) -> None:
    """Record that gputop does not call a row any more."""
    _off[table, key] = f"plugin {plugin}, {table.removesuffix('s')} {key}: {reason}"


def turned_off() -> tuple[str, ...]:
    """Return the rows that gputop does not call any more, with the reasons, as sentences."""
    return tuple(_off.values())


def _leave_out(row: LeftOut) -> None:
    if row not in _left_out:
        _left_out.append(row)
