"""A listening TCP socket of a process's network namespace, from /proc/PID/net."""

from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from msgspec import Struct

from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files

_LISTENS: Final = b"0A"
_MOST_LINES: Final = 65_536


class Listener(Struct, frozen=True):
    """A listening socket. ``address``: where to connect to; ``uid``: of its owner."""

    address: str
    port: int
    uid: int


def listeners(proc: Proc, pid: int, ports: Collection[int]) -> Iterator[Listener]:
    """Return the sockets that listen on these ports on an address of this host."""
    files = Files(proc)
    for name in ("tcp", "tcp6"):
        for line in files.raw(f"{pid}/net/{name}").splitlines()[1:_MOST_LINES]:
            found = _parsed(line)
            if found and found.port in ports:
                yield found


def _parsed(line: bytes) -> Listener | None:
    """Return a listening socket; None for other lines. The kernel writes addresses as 32-bit words of the host."""
    words = line.split(None, 8)
    if len(words) < 9 or words[3] != _LISTENS:
        return None
    digits, _, port = words[1].partition(b":")
    try:
        raw = bytes.fromhex(digits.decode())
        packed = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
        address = IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed)
        uid = int(words[7])
        number = int(port, 16)
    except ValueError:
        return None
    if address.is_unspecified:
        address = IPv4Address("127.0.0.1") if address.version == 4 else IPv6Address("::1")
    return Listener(str(address), number, uid)
