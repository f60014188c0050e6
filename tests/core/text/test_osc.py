"""Sequences for the terminal: notifications and the clipboard, also through a multiplexer."""

import re
from base64 import b64decode

import pytest

from gputop.core.text.osc import (
    MOST_COPIED,
    can_copy,
    copying,
    notification,
    rings,
    takes_sequences,
    usual_form,
    wrapped,
)

XTERM = {"TERM": "xterm-256color"}
TMUX = {"TERM": "tmux-256color", "TMUX": "/run/tmux/default,1,0"}
SCREEN = {"TERM": "screen", "STY": "1.pts-0.host"}
HOSTILE = "job \x1b]0;owned\x07 \x9c;\n\u202e" + "x" * 500


@pytest.mark.parametrize("form", ["osc", "osc9", "osc777", "osc99"])
def test_a_strangers_words_cannot_end_a_sequence_or_begin_another(form: str) -> None:
    sequence = notification(form, "title", HOSTILE, XTERM)
    parts = sequence.split("\a")

    assert parts[-1] == ""
    assert all(part.startswith("\x1b]") and part.count("\x1b") == 1 for part in parts[:-1])
    assert not re.search(r"[\x00-\x06\x08-\x1a\x1c-\x1f\x7f-\x9f\u202e]", sequence)
    assert len(sequence) < 600


def test_osc_777_has_a_title_and_one_body_whatever_separators_are_in_them() -> None:
    assert notification("osc777", "a;b", "c;d", XTERM) == "\x1b]777;notify;a,b;c,d\a"


def test_osc_9_never_begins_with_a_number_that_would_mean_progress() -> None:
    assert notification("osc9", "", "4;1;50", XTERM) == "\x1b]9;gputop: 4,1,50\a"


@pytest.mark.parametrize("term", ["dumb", "linux", "", "unknown"])
def test_a_terminal_that_would_print_a_sequence_gets_none(term: str) -> None:
    assert notification("osc", "title", "text", {"TERM": term}) == ""
    assert not can_copy("text", {"TERM": term})
    assert not takes_sequences({})


def test_a_dumb_terminal_gets_not_even_a_bell_and_the_console_does() -> None:
    assert [rings({"TERM": term}) for term in ("dumb", "linux", "xterm")] == [False, True, True]


@pytest.mark.parametrize(
    ("more", "form"),
    [
        ({}, "osc9"), ({"KITTY_WINDOW_ID": "1"}, "osc99"), ({"TERM": "xterm-kitty"}, "osc99"),
        ({"TERM_PROGRAM": "WezTerm"}, "osc9"), ({"LC_TERMINAL": "iTerm2"}, "osc9"), ({"TERM": "foot"}, "osc777"),
        ({"VTE_VERSION": "7600"}, "osc777"), ({"TERM": "rxvt-unicode-256color"}, "osc777"),
    ],
)  # fmt: skip
def test_a_known_terminal_gets_the_form_that_it_shows(more: dict[str, str], form: str) -> None:
    assert usual_form(XTERM | more) == form


def test_tmux_gets_a_notification_only_wrapped_with_every_escape_doubled() -> None:
    assert notification("osc9", "", "free", TMUX) == "\x1bPtmux;\x1b\x1b]9;gputop: free\a\x1b\\"


def test_gnu_screen_gets_it_in_short_parts_that_make_up_the_whole() -> None:
    sequence = copying("x" * 400)
    parts = re.findall(r"\x1bP(.*?)\x1b\\", wrapped(sequence, SCREEN), re.DOTALL)

    assert "".join(parts) == sequence
    assert max(map(len, parts)) <= 240


def test_a_copy_is_the_text_in_base64() -> None:
    found = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\a", copying("grüße"))

    assert found
    assert b64decode(found[1]).decode() == "grüße"


def test_tmux_gets_a_copy_wrapped_and_no_other_terminal_does() -> None:
    copy = copying("4711")

    assert wrapped(copy, TMUX) == "\x1bPtmux;\x1b" + copy + "\x1b\\"
    assert wrapped(copy, XTERM) == ""


def test_a_text_that_terminals_would_cut_is_not_copied() -> None:
    assert can_copy("x" * MOST_COPIED, XTERM)
    assert not can_copy("ü" * (MOST_COPIED // 2 + 1), XTERM)


def test_an_ascii_terminal_gets_ascii() -> None:
    assert notification("osc9", "", "läuft · ✓", XTERM, is_ascii=True).isascii()
