"""The filter of the process table: a query and one user."""

from collections.abc import Sequence

from msgspec import Struct

from gputop.core.processes.column import Row
from gputop.core.query.query import Query


class RowFilter(Struct, frozen=True, kw_only=True):
    """Selects rows. ``text``: the filter as typed; ``query``: the same, parsed."""

    text: str = ""
    query: Query | None = None
    user: str | None = None

    @property
    def is_any(self) -> bool:
        """Whether it can hide any row."""
        return self.query is not None or self.user is not None

    @property
    def words(self) -> str:
        """The filter as text."""
        return ", ".join(part for part in (self.text, f"user {self.user}" if self.user is not None else "") if part)

    def of(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows that pass."""
        user, query = self.user, self.query
        if user is not None:
            rows = [row for row in rows if (row.process.user or "") == user]
        return rows if query is None else [row for row in rows if query.keeps(row)]
