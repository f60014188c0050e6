"""A log of bounded size: one older file is kept next to it, and anything before that is dropped."""

import os
from typing import Final

from gputop.machine.files.private import append_at, open_directory

MOST_BYTES: Final = 8 * 1024**2  # about 20,000 attempts; at most two files of this size exist
_TRIES: Final = 4


def older(name: str) -> str:
    """Return ``audit.old.jsonl`` for ``audit.jsonl``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.old.{suffix}"


def open_bounded(directory: str, name: str, most_bytes: int = MOST_BYTES) -> int:
    """Open a private file for appending; rotate a file that is too long first. Raises OSError.

    Several gputops write at once and lose nothing: each holds a shared lock while it has the file open, and only the
    holder of an exclusive lock moves it. So no process still writes to the older file when the next one replaces it. If
    the lock is not available, or locks do not exist, the file grows beyond its limit.
    """
    place = open_directory(directory)
    try:
        for _ in range(_TRIES):
            file = append_at(place, name)
            try:
                if _is_settled(file, place, name, most_bytes):
                    return file
            except OSError:
                return file  # no locks here, or no right to move the file: a long log is better than none
            os.close(file)
        return append_at(place, name)
    finally:
        os.close(place)


def _is_settled(file: int, place: int, name: str, most_bytes: int) -> bool:
    """Return whether this is the file to write to; it is not if this or another gputop has moved it away."""
    import fcntl  # noqa: PLC0415 - only for a change

    if os.fstat(file).st_size >= most_bytes:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # another process is writing to it: a later one will move it
        else:
            if _is_at(file, place, name):
                os.replace(name, older(name), src_dir_fd=place, dst_dir_fd=place)
            return False
    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return _is_at(file, place, name)


def _is_at(file: int, place: int, name: str) -> bool:
    """Return whether a name in an open directory still is that of the open file."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(name, dir_fd=place, follow_symlinks=False))
    except FileNotFoundError:
        return False
