"""What a filter can say about the rows of a table: the names of their values, and the search for a word."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from gputop.core.model.field import Field, R

Test: TypeAlias = Callable[[R], "bool | None"]
Known = TypeVar("Known", bound=Field[Any])


class Vocabulary(Struct, Generic[R], frozen=True):
    """The fields by all their names, and the test for a word in lower case: true, false, or None for unknown."""

    fields: Mapping[str, Field[R]]
    search: Callable[[str], Test[R]]


def words_of(fields: Sequence[Known]) -> dict[str, Known]:
    """Return fields by all their names: key, words, and the title in lower case."""
    titles = {field.title.lower().rstrip("%").replace("-", "_"): field for field in reversed(fields)}
    words = {word: field for field in reversed(fields) for word in field.words}
    return titles | words | {field.key: field for field in fields}
