"""What a filter means: conditions on a row of the process table.

The logic has three values. An absent value makes a comparison neither true nor false, ``not`` of that is the same, and
a row is kept only where the whole is true: neither ``sm<5`` nor ``not sm<5`` keeps a process whose share nobody knows.
`ABSENT`, written ``-``, asks for absence itself and is always true or false. What is known not to be, such as the
container of a process outside of all containers, is no text: ``not container:web`` keeps it, ``container:-`` as well.
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
    """A text with gaps of any length between its pieces; case does not matter."""

    pieces: tuple[str, ...]


class Absent(Struct, frozen=True):
    """That there is no value."""


ABSENT: Final = Absent()
Value: TypeAlias = float | str | Glob | Pattern | Absent


class Word(Struct, frozen=True):
    """A text that is part of the command line or of the user, or that the pid begins with."""

    text: str


class Term(Struct, frozen=True):
    """A column compared with values; with several, one of them is enough (for ``!=``: none of them may be)."""

    column: str
    operator: str
    values: tuple[Value, ...]


class Not(Struct, frozen=True):
    """The opposite."""

    part: "Node"


class And(Struct, frozen=True):
    """All of the parts; true where there are none."""

    parts: "tuple[Node, ...]"


class Or(Struct, frozen=True):
    """One of the parts."""

    parts: "tuple[Node, ...]"


Node: TypeAlias = Word | Term | Not | And | Or


def test_of(node: Node) -> Test:
    """Return the function that tells whether a row is as the condition says; None where that is not known."""
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
    """Return and (``decisive`` False: one such part settles it) or or (True)."""

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
    command, user = COLUMN_BY_KEY["command"].sort, COLUMN_BY_KEY["user"].sort

    def test(row: Row) -> bool:
        return (
            text in str(command(row) or "").lower()
            or text in str(user(row) or "").lower()
            or str(row.process.pid).startswith(text)
        )

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
    """Return what a pattern is searched in: of a number, what the table shows."""
    value_of = column.value or column.sort
    if column.is_text:
        return value_of
    return lambda row: None if value_of(row) is None else column.text(row)


def matches(glob: Glob, text: str) -> bool:
    """Say whether the whole text is the pieces in their order, with anything between them. Linear in the text."""
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
