"""The file system behind a narrow border, so that a folder or a simulated box can replace it."""

import os
from typing import Final, Protocol

from gputop.machine.proc.procfs import Reader

_CHUNK: Final = 65_536
_MOST: Final = 8_388_608


class Root(Reader, Protocol):
    """The file system operations of the doctor. Paths are relative to the root: ``proc/driver/nvidia/version``.

    All methods but `open` raise OSError.
    """

    def open(self, path: str) -> int:
        """Open a device file for reading and writing, close it, and return the errno; 0 is success."""
        ...

    def mode(self, path: str) -> tuple[int, int]:
        """Return type and rights of a file as in ``st_mode``, and its owner. A link is not followed."""
        ...


class RealRoot:
    """The file system below a folder."""

    def __init__(self, root: str = "/") -> None:
        self._root = root.rstrip("/") + "/"

    def read(self, path: str) -> bytes:
        """Return the content of a file, at most 8 MiB. Never waits for more, since the kernel log has no end."""
        descriptor = os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        content = bytearray()
        try:
            while len(content) < _MOST:
                try:
                    chunk = os.read(descriptor, _CHUNK)
                except BlockingIOError:
                    break  # of the kernel log, that was the last record
                except BrokenPipeError:
                    continue  # records were overwritten since then; the next reading starts at the oldest
                if not chunk:
                    break
                content += chunk
            return bytes(content)
        finally:
            os.close(descriptor)

    def list(self, path: str) -> list[str]:
        """Return the names in a directory, sorted."""
        return sorted(os.listdir(self._root + path))

    def link(self, path: str) -> str:
        """Return the target of a symbolic link."""
        return os.readlink(self._root + path)

    def open(self, path: str) -> int:
        """Open a device file and return the errno; 0 is success."""
        try:
            descriptor = os.open(self._root + path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            return error.errno or -1
        os.close(descriptor)
        return 0

    def mode(self, path: str) -> tuple[int, int]:
        """Return type and rights of a file, and its owner."""
        found = os.lstat(self._root + path)
        return found.st_mode, found.st_uid


class Files:
    """A root whose methods return empty values instead of raising."""

    def __init__(self, root: Reader) -> None:
        self._root = root

    def raw(self, path: str) -> bytes:
        """Return the content of a file; empty if it is missing or unreadable."""
        try:
            return self._root.read(path)
        except OSError:
            return b""

    def text(self, path: str) -> str | None:
        """Return the content of a file as stripped text; None if it is missing or unreadable."""
        try:
            return self._root.read(path).decode("utf-8", "replace").strip()
        except OSError:
            return None

    def names(self, path: str) -> list[str]:
        """Return the names in a directory; empty if it does not exist."""
        try:
            return self._root.list(path)
        except OSError:
            return []

    def target(self, path: str) -> str:
        """Return the target of a link; empty if it does not exist."""
        try:
            return self._root.link(path)
        except OSError:
            return ""

    def has(self, path: str) -> bool:
        """Say whether a directory contains a name."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)
