"""/proc behind one narrow border, so that a simulated box can stand in for it."""

import os
from typing import Final, Protocol

_PAGE: Final = 3072  # a page less the longest line
_CHUNK: Final = 65_536
_MOST: Final = 1_048_576


class Proc(Protocol):
    """What is asked of /proc. Paths are relative to it: ``stat``, ``4711/task/4711/stat``. All raise OSError."""

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        ...

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        ...

    def link(self, path: str) -> str:
        """Return where a symbolic link points."""
        ...


class RealProc:
    """The kernel's /proc."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root + "/"

    def read(self, path: str) -> bytes:
        """Return the content of a file; at most 1 MiB of it."""
        descriptor = os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = os.read(descriptor, _CHUNK)
            if len(content) < _PAGE:
                return content  # the kernel hands out a page at a time, so this is all
            while len(content) < _MOST and (more := os.read(descriptor, _CHUNK)):
                content += more
            return content
        finally:
            os.close(descriptor)

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        return os.listdir(self._root + path)

    def link(self, path: str) -> str:
        """Return where a symbolic link points."""
        return os.readlink(self._root + path)
