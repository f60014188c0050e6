"""The user at the terminal, as a use case sees them."""

from collections.abc import Sequence
from typing import Protocol


class Person(Protocol):
    """The user who called: reads lines, and answers questions."""

    def show(self, lines: Sequence[str]) -> None:
        """Print lines."""
        ...

    def warn(self, line: str) -> None:
        """Print a line apart from the result."""
        ...

    def can_answer(self) -> bool:
        """Return whether a question can be answered: on a terminal, or because the answer is always yes."""
        ...

    def agrees(self, question: str) -> bool:
        """Ask, and return whether the answer is yes."""
        ...
