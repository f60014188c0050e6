"""What somebody wants to see of the processes: a filter, one user, one GPU."""

from collections.abc import Sequence

from msgspec import Struct

from gputop.core.processes.column import Row
from gputop.core.query.query import Query


class RowFilter(Struct, frozen=True, kw_only=True):
    """Which processes are shown. ``text``: the filter as it was typed; ``query``: what it means."""

    text: str = ""
    query: Query | None = None
    user: str | None = None

    @property
    def is_any(self) -> bool:
        """Say whether anything is left out at all."""
        return self.query is not None or self.user is not None

    @property
    def words(self) -> str:
        """Return what is shown, in words."""
        return ", ".join(part for part in (self.text, f"user {self.user}" if self.user is not None else "") if part)

    def of(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows that are shown."""
        user, query = self.user, self.query
        if user is not None:
            rows = [row for row in rows if (row.process.user or "") == user]
        return rows if query is None else [row for row in rows if query.keeps(row)]
