"""The file of a recording, readable by its owner alone: it contains command lines and users."""

import errno
import os
from typing import Final

from gputop.core.text.text import excerpt

_MODE: Final = 0o600


class TapeFile:
    """A new unbuffered file. ``force``: replace an existing one.

    Raises OSError: FileExistsError for an existing file, ENOSPC on a full disk, ENOENT once it was deleted.
    """

    def __init__(self, path: str, *, force: bool = False) -> None:
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
        self._descriptor = os.open(path, flags, _MODE)

    def write(self, raw: memoryview) -> int:
        """Write a part of ``raw``; return its length."""
        if not os.fstat(self._descriptor).st_nlink:  # the kernel would accept the data, and drop it at the end
            raise OSError(errno.ENOENT, "the file was deleted")
        return os.write(self._descriptor, raw)

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)


def cannot_record(path: str, error: OSError) -> str:
    """Return why a recording cannot start."""
    name = excerpt(path)
    if isinstance(error, FileExistsError):
        return f"{name} already exists"
    return f"cannot record to {name}: {_why(error)}"


def stopped(path: str, error: OSError) -> str:
    """Return why a recording stopped."""
    name = excerpt(path)
    if error.errno in {errno.ENOENT, errno.ESTALE}:
        return f"the recording stopped: {name} was deleted"
    return f"the recording stopped: {_why(error)}. {name} is readable up to here"


def _why(error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "the disk is full" if error.errno == errno.ENOSPC else "your disk quota is used up"
    return error.strerror or str(error)
