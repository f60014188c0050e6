"""Files of the user that are none: pipes, devices, folders, endless ones."""

import os
from pathlib import Path

import pytest

from gputop.machine.small_file import read_small


def test_a_file_is_read_whole_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 200_000)
    (tmp_path / "link").symlink_to(tmp_path / "file")

    assert read_small(str(tmp_path / "link")) == b"x" * 200_000


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_not_a_regular_file_neither_blocks_nor_fills_the_memory(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()

    with pytest.raises(OSError, match=r"regular file|Is a directory"):
        read_small(str(path))


def test_a_file_above_the_limit_is_refused_and_not_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as opened:
        opened.truncate(2**40)

    with pytest.raises(OSError, match="larger than 1024 KiB"):
        read_small(str(path))
