"""Sequences that a terminal takes as a notification, or for its clipboard.

A multiplexer drops them unless they are wrapped for it. tmux then passes them on if ``allow-passthrough`` is on.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from gputop.core.text.ascii import plain
from gputop.core.text.text import excerpt

BELL: Final = "\a"
MOST_COPIED: Final = 74_994  # bytes: in base64 100,000, which is the limit of xterm and others
FORMS: Final = ("osc9", "osc777", "osc99")
_POOR: Final = frozenset({"", "dumb", "linux", "unknown"})
_OSC9: Final = frozenset({"iTerm.app", "WezTerm", "WarpTerminal", "ghostty"})
_LONGEST: Final = 200
_SCREEN_PART: Final = 240  # GNU screen cuts longer strings


def takes_sequences(variables: Mapping[str, str]) -> bool:
    """Say whether the terminal may take more than plain text and a bell."""
    return variables.get("TERM", "") not in _POOR


def rings(variables: Mapping[str, str]) -> bool:
    """Say whether the terminal takes a bell."""
    return variables.get("TERM", "") not in _POOR - {"linux"}


def notification(form: str, title: str, text: str, variables: Mapping[str, str], *, is_ascii: bool = False) -> str:
    """Return the sequence of a notification; empty if the terminal takes none. ``form``: ``osc`` chooses one."""
    if not takes_sequences(variables):
        return ""
    head, body = (_safe(part, is_ascii=is_ascii) for part in (title, text))
    match usual_form(variables) if form == "osc" else form:
        case "osc99":
            parts = [f"\x1b]99;i=gputop:d=0:p=title;{head}\a", f"\x1b]99;i=gputop:d=1:p=body;{body}\a"]
        case "osc777":
            parts = [f"\x1b]777;notify;{head};{body}\a"]
        case _:  # a digit and ; at the start would mean something else
            parts = [f"\x1b]9;gputop: {body}\a"]
    return "".join(wrapped(part, variables) or part for part in parts)


def usual_form(variables: Mapping[str, str]) -> str:
    """Return the form that the terminal is known to take, as far as the variables name it."""
    term, program = variables.get("TERM", ""), variables.get("TERM_PROGRAM", "")
    if "KITTY_WINDOW_ID" in variables or term.startswith("xterm-kitty"):
        return "osc99"
    if program in _OSC9 or variables.get("LC_TERMINAL") == "iTerm2" or term.startswith("xterm-ghostty"):
        return "osc9"
    is_777 = term.startswith(("foot", "rxvt")) or not variables.keys().isdisjoint({"VTE_VERSION", "KONSOLE_VERSION"})
    return "osc777" if is_777 else "osc9"


def copying(text: str) -> str:
    """Return the sequence that copies a text; tmux may take it itself, or pass on a wrapped one."""
    return f"\x1b]52;c;{b64encode(text.encode('utf-8', 'replace')).decode()}\a"


def can_copy(text: str, variables: Mapping[str, str]) -> bool:
    """Say whether a text may be copied with `copying`: the terminal may know it, and it is not too long."""
    return takes_sequences(variables) and len(text.encode("utf-8", "replace")) <= MOST_COPIED


def wrapped(sequence: str, variables: Mapping[str, str]) -> str:
    """Return a sequence as the multiplexer passes it on; empty without a multiplexer."""
    if variables.get("TMUX") or variables.get("TERM", "").startswith("tmux"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if variables.get("STY"):
        starts = range(0, len(sequence), _SCREEN_PART)
        return "".join(f"\x1bP{sequence[at : at + _SCREEN_PART]}\x1b\\" for at in starts)
    return ""


def _safe(text: str, *, is_ascii: bool) -> str:
    """Return the beginning of a text without characters that could end or split a sequence."""
    text = excerpt(text, _LONGEST).replace(";", ",")
    return plain(text) if is_ascii else text
