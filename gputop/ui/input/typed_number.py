"""Number of a GPU that is typed in one or two digits."""

from collections.abc import Callable
from typing import Final

_TYPING_S: Final = 1.0  # between two digits of one number


class TypedNumber:
    """Joins two digits in quick succession: 12 of 1 and 2, if that number exists. ``clock``: seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._digit, self._typed_s = 0, float("-inf")

    def add(self, digit: int, exists: Callable[[int], bool]) -> int:
        """Return the number after another digit."""
        now = self._clock()
        both = self._digit * 10 + digit
        is_second = self._digit > 0 and now - self._typed_s < _TYPING_S and exists(both)
        self._digit, self._typed_s = 0 if is_second else digit, now
        return both if is_second else digit
