"""A filter on the rows of a table."""

from typing import Generic

from gputop.core.model.field import R
from gputop.core.query.condition import Node, test_of
from gputop.core.query.formatter import text_of
from gputop.core.query.vocabulary import Vocabulary


class Filter(Generic[R]):
    """A filter. Its ``str`` parses to the same filter."""

    def __init__(self, root: Node, vocabulary: Vocabulary[R]) -> None:
        self.root = root
        self._test = test_of(root, vocabulary)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __str__(self) -> str:
        return text_of(self.root)

    def keeps(self, row: R) -> bool:
        """Say whether a row certainly matches."""
        return self._test(row) is True

    def decides(self, row: R) -> bool:
        """Say whether it is known whether a row matches."""
        return self._test(row) is not None
