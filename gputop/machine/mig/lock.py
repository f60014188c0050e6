"""A lock that stops two gputops from changing the MIG layout of one GPU, or testing it, at the same time.

It is a name in the kernel's abstract socket namespace. It needs no world-writable directory, disappears when its
process ends, and reveals its holder's pid. It covers one network namespace only.
"""

import errno
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

_NAME: Final = "\0gputop-"
_CREDENTIALS: Final = 12  # struct ucred: pid, uid, gid


class LockedError(Exception):
    """Another process has the lock. ``pid``: that process, 0 if unknown."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"process {pid} has the lock")
        self.pid = pid


def mig_lock(uuid: str) -> AbstractContextManager[None]:
    """Hold the MIG lock of a GPU. Raises LockedError, and OSError if the system has no such locks."""
    return named_lock(f"mig-{uuid}")


@contextmanager
def named_lock(name: str) -> Iterator[None]:
    """Hold the lock with a name. Raises LockedError, and OSError if the system has no such locks."""
    import socket  # noqa: PLC0415 - only needed for a change

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            listener.bind(_NAME + name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise LockedError(_holder(name)) from None
        listener.listen()
        yield
    finally:
        listener.close()


def _holder(name: str) -> int:
    """Return the pid of the lock's holder, which the kernel reports for the peer of a socket; 0 if unknown."""
    import socket  # noqa: PLC0415
    import struct  # noqa: PLC0415

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(1.0)
        try:
            peer.connect(_NAME + name)
            raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS)
        except OSError:
            return 0
    pid: int = struct.unpack("3i", raw)[0]
    return pid
