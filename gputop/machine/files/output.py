"""Output files at a path of the user's choice. No file or link of another user is written through."""

import os
import stat
from errno import EACCES
from typing import Final

from gputop.machine.files.draft import NEW, new_draft, replace_at, write_all
from gputop.machine.files.walk import check_links, user_name, walk

PUBLIC: Final = 0o666  # less the umask
PRIVATE: Final = 0o600
_OPEN: Final = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_NAMES: Final = {"/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTORS: Final = ("/dev/fd", "/proc/self/fd")


def write_output(path: str, content: bytes, mode: int = PUBLIC) -> None:
    """Write a file, atomically if it exists; a pipe or a device is written as it is. Raises OSError."""
    own = _own_descriptor(path)
    if own is not None:
        return write_all(own, content)
    place, name = walk(path, check_links)
    try:
        special = _open_special(place, name)
        return replace_at(place, name, content, mode) if special is None else write_all(special, content)
    finally:
        os.close(place)


def create_output(path: str, mode: int = PRIVATE, *, replaces: bool = False) -> int:
    """Open a new file for writing; ``replaces``: in the place of an existing one. Raises OSError."""
    own = _own_descriptor(path)
    if own is not None:
        return own
    place, name = walk(path, check_links)
    try:
        if not replaces:
            return os.open(name, NEW, mode, dir_fd=place)
        special = _open_special(place, name)
        return _in_place_of(place, name, mode) if special is None else special
    finally:
        os.close(place)


def _own_descriptor(path: str) -> int | None:
    """Return a copy of the descriptor that a path like /dev/stdout or /dev/fd/63 names."""
    folder, name = os.path.split(path)
    number = int(name) if folder in _DESCRIPTORS and name.isdecimal() else _NAMES.get(path)
    return None if number is None else os.dup(number)


def _open_special(place: int, name: str) -> int | None:
    """Open a device, or a pipe of this user or root; return None for a regular or a missing file."""
    try:
        found = os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(found.st_mode):
        return None
    _check_special(found)
    file = os.open(name, _OPEN, dir_fd=place)
    try:
        _check_special(os.fstat(file))  # it may be another file by now
    except OSError:
        os.close(file)
        raise
    return file


def _check_special(found: os.stat_result) -> None:
    if not stat.S_ISCHR(found.st_mode) and found.st_uid not in (0, os.geteuid()):
        raise PermissionError(EACCES, f"it belongs to {user_name(found.st_uid)}")


def _in_place_of(place: int, name: str, mode: int) -> int:
    file, draft = new_draft(place, name, mode)
    try:
        os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
    except OSError:
        os.close(file)
        os.unlink(draft, dir_fd=place)
        raise
    return file
