"""Lines of a pipe arrive whole, however they were written."""

import os
import threading
from collections.abc import Sequence

import pytest

from gputop.wire.lines import lines_of


def read(chunks: Sequence[bytes]) -> list[bytes]:
    """Return the lines that come out of a pipe into which these chunks are written one after the other."""
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb", buffering=0) as pipe:
            pipe.writelines(chunks)

    writer = threading.Thread(target=write)
    writer.start()
    with open(reading, "rb", buffering=0) as pipe:
        lines = [bytes(line) for line in lines_of(pipe)]
    writer.join()
    return lines


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((), []),
        ((b"one\n",), [b"one"]),
        ((b"one\ntwo\n\nfour\n",), [b"one", b"two", b"", b"four"]),
        ((b"o", b"n", b"e\nt", b"wo\n"), [b"one", b"two"]),
        ((b"one\ncut short",), [b"one"]),
    ],
)
def test_lines_come_whole(chunks: Sequence[bytes], lines: list[bytes]) -> None:
    assert read(chunks) == lines


def test_lines_longer_than_the_buffer_come_whole_between_short_ones() -> None:
    lines = [b"a" * 10, b"b" * 3_000_000, b"", b"c" * 262_143, b"d" * 262_144, b"e" * 700_000]

    assert read([line + b"\n" for line in lines]) == lines
