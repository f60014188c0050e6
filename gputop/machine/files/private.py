"""The files that gputop keeps for itself, in directories that no other user controls."""

import os
import stat
from collections.abc import Callable
from errno import EACCES
from typing import Final

from gputop.machine.files.draft import NEW, replace_at, write_all
from gputop.machine.files.walk import check_all, user_name, walk
from gputop.machine.small_file import OPEN, content_of

_DIRECTORY: Final = 0o700
_FILE: Final = 0o600
_APPEND: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_directory(path: str, mode: int = _DIRECTORY) -> int:
    """Open a directory of this user, to use as ``dir_fd``; create what is missing of it. Raises OSError.

    An existing directory keeps its rights.
    """
    place, _ = walk(f"{path}/.", check_all, mode=mode)
    return _of_this_user(place)


def append_at(place: int, name: str) -> int:
    """Open a file for this user alone in an open directory, to append and read. Raises OSError, also for a link."""
    file = _of_this_user(os.open(name, _APPEND, _FILE, dir_fd=place))
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise PermissionError(EACCES, "it is a link, or not a regular file")
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(file, _FILE)
    except OSError:
        os.close(file)
        raise
    return file


def read_file(path: str) -> bytes:
    """Return the content of a small file. Raises OSError, also if another user controls the way to it."""
    place, name = walk(path, check_all)
    try:
        file = os.open(name, OPEN | os.O_NOFOLLOW, dir_fd=place)
        try:
            return content_of(file, path)
        finally:
            os.close(file)
    finally:
        os.close(place)


def replace_file(path: str, content: bytes) -> None:
    """Write a file for this user alone. Raises OSError; then an existing file is unchanged."""
    place, name = _place_of(path)
    try:
        replace_at(place, name, content, _FILE)
    finally:
        os.close(place)


def create_file(path: str, content: bytes) -> None:
    """Write a new file for this user alone. Raises OSError: FileExistsError for an existing file."""
    place, name = _place_of(path)
    try:
        file = os.open(name, NEW, _FILE, dir_fd=place)
        try:
            write_all(file, content)
        except OSError:
            os.unlink(name, dir_fd=place)
            raise
    finally:
        os.close(place)


def change_file(path: str, change: Callable[[bytes], bytes]) -> None:
    """Replace the content of a file by what ``change`` returns for it; a missing file is empty. It keeps its rights.

    Raises OSError, and the errors of ``change``; then the file is unchanged.
    """
    place, name = _place_of(path)
    try:
        content, mode = _content(place, name)
        replace_at(place, name, change(content), mode, ignores_umask=True)
    finally:
        os.close(place)


def _place_of(path: str) -> tuple[int, str]:
    place, name = walk(path, check_all, mode=_DIRECTORY)
    return _of_this_user(place), name


def _content(place: int, name: str) -> tuple[bytes, int]:
    """Return the content and the mode of a file."""
    try:
        file = _of_this_user(os.open(name, OPEN | os.O_NOFOLLOW, dir_fd=place))
    except FileNotFoundError:
        return b"", _FILE
    try:
        return content_of(file, name), stat.S_IMODE(os.fstat(file).st_mode) & 0o777
    finally:
        os.close(file)


def _of_this_user(descriptor: int) -> int:
    """Return an open file or directory. Closes it and raises OSError if it belongs to another user."""
    owner = os.fstat(descriptor).st_uid
    if owner == os.geteuid():
        return descriptor
    os.close(descriptor)
    raise PermissionError(EACCES, f"it belongs to {user_name(owner)}")
