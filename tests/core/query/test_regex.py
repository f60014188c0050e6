"""Regular expressions that cannot hang."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.query.regex import Pattern
from gputop.core.query.regex_syntax import PatternError

texts = st.text(alphabet="abAB1_ -.", min_size=1, max_size=12)  # before 3.14 re finds no \B in an empty text
atoms = st.sampled_from(["a", "B", "1", ".", r"\d", r"\w", r"\s", r"\W", r"\.", "[ab]", "[^a]", "[a-c1]", "[]a]", "-"])
edges = st.sampled_from(["", "", "", "^", "$", r"\b", r"\B"])
counts = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{1,}", "{,2}", "*?"])
pieces = st.tuples(edges, atoms, counts).map("".join)
patterns = st.recursive(
    pieces,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, counts).map(lambda pair: f"({pair[0]}){pair[1]}"),
        inner.map(lambda text: f"(?:{text})"),
    ),
    max_leaves=5,
)


@given(patterns, texts)
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    assert Pattern(pattern).search(text) == bool(re.search(pattern, text, re.IGNORECASE))


@given(st.text(max_size=40) | st.text(alphabet=r"ab()[]{}|*+?^$\-1,.", max_size=20), texts)
def test_any_text_is_a_pattern_or_an_error_that_points_into_it(pattern: str, text: str) -> None:
    position = 0
    try:
        Pattern(pattern).search(text)
    except PatternError as error:
        position = error.position

    assert 0 <= position <= len(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "(a*)*b", "(.*a){20}", ".*a.*b.*c.*d.*e", "(a?){50}a{50}"])
def test_a_catastrophic_pattern_ends(pattern: str) -> None:
    assert Pattern(pattern).search("a" * 5000 + "!") == (pattern in {"(.*a){20}", "(a?){50}a{50}"})


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(ab", 0),
        ("ab)", 2),
        ("a[bc", 1),
        ("*a", 0),
        ("a**", 2),
        ("a\\", 1),
        ("(?=a)", 0),
        (r"(a)\1", 3),
        ("a{9,2}", 1),
    ],
)
def test_a_bad_pattern_is_pointed_at(pattern: str, position: int) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern(pattern)

    assert caught.value.position == position


@pytest.mark.parametrize("pattern", ["a" * 201, "(" * 50 + ")" * 50, "((a{100}){100}){100}"])
def test_a_pattern_that_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"longer|deeply|large"):
        Pattern(pattern)


def test_many_texts_do_not_fill_the_memory() -> None:
    pattern = Pattern("a.{8}b")
    for number in range(12_000):
        pattern.search(f"{number} {string.ascii_letters}")

    assert len(pattern._answers) <= 5000
    assert len(pattern._states) <= 1000
