"""Filter conditions on the rows of a table.

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

from gputop.core.model.field import Field, FilterValue, R
from gputop.core.query.regex import Pattern
from gputop.core.query.vocabulary import Test, Vocabulary

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
    """A text that the row is searched for, as its vocabulary says."""

    text: str


class Term(Struct, frozen=True):
    """A field compared with values; one match is enough (for ``!=``: none may match)."""

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


def test_of(node: Node, vocabulary: Vocabulary[R]) -> Test[R]:
    """Return the function that evaluates a condition on a row: true, false, or None for unknown."""
    match node:
        case Word(text=text):
            return vocabulary.search(text.lower())
        case Term():
            return _term(node, vocabulary.fields[node.column])
        case Not(part=part):
            return _not(test_of(part, vocabulary))
        case And(parts=parts):
            return _joined(tuple(test_of(part, vocabulary) for part in parts), decisive=False)
        case Or(parts=parts):
            return _joined(tuple(test_of(part, vocabulary) for part in parts), decisive=True)


def _not(test: Test[R]) -> Test[R]:
    def opposite(row: R) -> bool | None:
        known = test(row)
        return None if known is None else not known

    return opposite


def _joined(tests: tuple[Test[R], ...], *, decisive: bool) -> Test[R]:
    """Return the conjunction (``decisive`` False: one false part decides) or the disjunction (True)."""

    def joined(row: R) -> bool | None:
        result: bool | None = not decisive
        for test in tests:
            known = test(row)
            if known is decisive:
                return decisive
            if known is None:
                result = None
        return result

    return joined


def _term(term: Term, field: Field[R]) -> Test[R]:
    if term.operator == "!=":
        return _not(_equal(field, term.values))
    if term.operator in {":", "="}:
        return _equal(field, term.values)
    limit = term.values[0]
    if isinstance(limit, Pattern):
        return _asked(_text_of(field), lambda value: limit.search(str(value)))
    compare = _ORDER[term.operator]
    return _asked(
        field.compared,
        lambda value: isinstance(value, (int, float)) and isinstance(limit, float) and compare(value, limit),
    )


def _equal(field: Field[R], values: tuple[Value, ...]) -> Test[R]:
    exact = frozenset(value for value in values if isinstance(value, (float, str)))
    globs = tuple(value for value in values if isinstance(value, Glob))
    return _asked(
        field.compared,
        lambda value: value in exact or any(matches(glob, str(value)) for glob in globs),
        asks_absent=ABSENT in values,
    )


def _asked(
    value_of: Callable[[R], FilterValue], check: Callable[[float | str], bool], *, asks_absent: bool = False
) -> Test[R]:
    def test(row: R) -> bool | None:
        value = value_of(row)
        if value is None:
            return True if asks_absent else None
        if isinstance(value, tuple):
            return any(map(check, value)) or (asks_absent and not value)
        return check(value)

    return test


def _text_of(field: Field[R]) -> Callable[[R], FilterValue]:
    """Return the text that a pattern searches; for a number, its text in the table."""
    value_of = field.compared
    if field.is_text:
        return value_of
    return lambda row: None if value_of(row) is None else field.text(row)


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
