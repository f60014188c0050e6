"""The parser of filters.

The grammar, lowest precedence first:

query  = [ either ]                     either = all { ("or" | "|") all }
all    = one { [ "and" | "&" ] one }    one    = ("not" | "!") one | "(" either ")" | term | text
term   = column operator value { "," value }
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeAlias

from msgspec import Struct

from gputop.core.model.field import Field
from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity
from gputop.core.query.condition import ABSENT, And, Glob, Node, Not, Or, Term, Value, Word
from gputop.core.query.regex import Pattern, PatternError
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt

_LONGEST: Final = 2000
_DEEPEST: Final = 40
_LEAST_BYTES: Final = 1024**2  # a whole number below that is one of MiB or GiB whose unit was forgotten
_BLANKS: Final = re.compile(r"\s*")
_START: Final = re.compile(r"([a-z_]\w*)%?\s*(!=|<=|>=|[:=<>~])", re.ASCII | re.IGNORECASE)
_KEYWORDS: Final = {
    "and": re.compile(r"and(?=[\s()!\"'&|]|$)|&&?", re.IGNORECASE),
    "or": re.compile(r"or(?=[\s()!\"'&|]|$)|\|\|?", re.IGNORECASE),
    "not": re.compile(r"not(?=[\s()!\"'&|]|$)|!(?!=)", re.IGNORECASE),
}
_BARE: Final = re.compile(r"""[^\s()"'&|]+""")
_CHUNK: Final = re.compile(r"""[^\s()"'&|,]+""")
_LISTS: Final = frozenset({":", "=", "!="})
_STAR: Final = object()
Fields: TypeAlias = Mapping[str, Field[Any]]


class QueryError(Struct, frozen=True):
    """An error in a query. ``position``: of the character, from 0; ``suggestion``: the right word, if known."""

    position: int
    message: str
    suggestion: str | None = None

    def __str__(self) -> str:
        return self.message + (f". Did you mean {self.suggestion}?" if self.suggestion else "")


def read(text: str, fields: Fields) -> Node | QueryError:
    """Return the condition on these fields that a text describes, or its error. Never raises."""
    if len(text) > _LONGEST:
        return QueryError(_LONGEST, f"the filter is longer than {_LONGEST} characters")
    try:
        return _Reader(text, fields).query()
    except _BadQueryError as bad:
        return bad.error


class _BadQueryError(Exception):
    def __init__(self, error: QueryError) -> None:
        super().__init__(error.message)
        self.error = error


class _Reader:
    def __init__(self, text: str, fields: Fields) -> None:
        self._text = text
        self._fields = fields
        self._at = 0
        self._depth = 0

    def query(self) -> Node:
        self._skip()
        node = self._either() if self._at < len(self._text) else And(())
        if self._at < len(self._text):
            self._fail(self._at, "unmatched )")
        return node

    def _either(self) -> Node:
        parts = [self._all()]
        while self._takes("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self) -> Node:
        parts = [self._one()]
        while self._takes("and") or self._goes_on():
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _goes_on(self) -> bool:
        return self._next() not in {"", ")"} and not _KEYWORDS["or"].match(self._text, self._at)

    def _one(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(self._at, "the filter is nested too deeply")
        node = self._negated_or_plain()
        self._depth -= 1
        self._skip()
        return node

    def _negated_or_plain(self) -> Node:
        self._skip()
        if self._takes("not"):
            return Not(self._one())
        if self._next() == "(":
            return self._group()
        if self._next() in {'"', "'"}:
            return Word(self._quoted())
        found = _START.match(self._text, self._at)
        return self._word() if found is None else self._term(found)

    def _group(self) -> Node:
        start, self._at = self._at, self._at + 1
        node = self._either()
        if self._next() != ")":
            self._fail(start, "unclosed (")
        self._at += 1
        return node

    def _word(self) -> Node:
        found = _BARE.match(self._text, self._at)
        if found is None or found[0][0] in ":=<>~":
            where = f"before {self._next()}" if self._next() else "at the end"
            self._fail(self._at, f"a condition is missing {where}")
        for keyword in _KEYWORDS.values():
            if keyword.fullmatch(found[0]):
                self._fail(self._at, f"a condition is missing before {excerpt(found[0])}")
        self._at = found.end()
        return Word(found[0])

    # --- terms ---------------------------------------------------------------------------------------------------
    def _term(self, found: re.Match[str]) -> Node:
        word, sign = found.groups()
        column = self._fields.get(word.lower())
        if column is None:
            hint = nearest(word, self._fields)
            self._fail(self._at, f"unknown column {excerpt(word)} (to search for text, quote it)", hint)
        if column.is_text and sign not in {*_LISTS, "~"}:
            self._fail(found.start(2), f"{excerpt(word)} is text: compare it with : = != ~")
        self._at = found.end()
        if sign == "~":
            return Term(column.key, sign, (self._pattern(),))
        values = [self._value(column, sign)]
        while sign in _LISTS and self._takes_comma():
            values.append(self._value(column, sign))
        return Term(column.key, sign, tuple(values))

    def _takes_comma(self) -> bool:
        if self._text[self._at : self._at + 1] != ",":
            return False
        self._at += 1
        return True

    def _value(self, column: Field[Any], sign: str) -> Value:
        self._skip()
        start, pieces = self._at, self._pieces()
        if not pieces:
            self._fail(start, "a value is missing")
        if self._text[start : self._at] == "-" and sign in _LISTS:
            return ABSENT
        text = "".join("*" if piece is _STAR else str(piece) for piece in pieces)
        if column.is_text:
            return _glob(pieces) if sign == ":" else text
        number = quantity(text.strip(), column.unit)
        if number is None:
            self._fail(start, f"{excerpt(text)!r} is not {expected(column.unit)}")
        if column.unit is Unit.BYTES and 0 < number < _LEAST_BYTES and text.isdecimal():  # a user never means bytes
            self._fail(start, f"{excerpt(text)!r} has no unit: write {excerpt(text)}GiB or {excerpt(text)}MiB")
        return number

    def _pieces(self) -> list[object]:
        """Read adjacent quoted and plain text; each * outside of quotation marks becomes `_STAR`."""
        pieces: list[object] = []
        while True:
            if self._text[self._at : self._at + 1] in {'"', "'"}:
                pieces.append(self._quoted())
            elif chunk := _CHUNK.match(self._text, self._at):
                self._at = chunk.end()
                for place, part in enumerate(chunk[0].split("*")):
                    pieces.extend([_STAR, part] if place else [part])
            else:
                return pieces

    def _pattern(self) -> Pattern:
        self._skip()
        start, is_quoted = self._at, self._next() in {'"', "'"}
        text = self._quoted() if is_quoted else self._plain_pattern()
        if not text:
            self._fail(start, "a pattern is missing")
        try:
            return Pattern(text)
        except PatternError as error:
            self._fail(min(start + is_quoted + error.position, len(self._text)), str(error))

    def _plain_pattern(self) -> str:
        """Read up to a blank or a ) that is unmatched in the pattern; | and & belong to it."""
        start, open_groups = self._at, 0
        while self._at < len(self._text) and not self._text[self._at].isspace():
            open_groups += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            if open_groups < 0:
                break
            self._at += 2 if self._text[self._at] == "\\" else 1
        self._at = min(self._at, len(self._text))
        return self._text[start : self._at]

    def _quoted(self) -> str:
        """Read a text in quotation marks; a backslash escapes only the mark and itself."""
        start, mark = self._at, self._text[self._at]
        found = re.compile(rf"{mark}((?:[^{mark}\\]|\\.)*){mark}", re.DOTALL).match(self._text, start)
        if found is None:
            self._fail(start, "unclosed quotation mark")
        self._at = found.end()
        return re.sub(rf"\\([\\{mark}])", r"\1", found[1])

    # --- characters ----------------------------------------------------------------------------------------------
    def _takes(self, keyword: str) -> bool:
        self._skip()
        found = _KEYWORDS[keyword].match(self._text, self._at)
        if found is None or (found[0].isalpha() and _START.match(self._text, self._at)):
            return False
        self._at = found.end()
        return True

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        found = _BLANKS.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _fail(self, position: int, message: str, suggestion: str | None = None) -> NoReturn:
        raise _BadQueryError(QueryError(position, message, suggestion))


def _glob(pieces: list[object]) -> Glob:
    parts = [""]
    for piece in pieces:
        if piece is _STAR:
            parts.append("")
        else:
            parts[-1] += str(piece)
    return Glob(tuple(parts))
