"""/proc behind a narrow border, so that a simulated box can replace it."""

import errno
import os
import time
from typing import Final, Protocol

from gputop.core.model.metric import Missing

_PAGE: Final = 3072  # a page minus the longest line
_CHUNK: Final = 65_536
_MOST: Final = 1_048_576
_CLOCK_TICKS: Final = os.sysconf("SC_CLK_TCK")
GONE: Final = (FileNotFoundError, ProcessLookupError)  # a process that exits between open and read causes the second
_NOT_OFFERED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTDIR, errno.EOPNOTSUPP})


class Reader(Protocol):
    """Reads files below a folder, to which paths are relative. All raise OSError."""

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        ...

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        ...

    def link(self, path: str) -> str:
        """Return the target of a symbolic link."""
        ...


class Proc(Reader, Protocol):
    """Reads /proc: ``stat``, ``4711/task/4711/stat``. All raise OSError."""

    def reread(self, path: str) -> bytes:
        """Return the content of a small file that is read again and again; `forget` ends that."""
        ...

    def forget(self, path: str) -> None:
        """Close a file that will not be read again soon. Never raises."""
        ...

    def ticks(self) -> int:
        """Return the present clock tick since boot, the unit of start times. Never raises."""
        ...


class RealProc:
    """The kernel's /proc."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root + "/"
        self._kept: dict[str, int] = {}
        self._most_kept = os.sysconf("SC_OPEN_MAX") // 2

    def read(self, path: str) -> bytes:
        """Return the content of a file, at most 1 MiB of it."""
        descriptor = os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = os.read(descriptor, _CHUNK)
            if len(content) < _PAGE:
                return content  # the kernel returns a page at a time, so this is all
            while len(content) < _MOST and (more := os.read(descriptor, _CHUNK)):
                content += more
            return content
        finally:
            os.close(descriptor)

    def reread(self, path: str) -> bytes:
        """Return the content of a small file; it stays open, which saves half of the cost."""
        descriptor = self._kept.get(path)
        if descriptor is None:
            if len(self._kept) >= self._most_kept:
                return self.read(path)
            descriptor = self._kept[path] = os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(descriptor, _PAGE, 0)
        except OSError:
            self.forget(path)
            return self.read(path)  # the process has exited, but its pid may belong to another one now

    def forget(self, path: str) -> None:
        """Close a file."""
        descriptor = self._kept.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def ticks(self) -> int:
        """Return the present clock tick; a time namespace shifts it and start times by the same amount."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * _CLOCK_TICKS // 1_000_000_000

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        return os.listdir(self._root + path)

    def link(self, path: str) -> str:
        """Return the target of a symbolic link."""
        return os.readlink(self._root + path)


def read_memory(proc: Reader, path: str, length: int) -> bytes:
    """Return a file that the kernel copies from the memory of a process. Raises OSError.

    ``length``: of the file according to stat. If the process has unmapped it, the kernel returns nothing, and no error.
    """
    content = proc.read(path)
    if length and not content:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return content


def reason(error: OSError) -> Missing:
    """Return FORBIDDEN if another user may read it, UNSUPPORTED if this kernel does not offer it.

    BLOCKED after a time-out; NOT_YET if so many other processes block that it was not read; else UNREADABLE.
    """
    if isinstance(error, TimeoutError):
        return Missing.BLOCKED
    if isinstance(error, BlockingIOError):
        return Missing.NOT_YET
    if isinstance(error, PermissionError):
        return Missing.FORBIDDEN
    return Missing.UNSUPPORTED if isinstance(error, GONE) or error.errno in _NOT_OFFERED else Missing.UNREADABLE
