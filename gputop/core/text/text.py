"""Text from outside is hostile: make it one harmless line, and measure what it takes on a terminal."""

import unicodedata
from typing import Final

_ESCAPES: Final = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}  # control pictures: ␛ ␊ …
_DROPPED: Final = frozenset({"Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # bidi overrides, zero width, surrogates, unassigned
_MARKS: Final = frozenset({"Mn", "Me", "Mc"})  # stand on the sign before; so do the later parts of a Hangul syllable


def clean(text: str) -> str:
    """Return ``text`` as one line that cannot steer a terminal: what is dangerous is made visible, one cell each.

    Control characters become control pictures; bidi overrides, zero-width and unassigned characters and lone
    surrogates become U+FFFD; combining marks are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_harmless(character) for character in text)


def decode(raw: bytes) -> str:
    """Return the text of bytes from outside, cleaned; what is not UTF-8 becomes U+FFFD."""
    return clean(raw.decode("utf-8", "replace"))


def width(text: str) -> int:
    """Return how many cells cleaned text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def fit(text: str, cells: int, *, end: str = "…") -> str:
    """Return ``text`` in exactly ``cells`` cells: padded with blanks, or cut with ``end`` as its last sign."""
    missing = cells - width(text)
    if missing >= 0:
        return text + " " * missing
    kept, room = [], cells - width(end)
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept.append(character)
    cut = "".join(kept) + end
    return cut + " " * (cells - width(cut)) if cells >= width(end) else " " * cells


def _harmless(character: str) -> str:
    code = ord(character)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if 0x80 <= code < 0xA0 or unicodedata.category(character) in _DROPPED:
        return "\ufffd"
    return character


def _cells(character: str) -> int:
    if unicodedata.category(character) in _MARKS or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
