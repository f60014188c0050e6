"""Terminal-safe text: untrusted text as one harmless line, fitted to terminal cells."""

import unicodedata
from typing import Final

from gputop.core.text.cells import cells_of, width

_ESCAPES: Final = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}  # control pictures: ␛ ␊ …
_BLANKS: Final = dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_DROPPED: Final = frozenset({"Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # bidi overrides, zero width, surrogates, unassigned


def clean(text: str) -> str:
    """Return ``text`` as one line that cannot control a terminal; dangerous characters become visible, one cell each.

    Control characters become control pictures; bidi overrides, zero-width and unassigned characters and lone
    surrogates become U+FFFD; combining marks are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_harmless(character) for character in text)


def is_clean(text: str) -> bool:
    """Say whether `clean` changes nothing; False for some harmless text."""
    return text.isprintable() or text.translate(_BLANKS).isprintable()


def decode(raw: bytes) -> str:
    """Decode and clean untrusted bytes; invalid UTF-8 becomes U+FFFD."""
    return clean(raw.decode("utf-8", "replace"))


def excerpt(text: str, most: int = 200) -> str:
    """Return the beginning of untrusted text for a message: one clean line of at most ``most`` characters."""
    return clean(text if len(text) <= most else text[: most - 1] + "…")


def fit(text: str, cells: int, *, end: str = "…") -> str:
    """Return ``text`` in exactly ``cells`` cells: padded with blanks, or cut with ``end`` as its last character."""
    missing = cells - width(text)
    if missing >= 0:
        return text + " " * missing
    if cells < width(end):
        return " " * cells
    first = head(text, cells - width(end)) + end
    return first + " " * (cells - width(first))


def fit_right(text: str, cells: int) -> str:
    """Return ``text`` in exactly ``cells`` cells, at their right end."""
    missing = cells - width(text)
    return " " * missing + text if missing >= 0 else fit(text, cells)


def head(text: str, cells: int) -> str:
    """Return as much of the beginning of ``text`` as ``cells`` cells hold."""
    if text.isascii():
        return text[: max(0, cells)]
    for at, taken in enumerate(cells_of(text)):
        cells -= taken
        if cells < 0:
            return text[:at]
    return text


def chop(text: str, cells: int) -> list[str]:
    """Return ``text`` in parts of at most ``cells`` cells; an empty text has no parts."""
    parts: list[str] = []
    while text:
        part = head(text, cells) or text[0]
        parts.append(part)
        text = text[len(part) :]
    return parts


def _harmless(character: str) -> str:
    code = ord(character)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if 0x80 <= code < 0xA0 or unicodedata.category(character) in _DROPPED:
        return "\ufffd"
    return character
