"""Values of JSON that a stranger made. Knows no table: plugins are loaded before the tables are."""

from typing import Any, Final

from gputop.core.text.text import clean

_MOST_NUMBER: Final = 2**64
_NUMBERS: Final = frozenset({int, float})
_LISTS: Final = frozenset({list, tuple})


def possible(number: float) -> float:
    """Return a number. Raises ValueError if nothing has it; a screen may fail to print it."""
    if not -_MOST_NUMBER <= number <= _MOST_NUMBER:
        raise ValueError("an impossible number")
    return number


def harmless(tree: Any) -> Any:  # noqa: ANN401 - values of JSON
    """Return values of JSON with clean text. Raises ValueError for an impossible number."""
    kind = type(tree)
    if kind in _NUMBERS:
        return possible(tree)
    if kind is str:
        return clean(tree)
    if kind is dict:
        return {clean(key): harmless(each) for key, each in tree.items()}
    return [harmless(each) for each in tree] if kind in _LISTS else tree
