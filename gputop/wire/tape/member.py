"""Unpacks a member of a tape: all lines that are there, even if its end is missing or it is damaged."""

from contextlib import suppress
from typing import Final, Protocol
from zlib import MAX_WBITS, crc32, decompressobj, error

from msgspec import Struct

from gputop.wire.tape.layout import TRAILER

_CHUNK: Final = 16_384
_MOST: Final = 256 * 2**20  # bytes; 120 frames of 2,000 processes are 20 MB


class Press(Protocol):
    """What zlib unpacks with."""

    def decompress(self, data: bytes, /) -> bytes:
        """Return what more can be unpacked."""
        ...


class Member(Struct, frozen=True, kw_only=True):
    """The lines of a member below its header. ``problem``: why there may be fewer than were written.

    ``is_cut``: it does not end where the bytes do: the recording still runs, or was not ended.
    """

    header: bytes | None
    lines: list[bytes]
    size: int
    is_cut: bool = False
    problem: str = ""


def unpack(raw: bytes) -> Member:
    """Return the member behind a head. Bytes that do not belong to it may follow, such as the half of the next head."""
    text, rest, problem = _inflated(raw)
    is_cut = not problem and (rest is None or len(rest) != TRAILER.size)
    if rest is not None:
        problem = _checked(text, rest)
    lines = text.split(b"\n")
    lines.pop()  # what is behind the last line's end: nothing, or half a line
    header = lines.pop(0) if lines else None
    return Member(header=header, lines=lines, size=len(text), is_cut=is_cut, problem=problem)


def _inflated(raw: bytes) -> tuple[bytes, bytes | None, str]:
    """Return what can be unpacked, what follows the end (None: no end), and what is wrong."""
    found: list[bytes] = []
    size = 0
    press = decompressobj(-MAX_WBITS)
    for at in range(0, len(raw), _CHUNK):
        chunk, before = raw[at : at + _CHUNK], press.copy()
        try:
            found.append(press.decompress(chunk))
        except error:
            return b"".join((*found, *_up_to_damage(before, chunk))), None, "it cannot be unpacked"
        size += len(found[-1])
        if press.eof:
            return b"".join(found), press.unused_data + raw[at + _CHUNK :], ""
        if size > _MOST:
            return b"".join(found), None, "it is too large"
    return b"".join(found), None, ""


def _up_to_damage(press: Press, chunk: bytes) -> list[bytes]:
    """Return what can be unpacked of a chunk with an error in it."""
    found: list[bytes] = []
    with suppress(error):
        for at in range(len(chunk)):
            found.append(press.decompress(chunk[at : at + 1]))  # noqa: PERF401 - what was found before the error stays
    return found


def _checked(text: bytes, rest: bytes) -> str:
    if len(rest) < TRAILER.size:
        return ""  # cut off within its last bytes, with all lines there
    checksum, size = TRAILER.unpack(rest[: TRAILER.size])
    if checksum != crc32(text) or size != len(text) & 0xFFFFFFFF:
        return "its checksum is wrong, values may be as well"
    return ""
