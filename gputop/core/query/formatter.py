"""The formatter of filters: text that parses to the same filter."""

from gputop.core.query.condition import Absent, And, Glob, Node, Not, Or, Term, Value, Word
from gputop.core.query.regex import Pattern


def text_of(node: Node) -> str:
    """Return the text of a condition, with base units and without abbreviations."""
    match node:
        case Word(text=text):
            return quoted(text)
        case Term(column=column, operator=sign, values=values):
            return f"{column}{sign}{','.join(map(_value, values))}"
        case Not(part=part):
            return f"not {_inner(part, And, Or)}"
        case And(parts=parts):
            return " and ".join(_inner(part, And, Or) for part in parts)
        case Or(parts=parts):
            return " or ".join(_inner(part, Or) for part in parts)


def quoted(text: str) -> str:
    """Return a text in quotation marks, with special characters escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _inner(part: Node, *loose: type[And] | type[Or]) -> str:
    return f"({text_of(part)})" if isinstance(part, loose) else text_of(part)


def _value(value: Value) -> str:
    match value:
        case Absent():
            return "-"
        case Glob(pieces=pieces):
            return "*".join(quoted(piece) if piece or len(pieces) == 1 else "" for piece in pieces)
        case Pattern(text=text):
            return quoted(text)
        case str():
            return quoted(value)
        case float():
            return repr(value)
