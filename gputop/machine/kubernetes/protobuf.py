"""A reader of Protocol Buffers: the strings and messages of a message. It checks all lengths."""

from collections.abc import Iterator
from typing import Final

_MOST_SHIFT: Final = 63
_VARINT, _64_BITS, _BYTES, _32_BITS = 0, 1, 2, 5
_SIZES: Final = {_64_BITS: 8, _32_BITS: 4}


class MalformedError(ValueError):
    """The bytes are not a message."""


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each field with a length; other fields are skipped. Raises MalformedError."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            _, at = _varint(message, at)
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            raise MalformedError(f"wire type {kind}")
        end = at + size
        if end > len(message):
            raise MalformedError("a field is longer than its message")
        if kind == _BYTES:
            yield key >> 3, message[at:end]
        at = end


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number and where the next one begins."""
    value = 0
    for shift in range(0, _MOST_SHIFT + 1, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise MalformedError("a number has no end")
