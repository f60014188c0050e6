"""What filters can say about processes: the columns of the process table."""

from typing import Final

from gputop.core.processes.column import Row
from gputop.core.processes.columns import COLUMN_BY_KEY, COLUMNS
from gputop.core.query.vocabulary import Test, Vocabulary, words_of


def _search(text: str) -> Test[Row]:
    """Return the test whether the command line or the user contains a text, or the pid starts with it."""
    command, user = COLUMN_BY_KEY["command"], COLUMN_BY_KEY["user"].sort
    known = command.compared

    def test(row: Row) -> bool | None:
        is_found = (
            text in str(command.sort(row) or "").lower()
            or text in str(user(row) or "").lower()
            or str(row.process.pid).startswith(text)
        )
        return is_found or (None if known(row) is None else False)

    return test


COLUMN_BY_WORD: Final = words_of(COLUMNS)
PROCESSES: Final = Vocabulary(COLUMN_BY_WORD, _search)
