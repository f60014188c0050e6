"""Columns in a file: all of them, or changes to the default ones."""

import pytest

from gputop.core.settings.column_choice import USUAL, expanded, shortened, with_column


@pytest.mark.parametrize(
    ("held", "short"),
    [
        (with_column(USUAL, "job"), ("+job",)),
        (tuple(key for key in USUAL if key != "nice"), ("-nice",)),
        (("pid", "command"), ("pid", "command")),
        (("pid", *(key for key in USUAL if key != "pid")), ("pid", *(key for key in USUAL if key != "pid"))),
    ],
)
def test_only_changes_are_written_where_they_lead_to_the_same_columns(
    held: tuple[str, ...], short: tuple[str, ...]
) -> None:
    assert shortened(held) == short
    assert expanded(short) == held
