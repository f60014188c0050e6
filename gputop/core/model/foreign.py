"""Values of JSON that a stranger made. Knows no table: plugins are loaded before the tables are."""

from typing import Any, Final

from gputop.core.text.text import excerpt

LONGEST: Final = 8192  # signs of a text in a frame; a command line has half of it
_MOST_NUMBER: Final = 2**64
_NUMBERS: Final = frozenset({int, float})
_LISTS: Final = frozenset({list, tuple})


def possible(number: float) -> float:
    """Return a number. Raises ValueError if nothing has it; a screen may fail to print it."""
    if not -_MOST_NUMBER <= number <= _MOST_NUMBER:
        raise ValueError("an impossible number")
    return number


def harmless(tree: Any, longest: int = LONGEST) -> Any:  # noqa: ANN401 - values of JSON
    """Return values of JSON with clean text of at most ``longest`` signs. Raises ValueError for an impossible number.

    A screen draws a name again with each key, and needs a second for one of a million signs.
    """
    kind = type(tree)
    if kind in _NUMBERS:
        return possible(tree)
    if kind is str:
        return excerpt(tree, longest)
    if kind is dict:
        return {excerpt(key, longest): harmless(each, longest) for key, each in tree.items()}
    return [harmless(each, longest) for each in tree] if kind in _LISTS else tree
