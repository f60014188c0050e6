"""Decompression of a member: all its lines, even if its end is missing or it is damaged."""

from contextlib import suppress
from typing import Final, Protocol
from zlib import MAX_WBITS, crc32, decompressobj, error

from msgspec import Struct

from gputop.wire.limits import MOST_LINE_BYTES
from gputop.wire.tape.layout import FRAMES_A_MEMBER, TRAILER

_CHUNK: Final = 16_384
MOST_BYTES: Final = MOST_LINE_BYTES  # a recorder writes half as much; 16 KiB of zeros inflate to 16 MiB
_MOST_LINES: Final = FRAMES_A_MEMBER + 1  # with the header


class Decompressor(Protocol):
    """The decompressor of zlib."""

    def decompress(self, data: bytes, most: int = 0, /) -> bytes:
        """Return the decompressed data."""
        ...


class Member(Struct, frozen=True, kw_only=True):
    """The lines of a member below its header. ``problem``: why there may be fewer than were written.

    ``is_cut``: it has no end: the recording still runs, or was interrupted.
    """

    header: bytes | None
    lines: list[bytes]
    size: int
    is_cut: bool = False
    problem: str = ""


def unpack(raw: bytes) -> Member:
    """Return the member behind a head. Other bytes may follow it, such as half of the next head."""
    text, rest, problem = _inflated(raw)
    is_cut = not problem and (rest is None or len(rest) != TRAILER.size)
    if rest is not None:
        problem = _checked(text, rest)
    lines = text.split(b"\n", _MOST_LINES)
    lines.pop()  # after the end of the last line: nothing, or half a line
    header = lines.pop(0) if lines else None
    return Member(header=header, lines=lines, size=len(text), is_cut=is_cut, problem=problem)


def _inflated(raw: bytes) -> tuple[bytes, bytes | None, str]:
    """Return the decompressed data, the bytes after the end (None: no end), and the problem."""
    found: list[bytes] = []
    size = lines = 0
    press = decompressobj(-MAX_WBITS)
    for at in range(0, len(raw), _CHUNK):
        chunk, before = raw[at : at + _CHUNK], press.copy()
        try:
            found.append(press.decompress(chunk, MOST_BYTES - size + 1))
        except error:
            return b"".join((*found, *_up_to_damage(before, chunk))), None, "it cannot be decompressed"
        size += len(found[-1])
        lines += found[-1].count(b"\n")
        if size > MOST_BYTES or lines > _MOST_LINES:
            return b"".join(found), None, "it has more data than a recorder writes"
        if press.eof:
            return b"".join(found), press.unused_data + raw[at + _CHUNK :], ""
    return b"".join(found), None, ""


def _up_to_damage(press: Decompressor, chunk: bytes) -> list[bytes]:
    """Return the data before the error in a chunk."""
    found: list[bytes] = []
    with suppress(error):
        for at in range(len(chunk)):
            found.append(press.decompress(chunk[at : at + 1]))  # noqa: PERF401 - what was found before the error stays
    return found


def _checked(text: bytes, rest: bytes) -> str:
    if len(rest) < TRAILER.size:
        return ""  # truncated within its last bytes, with all lines intact
    checksum, size = TRAILER.unpack(rest[: TRAILER.size])
    if checksum != crc32(text) or size != len(text) & 0xFFFFFFFF:
        return "its checksum is wrong, so values may be wrong too"
    return ""
