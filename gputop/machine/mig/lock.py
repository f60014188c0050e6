"""A lock against two gputops that change the MIG layout of one GPU, or test it, at once.

It is a name in the kernel's abstract socket namespace: it needs no directory that all users may write to, it goes when
its process ends, however that ends, and it says who has it. It does not reach into another network namespace.
"""

import errno
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

_NAME: Final = "\0gputop-"
_CREDENTIALS: Final = 12  # struct ucred: pid, uid, gid


class TakenError(Exception):
    """Somebody else has the lock; ``pid``: who, 0 where that cannot be told."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"process {pid} has it")
        self.pid = pid


def mig_lock(uuid: str) -> AbstractContextManager[None]:
    """Hold the lock of a GPU. Raises TakenError, and OSError where there are no such locks."""
    return named_lock(f"mig-{uuid}")


@contextmanager
def named_lock(name: str) -> Iterator[None]:
    """Hold the lock of a name. Raises TakenError, and OSError where there are no such locks."""
    import socket  # noqa: PLC0415 - only where something is changed

    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            held.bind(_NAME + name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise TakenError(_holder(name)) from None
        held.listen()
        yield
    finally:
        held.close()


def _holder(name: str) -> int:
    """Return the pid of whoever has the lock: the kernel tells it of the other end of a socket."""
    import socket  # noqa: PLC0415
    import struct  # noqa: PLC0415

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(1.0)
        try:
            asking.connect(_NAME + name)
            raw = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS)
        except OSError:
            return 0
    pid: int = struct.unpack("3i", raw)[0]
    return pid
