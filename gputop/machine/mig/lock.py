"""A lock that stops two gputops from changing the MIG layout of one GPU, or testing it, at the same time.

It is a lock on a file that no other user can open: root's in /run/gputop, yours in your state directory. So no other
user can hold it against you. You also wait for root, whose lock /proc/locks shows. The kernel releases a lock when its
process ends. A container has its own /run, and so its own locks.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final

from gputop.machine.files.places import state_directory
from gputop.machine.files.private import append_at, open_directory

ROOTS: Final = "/run/gputop"
_READABLE: Final = 0o755  # the names, for other users; not the files
_TABLE: Final = "/proc/locks"
_MOST_BYTES: Final = 1 << 20


class LockedError(Exception):
    """Another process has the lock. ``pid``: that process, 0 if unknown."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"process {pid} has the lock")
        self.pid = pid


def mig_lock(uuid: str) -> AbstractContextManager[None]:
    """Hold the MIG lock of a GPU. Raises LockedError, and OSError if the lock cannot be taken."""
    return named_lock(f"mig-{uuid}")


@contextmanager
def named_lock(name: str, roots: str = ROOTS) -> Iterator[None]:
    """Hold the lock with a name. ``roots``: the directory of root's locks. Raises LockedError and OSError."""
    import fcntl  # noqa: PLC0415 - only for a change

    file = _open(f"{name.replace('/', '_')}.lock", roots)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(_holder(os.fstat(file)) or 0) from None
        yield
    finally:
        os.close(file)


def _open(name: str, roots: str) -> int:
    """Open the file of the lock. Raises LockedError if root has the same lock."""
    holder = None if os.geteuid() == 0 else _root_holder(f"{roots}/{name}")
    if holder is not None:
        raise LockedError(holder)
    place = _directory(roots)
    try:
        return append_at(place, name)
    finally:
        os.close(place)


def _directory(roots: str) -> int:
    """Open the directory of this user's locks."""
    if os.geteuid() == 0:
        with suppress(OSError):  # a container may have a read-only /run
            return open_directory(roots, _READABLE)
    return open_directory(f"{state_directory(os.environ)}/locks")


def _root_holder(path: str) -> int | None:
    """Return the pid of root's process that has a lock, or None."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return _holder(found) if found.st_uid == 0 else None


def _holder(file: os.stat_result) -> int | None:
    """Return the pid of the process that has a file locked, or None."""
    place = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    try:
        with open(_TABLE, "rb") as opened:
            lines = opened.read(_MOST_BYTES).decode("ascii", "replace").splitlines()
    except OSError:
        return None
    for line in lines:  # 1: FLOCK  ADVISORY  WRITE 4711 00:19:1234 0 EOF
        words = line.split()
        if words[1:2] == ["FLOCK"] and words[5:6] == [place] and words[4].isdecimal():
            return int(words[4])
    return None
