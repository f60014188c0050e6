"""The user at the terminal, as a use case sees them."""

from collections.abc import Sequence
from typing import Protocol


class Person(Protocol):
    """The user who called: sees lines, and answers questions."""

    def tell(self, lines: Sequence[str]) -> None:
        """Print lines."""
        ...

    def warn(self, line: str) -> None:
        """Print a line beside the result."""
        ...

    def can_answer(self) -> bool:
        """Return whether a question can be answered: there is a terminal, or the answer is known to be yes."""
        ...

    def agrees(self, question: str) -> bool:
        """Ask, and return whether the answer is yes."""
        ...
