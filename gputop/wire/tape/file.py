"""The file of a recording while it is written."""

import errno
import os

from gputop.core.text.text import excerpt


class TapeFile:
    """An unbuffered file, over the descriptor of a new file. Raises OSError: ENOSPC on a full disk."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, raw: memoryview) -> int:
        """Write a part of ``raw``; return its length. Raises OSError: ENOENT once the file was deleted."""
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
