"""Keeps a log from growing for ever: one older file stands beside it, and what it held before that is let go."""

import os
from typing import Final

from gputop.machine.state_directory import open_private

MOST_BYTES: Final = 8 * 1024**2  # about 20,000 attempts; there are two such files at the most
_TRIES: Final = 4


def older(name: str) -> str:
    """Return ``audit.old.jsonl`` for ``audit.jsonl``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.old.{suffix}"


def open_bounded(directory: str, name: str, most_bytes: int = MOST_BYTES) -> int:
    """Open a private file for appending; one that is too long becomes the older file first. Raises OSError.

    Several gputops write at once and lose nothing: each locks the file for as long as it has it open, and it is moved
    by whoever has it alone. So nobody still writes into the older file when the next one takes its place. Where that
    cannot be had now, or locks do not exist, the file grows on.
    """
    for _ in range(_TRIES):
        file = open_private(directory, name)
        try:
            if _is_settled(file, f"{directory}/{name}", f"{directory}/{older(name)}", most_bytes):
                return file
        except OSError:
            return file  # no locks here, or no room to move it: better a long log than none
        os.close(file)
    return open_private(directory, name)


def _is_settled(file: int, path: str, other: str, most_bytes: int) -> bool:
    """Say whether this is the file to write to; it is not if it was moved away, by us or by another gputop."""
    import fcntl  # noqa: PLC0415 - only where something is changed

    if os.fstat(file).st_size >= most_bytes:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # others write it now: one of the next will move it
        else:
            if _is_at(file, path):
                os.replace(path, other)
            return False
    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return _is_at(file, path)


def _is_at(file: int, path: str) -> bool:
    """Say whether a path still leads to the file that is open."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
