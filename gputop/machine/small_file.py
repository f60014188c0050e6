"""Small files that the user names or keeps: their reading waits for nothing, and its size has a limit."""

import errno
import os
import stat
from typing import Final

MOST_BYTES: Final = 1 << 20
OPEN: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK: Final = 65_536


def read_small(path: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file. Raises OSError, also for a pipe, a device, and a file that is too large.

    A pipe without a writer would block for ever, and a device such as /dev/zero never ends.
    """
    descriptor = os.open(path, OPEN)
    try:
        return content_of(descriptor, path, most_bytes)
    finally:
        os.close(descriptor)


def content_of(descriptor: int, path: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of an open file like `read_small`. ``path``: of the file, for the error."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    content = bytearray()
    while len(content) <= most_bytes and (chunk := os.read(descriptor, _CHUNK)):
        content += chunk
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes >> 10} KiB", path)
    return bytes(content)
