"""What a panel of a plugin answers, as lines to be drawn."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from gputop.core.plugins.panel import MOST_LINES, Cell, PanelLine, written
from gputop.core.text.tone import Tone


def texts(*answer: PanelLine) -> list[str]:
    return ["".join(text for text, _ in line) for line in written(answer)]


def test_rows_of_a_table_have_their_columns_below_each_other_and_numbers_at_the_right() -> None:
    head = (Cell("USER", Tone.NONE), Cell("MEMORY", Tone.NONE), Cell("JOB", Tone.NONE))

    assert texts(head, ("ann", "9GiB", "a"), ("barbara", "120GiB", "bc")) == [
        "USER     MEMORY  JOB",
        "ann        9GiB  a  ",
        "barbara  120GiB  bc ",
    ]


def test_a_text_between_two_tables_parts_them() -> None:
    assert texts(("long one", "x"), "and", ("b", "y")) == ["long one  x", "and", "b  y"]


def test_tones_are_kept() -> None:
    assert written(["a", Cell("b", Tone.HOT)]) == ((("a", Tone.OK),), (("b", Tone.HOT),))


def test_hostile_text_cannot_steer_the_terminal() -> None:
    assert texts("a\x1b[2Jb\nc", ("\u202ex", "y")) == ["a␛[2Jb␊c", "\ufffdx  y"]


def test_an_answer_without_an_end_is_cut() -> None:
    def endless() -> Iterator[PanelLine]:
        return (str(n) for n in count())

    assert len(written(endless())) == MOST_LINES


@pytest.mark.parametrize("line", [5, None, ["a"], ("a", 5), Cell(5), Cell("a", "hot")])  # type: ignore[arg-type]
def test_what_is_no_line_is_a_fault(line: Any) -> None:
    with pytest.raises(TypeError, match="neither a text nor a Cell"):
        written([line])
