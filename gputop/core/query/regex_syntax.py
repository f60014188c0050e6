"""The parts of a regular expression, and how its text is read."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

LONGEST: Final = 200
_DEEPEST: Final = 20
_MOST_REPEATS: Final = 100
_COUNT: Final = re.compile(r"\{(\d{0,4})(,?)(\d{0,4})\}")
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r"}
Test: TypeAlias = Callable[[str], bool]


class PatternError(ValueError):
    """What is wrong with a pattern. ``position``: of the character, from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class Chars(Struct, frozen=True):
    """One character that passes the test."""

    test: Test


class Edge(Struct, frozen=True):
    """Nothing, at an edge: ^ and $ of the text, b of a word, B elsewhere."""

    sign: str


class Sequence(Struct, frozen=True):
    """One part after the other."""

    parts: "tuple[Part, ...]"


class Either(Struct, frozen=True):
    """One of the parts."""

    parts: "tuple[Part, ...]"


class Repeat(Struct, frozen=True):
    """A part several times; ``most`` None: without end."""

    part: "Part"
    least: int
    most: int | None


Part: TypeAlias = Chars | Edge | Sequence | Either | Repeat


def parsed(text: str) -> Part:
    """Read a pattern; raises `PatternError`."""
    if len(text) > LONGEST:
        raise PatternError(f"this pattern is longer than {LONGEST} characters", LONGEST)
    reader = _Reader(text)
    part = reader.either()
    if reader.at < len(text):
        raise PatternError("this ) closes nothing", reader.at)
    return part


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._depth = 0

    def either(self) -> Part:
        parts = [self._sequence()]
        while self._next() == "|":
            self.at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._next() not in {"", "|", ")"}:
            parts.append(self._repeated())
        return Sequence(tuple(parts))

    def _repeated(self) -> Part:
        start = self.at
        part = self._one()
        counts = self._counts()
        if counts is None:
            return part
        if isinstance(part, Edge):
            raise PatternError("there is nothing here to repeat", start)
        if self._next() == "?":
            self.at += 1  # reluctant or not is the same to a search
        if self._counts() is not None:
            raise PatternError("a repeat of a repeat: put parentheses around the first", self.at - 1)
        return Repeat(part, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        usual: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        sign = self._next()
        if sign in usual:
            self.at += 1
            return usual[sign]
        found = _COUNT.match(self.text, self.at)
        if found is None or found[0] in {"{}", "{,}"}:
            return None  # as in `re`, a { that begins no count is itself
        least = int(found[1] or 0)
        most = (int(found[3]) if found[3] else None) if found[2] else least
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
            raise PatternError(f"a count goes from small to large, up to {_MOST_REPEATS}", self.at)
        self.at = found.end()
        return least, most

    def _one(self) -> Part:
        start, sign = self.at, self._take()
        match sign:
            case "(":
                return self._group(start)
            case "[":
                return Chars(self._class(start))
            case ".":
                return Chars(lambda c: c != "\n")
            case "^" | "$":
                return Edge(sign)
            case "*" | "+" | "?":
                raise PatternError("there is nothing here to repeat", start)
            case "\\":
                return self._escaped(start)
        return Chars(_same(sign))

    def _group(self, start: int) -> Part:
        if self._next() == "?" and not self.text.startswith("?:", self.at):
            raise PatternError("of the groups that begin with (? only (?: can be used here", start)
        self.at += 2 if self._next() == "?" else 0
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PatternError("parentheses are nested too deeply", start)
        part = self.either()
        if self._next() != ")":
            raise PatternError("this ( is not closed", start)
        self.at += 1
        self._depth -= 1
        return Sequence((part,))  # a group of edges may be repeated

    def _escaped(self, start: int) -> Part:
        sign = self._next()
        if sign and sign in "bB":
            self.at += 1
            return Edge(sign)
        return Chars(self._escape(start))

    def _escape(self, start: int) -> Test:
        """Read what follows a backslash: a category, a control character, or a sign that means itself."""
        sign = self._take()
        if not sign:
            raise PatternError("nothing follows this \\", start)
        test = _category(sign)
        if test is not None:
            return test
        if sign in _CONTROLS:
            return _same(_CONTROLS[sign])
        if sign.isascii() and sign.isalnum():
            raise PatternError(f"\\{sign} cannot be used here", start)
        return _same(sign)

    def _class(self, start: int) -> Test:
        """Read [a-z_] after its opening."""
        is_negated = self._next() == "^"
        self.at += is_negated
        tests: list[Test] = []
        while not tests or self._next() != "]":
            if not self._next():
                raise PatternError("this [ is not closed", start)
            tests.append(self._class_item())
        self.at += 1
        return lambda c: any(test(c) for test in tests) != is_negated

    def _class_item(self) -> Test:
        start, low = self.at, self._take()
        if low == "\\":
            if self._next() == "b":
                raise PatternError("\\b cannot be used here", start)
            test = self._escape(start)
            if self._next() == "-" and not self.text.startswith("-]", self.at):
                raise PatternError("a range goes from one plain character to another", start)
            return test
        if self._next() != "-" or self.text.startswith("-]", self.at) or self.at + 1 >= len(self.text):
            return _same(low)
        self.at += 1
        high = self._take()
        if high == "\\" or high < low:
            raise PatternError("a range goes from one plain character to a later one", start)
        return lambda c: any(low <= form <= high for form in _forms(c))

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]


def _forms(character: str) -> tuple[str, str, str]:
    return character, character.lower(), character.upper()


def _same(sign: str) -> Test:
    forms = frozenset(_forms(sign))
    return lambda c: c in forms or c.lower() in forms


def _category(sign: str) -> Test | None:
    table: dict[str, Test] = {"d": str.isdecimal, "s": str.isspace, "w": lambda c: c.isalnum() or c == "_"}
    test = table.get(sign.lower())
    if test is None or sign in table:
        return test
    return lambda c: not test(c)
