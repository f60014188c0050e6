"""Text from outside: harmless, one line, and as wide as is said."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gputop.core.text.cells import width
from gputop.core.text.fit import chop, fit, fit_words
from gputop.core.text.text import _SIGNS, clean, decode, is_clean


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("plain text [bold]", "plain text [bold]"),
        ("a\x1b[31mb", "a␛[31mb"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b]8;;http://x\x1b\\", "␛]8;;http://x␛\\"),
        ("a\nb\tc\rd\0e\x7ff", "a␊b␉c␍d␀e␡f"),
        ("a\x9b2Jb\x85", "a\ufffd2Jb\ufffd"),
        ("\u202eabc\u202c\u2066\u2069\u200e", "\ufffdabc" + "\ufffd" * 4),
        ("a\u200bb\u200dc\ufeffd\u2060", "a\ufffdb\ufffdc\ufffdd\ufffd"),
        ("a\u2028b\u2029", "a\ufffdb\ufffd"),
        ("a\udcffb\ud800", "a\ufffdb\ufffd"),
        ("Zoë モデル 🙂", "Zoë モデル 🙂"),
        ("", ""),
    ],
)
def test_what_could_steer_a_terminal_is_made_visible(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


@given(st.text(st.characters(), max_size=200))
def test_clean_text_holds_nothing_that_steers(text: str) -> None:
    cleaned = clean(text)

    assert not {unicodedata.category(c) for c in cleaned} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert len(cleaned) == len(text)
    assert clean(cleaned) == cleaned
    assert len(cleaned.splitlines()) <= 1


@given(st.binary(max_size=200))
def test_any_bytes_have_a_clean_text_that_can_be_written(raw: bytes) -> None:
    text = decode(raw)

    assert clean(text) == text
    assert text.encode().decode() == text


def test_bytes_that_are_no_text_are_marked() -> None:
    assert decode(b"a\xffb\xc3\xa9") == "a\ufffdbé"


@pytest.mark.parametrize(
    ("text", "cells"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("モデル", 6), ("🙂", 2), ("ｆ", 2), ("│", 1), ("…", 1)],
)
def test_width_is_counted_in_cells(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    "text",
    [
        "हिन्दी में", "ภาษาไทย", "한국어", unicodedata.normalize("NFD", "한국어"), "Việt", "עִברִית", "中文", "😀", "👍🏽",
        "❤\ufe0f a",
        "1\ufe0f\u20e3", "\ufe0f", "a\ufe0f", "👩\u200d🔬", "☰䷀𝌀",
    ],
)  # fmt: skip
def test_width_is_that_of_the_library_that_draws_the_screen(text: str) -> None:
    assert width(clean(text)) == cell_len(clean(text))


def test_every_character_is_as_wide_as_the_library_that_draws_the_screen_paints_it() -> None:
    everything = map(clean, map(chr, range(0x110000)))

    assert [one for one in everything if width(one) != cell_len(one)] == []


@given(st.text(st.characters() | st.sampled_from("\ufe0f\u0301❤1中"), max_size=40), st.integers(1, 9))
def test_chopped_text_is_whole_and_no_part_is_too_wide(text: str, cells: int) -> None:
    parts = chop(clean(text), cells + 1)

    assert "".join(parts) == clean(text)
    assert all(width(part) <= cells + 1 for part in parts)


@pytest.mark.parametrize(
    ("text", "cells", "fitted"),
    [
        ("abc", 5, "abc  "),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("abcd", 1, "…"),
        ("abcd", 0, ""),
        ("モデル", 6, "モデル"),
        ("モデル", 5, "モデ…"),
        ("モデル", 4, "モ… "),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("", 2, "  "),
    ],
)
def test_text_fits_exactly(text: str, cells: int, fitted: str) -> None:
    assert fit(text, cells) == fitted


@given(st.text(st.characters(), max_size=60), st.integers(0, 40), st.sampled_from(["…", "", "..", "モ"]))
def test_fitted_text_takes_as_many_cells_as_were_asked_for(text: str, cells: int, end: str) -> None:
    assert width(fit(clean(text), cells, end=end)) == cells


@pytest.mark.parametrize(
    ("cells", "fitted"), [(30, "GPU at 100% for 7m"), (13, "GPU at 100% …"), (12, "GPU at …"), (2, "G…")]
)
def test_text_cut_between_words_never_shows_half_a_number(cells: int, fitted: str) -> None:
    assert fit_words("GPU at 100% for 7m", cells) == fitted.ljust(cells)


def test_hostile_text_of_all_characters_takes_more_and_more_memory() -> None:
    every = "".join(map(chr, range(0x110000)))

    assert is_clean(clean(every))
    assert len(clean(every)) == len(every)
    assert len(_SIGNS) <= 4096
