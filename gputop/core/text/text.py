"""Terminal-safe text: untrusted text as one harmless line."""

from typing import Final

_ESCAPES: Final = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}  # control pictures: ␛ ␊ …
_BLANKS: Final = dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_MOST_SIGNS: Final = 4096
_DROPPED: Final = frozenset({"Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # bidi overrides, zero width, surrogates, unassigned


def clean(text: str) -> str:
    """Return ``text`` as one line that cannot control a terminal; dangerous characters become visible, one cell each.

    Control characters become control pictures; bidi overrides, zero-width and unassigned characters and lone
    surrogates become U+FFFD; combining marks are kept.
    """
    if text.isprintable():  # so it has nothing that `_harmless` changes
        return text
    return text.translate(_SIGNS)


def is_clean(text: str) -> bool:
    """Say whether `clean` changes nothing; False for some harmless text."""
    return text.isprintable() or text.translate(_BLANKS).isprintable()


def decode(raw: bytes) -> str:
    """Decode and clean untrusted bytes; invalid UTF-8 becomes U+FFFD."""
    return clean(raw.decode("utf-8", "replace"))


def excerpt(text: str, most: int = 200) -> str:
    """Return the beginning of untrusted text for a message: one clean line of at most ``most`` characters."""
    return clean(text if len(text) <= most else text[: most - 1] + "…")


class _Signs(dict[int, str]):
    """What `clean` shows for a code point. Each is looked up once: hostile text may be long, and has many of them."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MOST_SIGNS:
            self.clear()
        sign = self[code] = _harmless(code)
        return sign


_SIGNS: Final = _Signs()


def _harmless(code: int) -> str:
    character = chr(code)
    if code in _ESCAPES:
        return _ESCAPES[code]
    from unicodedata import category  # noqa: PLC0415 - most hosts have no such text

    if 0x80 <= code < 0xA0 or category(character) in _DROPPED:
        return "\ufffd"
    return character
