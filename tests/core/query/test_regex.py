"""Regular expressions that cannot hang."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.query.regex import Pattern, PatternError

texts = st.text(max_size=40) | st.text(alphabet="abAB1_ -.", max_size=12)


@given(st.text(max_size=40) | st.text(alphabet=r"ab()[]{}|*+?^$\-1,.", max_size=20), texts)
def test_any_text_is_a_pattern_or_an_error_that_points_into_it(pattern: str, text: str) -> None:
    position = 0
    try:
        Pattern(pattern).search(text)
    except PatternError as error:
        position = error.position

    assert 0 <= position <= len(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "(a*)*b", "(.*a){20}", ".*a.*b.*c.*d.*e", "(a?){50}a{50}"])
def test_a_catastrophic_pattern_takes_time_linear_in_the_text(pattern: str) -> None:
    started_s = time.process_time()
    is_found = Pattern(pattern).search("a" * 100_000 + "!")

    assert is_found == (pattern in {"(.*a){20}", "(a?){50}a{50}"})
    assert time.process_time() - started_s < 5


def test_case_does_not_matter_and_bytes_that_are_no_text_are_searched_past() -> None:
    assert Pattern("TRAIN\\.PY").search("\udcff train.py")
    assert not Pattern("TRAIN\\.PY").search("trainXpy")


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(ab", 0),
        ("ab)", 2),
        ("a[bc", 1),
        ("*a", 0),
        ("a**", 2),
        ("a*|*b", 3),
        ("a\\", 1),
        ("(?=a)", 0),
        (r"(a)\1", 3),
        ("a{9,2}", 2),
        ("ab\\q", 2),
        ("a{1001}", 1),
    ],
)
def test_a_bad_pattern_is_pointed_at(pattern: str, position: int) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern(pattern)

    assert caught.value.position == position


@pytest.mark.parametrize("pattern", ["a" * 201, "((a{100}){100}){100}"])
def test_a_pattern_that_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"longer|large|ascending"):
        Pattern(pattern)
