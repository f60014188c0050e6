"""A named value of a table's rows, which columns show and filters compare."""

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from gputop.core.model.metric import Unit

SortValue: TypeAlias = float | str | None
FilterValue: TypeAlias = SortValue | tuple[str, ...]
R = TypeVar("R")


class Field(Struct, Generic[R], frozen=True, kw_only=True):
    """A value of a row. ``text``: as shown; ``sort``: as ordered; ``is_text``: the values are text.

    For filters: ``words`` are further names, ``unit`` is the unit of the numbers, ``value`` is compared in place of
    ``sort``; several texts are several names of one thing.
    """

    key: str
    title: str
    text: Callable[[R], str]
    sort: Callable[[R], SortValue]
    is_text: bool = False
    words: tuple[str, ...] = ()
    unit: Unit = Unit.NONE
    value: Callable[[R], FilterValue] | None = None

    @property
    def compared(self) -> Callable[[R], FilterValue]:
        """Return the function of the value that filters compare."""
        return self.value or self.sort
