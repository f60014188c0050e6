"""New files beside those that they replace: no reader sees half of one, and no other user can guess its name."""

import os
from contextlib import suppress
from errno import EINVAL, EROFS
from typing import Final

NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def new_draft(place: int, name: str, mode: int) -> tuple[int, str]:
    """Create a file for a name in an open directory; return it with its random name. Raises OSError."""
    draft = f".{name[:200]}.{os.urandom(8).hex()}.part"
    return os.open(draft, NEW, mode, dir_fd=place), draft


def write_all(file: int, content: bytes) -> None:
    """Write all bytes, also to the disk, and close the file. Raises OSError."""
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
        try:
            os.fsync(file)  # a quota on a network may be reported only here
        except OSError as error:
            if error.errno not in (EINVAL, EROFS):  # a pipe or a device has no disk
                raise
    finally:
        os.close(file)


def replace_at(place: int, name: str, content: bytes, mode: int, *, ignores_umask: bool = False) -> None:
    """Replace a file in an open directory, or create it. Raises OSError; then the old file is unchanged."""
    file, draft = new_draft(place, name, mode)
    try:
        if ignores_umask:
            with suppress(PermissionError):  # a file system without rights
                os.fchmod(file, mode)
        write_all(file, content)
        os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=place)
        raise
