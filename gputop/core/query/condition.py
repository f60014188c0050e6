"""Filter conditions on rows of the process table.

The logic has three values. A comparison with an absent value is unknown, so is its ``not``, and a row is kept only if
the whole condition is true: neither ``sm<5`` nor ``not sm<5`` keeps a process whose share is unknown.
`ABSENT`, written ``-``, tests for absence itself and is always true or false. A value that is known not to exist, such
as the container of a process outside of all containers, is an empty text: both ``not container:web`` and
``container:-`` keep it.
"""

import operator
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.processes.column import Column, FilterValue, Row
from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.query.regex import Pattern

Test: TypeAlias = Callable[[Row], bool | None]
_ORDER: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Glob(Struct, frozen=True):
    """A case-insensitive text with gaps of any length between its pieces."""

    pieces: tuple[str, ...]


class Absent(Struct, frozen=True):
    """The absence of a value."""


ABSENT: Final = Absent()
Value: TypeAlias = float | str | Glob | Pattern | Absent


class Word(Struct, frozen=True):
    """A text that the command line or the user contains, or that the pid starts with."""

    text: str


class Term(Struct, frozen=True):
    """A column compared with values; one match is enough (for ``!=``: none may match)."""

    column: str
    operator: str
    values: tuple[Value, ...]


class Not(Struct, frozen=True):
    """The negation of a part."""

    part: "Node"


class And(Struct, frozen=True):
    """All of the parts; true if there are none."""

    parts: "tuple[Node, ...]"


class Or(Struct, frozen=True):
    """At least one of the parts."""

    parts: "tuple[Node, ...]"


Node: TypeAlias = Word | Term | Not | And | Or


def test_of(node: Node) -> Test:
    """Return the function that evaluates a condition on a row: true, false, or None for unknown."""
    match node:
        case Word(text=text):
            return _word(text.lower())
        case Term():
            return _term(node)
        case Not(part=part):
            return _not(test_of(part))
        case And(parts=parts):
            return _joined(tuple(map(test_of, parts)), decisive=False)
        case Or(parts=parts):
            return _joined(tuple(map(test_of, parts)), decisive=True)


def _not(test: Test) -> Test:
    def opposite(row: Row) -> bool | None:
        known = test(row)
        return None if known is None else not known

    return opposite


def _joined(tests: tuple[Test, ...], *, decisive: bool) -> Test:
    """Return the conjunction (``decisive`` False: one false part decides) or the disjunction (True)."""

    def joined(row: Row) -> bool | None:
        result: bool | None = not decisive
        for test in tests:
            known = test(row)
            if known is decisive:
                return decisive
            if known is None:
                result = None
        return result

    return joined


def _word(text: str) -> Test:
    command, user = COLUMN_BY_KEY["command"], COLUMN_BY_KEY["user"].sort
    known = command.value or command.sort

    def test(row: Row) -> bool | None:
        is_found = (
            text in str(command.sort(row) or "").lower()
            or text in str(user(row) or "").lower()
            or str(row.process.pid).startswith(text)
        )
        return is_found or (None if known(row) is None else False)

    return test


def _term(term: Term) -> Test:
    column = COLUMN_BY_KEY[term.column]
    if term.operator == "!=":
        return _not(_equal(column, term.values))
    if term.operator in {":", "="}:
        return _equal(column, term.values)
    limit = term.values[0]
    if isinstance(limit, Pattern):
        return _asked(_text_of(column), lambda value: limit.search(str(value)))
    compare = _ORDER[term.operator]
    return _asked(
        column.value or column.sort,
        lambda value: isinstance(value, (int, float)) and isinstance(limit, float) and compare(value, limit),
    )


def _equal(column: Column, values: tuple[Value, ...]) -> Test:
    exact = frozenset(value for value in values if isinstance(value, (float, str)))
    globs = tuple(value for value in values if isinstance(value, Glob))
    return _asked(
        column.value or column.sort,
        lambda value: value in exact or any(matches(glob, str(value)) for glob in globs),
        asks_absent=ABSENT in values,
    )


def _asked(value_of: FilterValue, check: Callable[[float | str], bool], *, asks_absent: bool = False) -> Test:
    def test(row: Row) -> bool | None:
        value = value_of(row)
        if value is None:
            return True if asks_absent else None
        if isinstance(value, tuple):
            return any(map(check, value)) or (asks_absent and not value)
        return check(value)

    return test


def _text_of(column: Column) -> FilterValue:
    """Return the text that a pattern searches; for a number, its text in the table."""
    value_of = column.value or column.sort
    if column.is_text:
        return value_of
    return lambda row: None if value_of(row) is None else column.text(row)


def matches(glob: Glob, text: str) -> bool:
    """Say whether a text consists of the pieces in order, with anything between them. Linear in the text."""
    lowered = text.lower()
    first, *others = (piece.lower() for piece in glob.pieces)
    if not others:
        return lowered == first
    *middle, last = others
    at, end = len(first), len(lowered) - len(last)
    if not (lowered.startswith(first) and lowered.endswith(last) and at <= end):
        return False
    for piece in middle:
        found = lowered.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
