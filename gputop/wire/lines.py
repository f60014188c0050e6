"""Lines from a pipe, in one buffer: with 2,000 processes each has 1.5 MB."""

import os
from collections.abc import Iterator
from typing import IO, Final

from gputop.wire.limits import MOST_LINE_BYTES, ExcessError

_FIRST: Final = 262_144  # bytes; doubled when needed


def lines_of(pipe: IO[bytes] | None, most_bytes: int = MOST_LINE_BYTES) -> Iterator[memoryview]:
    """Yield each line without its newline until the pipe ends; a line is valid until the next one.

    Raises ExcessError for a line that is too long.
    """
    if pipe is None:
        return
    buffer, begin, end = bytearray(_FIRST), 0, 0  # the bytes between were read and not yet yielded
    while True:
        at = buffer.find(b"\n", begin, end)
        while at < 0:
            if end - begin > most_bytes:
                raise ExcessError(f"a line of more than {most_bytes >> 20} MiB")
            buffer, begin, end = _with_room(buffer, begin, end)
            with memoryview(buffer)[end:] as room:
                count = os.readv(pipe.fileno(), [room])
            if not count:
                return
            at = buffer.find(b"\n", end, end + count)
            end += count
        with memoryview(buffer)[begin:at] as line:
            yield line
        begin = at + 1


def _with_room(buffer: bytearray, begin: int, end: int) -> tuple[bytearray, int, int]:
    """Return the buffer with room after its contents."""
    if begin:
        buffer[: end - begin] = buffer[begin:end]
    elif end == len(buffer):
        buffer += bytes(end)
    return buffer, 0, end - begin
