from typing import NamedTuple

import pytest

from gputop.core.table_rows import LeftOut, added_keys, joined, left_out, plug


class Line(NamedTuple):
    """A row of a table."""

    key: str
    of: str = "own"


def key(line: Line) -> str:
    return line.key


def test_rows_of_plugins_stand_behind_the_own_ones_and_before_the_last() -> None:
    plug("one", "places", [Line("c", "one")])
    plug("two", "places", [Line("d", "two")])

    assert "".join(map(key, joined("places", (Line("a"), Line("b")), key, last=1))) == "acdb"
    assert "".join(map(key, joined("places", (Line("a"), Line("b")), key))) == "abcd"


def test_a_key_is_given_once_and_what_is_left_out_is_said_once() -> None:
    plug("one", "keys", [Line("a", "one"), Line("x", "one")])
    plug("two", "keys", [Line("x", "two")])
    for _ in range(2):
        table = joined("keys", (Line("a"),), key)

    assert table == (Line("a"), Line("x", "one"))
    assert [one for one in left_out() if one.table == "keys"] == [
        LeftOut("one", "keys", "a", "this key is in use"),
        LeftOut("two", "keys", "x", "this key is in use"),
    ]


def test_the_keys_that_plugins_added_are_known() -> None:
    plug("one", "added", [Line("a"), Line("b")])
    joined("added", (Line("z"),), key)

    assert added_keys("added") == ("a", "b")


def test_a_table_that_is_in_use_takes_no_more_rows() -> None:
    joined("closed", (Line("a"),), key)

    with pytest.raises(RuntimeError, match="the table of closed is already in use"):
        plug("late", "closed", [Line("b")])


def test_a_table_without_plugins_is_the_own_one() -> None:
    assert joined("plain", (Line("a"),), key) == (Line("a"),)
