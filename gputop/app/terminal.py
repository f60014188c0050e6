"""The user at the terminal: results go to stdout, warnings and questions to stderr."""

import sys
from collections.abc import Sequence

from msgspec import Struct


class Person:
    """The user who called. ``is_sure``: the answer to every question is yes."""

    def __init__(self, *, is_sure: bool = False) -> None:
        self._is_sure = is_sure

    def show(self, lines: Sequence[str]) -> None:
        """Print lines."""
        for line in lines:
            print(line)
        sys.stdout.flush()

    def warn(self, line: str) -> None:
        """Print a line apart from the result."""
        print(line, file=sys.stderr)

    def can_answer(self) -> bool:
        """Return whether a question can be answered: on a terminal, or because the answer is always yes."""
        return self._is_sure or (sys.stdin.isatty() and sys.stderr.isatty())

    def agrees(self, question: str) -> bool:
        """Ask, and return whether the answer is yes; anything but y and yes is no."""
        if self._is_sure:
            return True
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def warn(message: str) -> None:
    """Print a line on stderr."""
    print(f"gputop: {message}", file=sys.stderr)


def print_json(value: Struct) -> None:
    """Print a value as a line of JSON."""
    from gputop.wire.encoder import encode

    sys.stdout.buffer.write(encode(value))


def print_schema(what: str) -> None:
    """Print the JSON Schema of a ``frame``, of the diagnosis of the ``doctor``, or of the answer of ``explain``."""
    import json

    from gputop.report.schema import doctor_schema, explanation_schema, schema

    of = {"frame": schema, "doctor": doctor_schema, "explain": explanation_schema}
    print(json.dumps(of[what](), indent=2))
