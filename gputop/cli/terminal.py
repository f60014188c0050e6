"""The user at the terminal: lines go to stdout, warnings and questions to stderr."""

import sys
from collections.abc import Sequence


class TerminalPerson:
    """A `Person`. ``is_sure``: the answer to every question is yes."""

    def __init__(self, *, is_sure: bool = False) -> None:
        self._is_sure = is_sure

    def show(self, lines: Sequence[str]) -> None:
        """Print lines."""
        for line in lines:
            print(line)
        sys.stdout.flush()

    def warn(self, line: str) -> None:
        """Print a line on stderr."""
        print(line, file=sys.stderr)

    def can_answer(self) -> bool:
        """Return whether a question can be answered."""
        return self._is_sure or (sys.stdin.isatty() and sys.stderr.isatty())

    def agrees(self, question: str) -> bool:
        """Ask on stderr; anything but y and yes is no."""
        if self._is_sure:
            return True
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")
