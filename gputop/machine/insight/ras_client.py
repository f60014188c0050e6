"""The client of NCCL's RAS service: lines of text to a socket, and one answer without a length.

The other side may be any program: time and size have limits, and nothing of the answer is believed.
"""

import socket
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.text.text import excerpt

_MOST_BYTES: Final = 16 << 20
_LONGEST_LINE: Final = 4096
_CHUNK: Final = 65_536
_LEG_S: Final = 5  # for each of NCCL's questions to its peers


class RasReply(Struct, frozen=True):
    """The report. ``is_json``: False before NCCL 2.28.7."""

    raw: bytes
    is_json: bool


def ask_ras(
    address: tuple[str, int], timeout_s: float, most_bytes: int = _MOST_BYTES,
    clock: Callable[[], float] = time.monotonic,
) -> RasReply:  # fmt: skip
    """Return the report of all ranks. Raises OSError, and ValueError with the reason for another protocol."""
    deadline = clock() + timeout_s
    with socket.create_connection(address, timeout_s) as connection:
        talk = _Talk(connection, lambda: deadline - clock(), most_bytes)
        greeting = talk.ask(b"CLIENT PROTOCOL 2")
        if not greeting.startswith(b"SERVER PROTOCOL"):
            raise ValueError(f"it is not NCCL: it answered {excerpt(greeting.decode('utf-8', 'replace'), 60)!r}")
        talk.ask(b"TIMEOUT %d" % _LEG_S)
        is_json = talk.ask(b"SET FORMAT json").startswith(b"OK")
        talk.send(b"VERBOSE STATUS" if is_json else b"STATUS")
        return RasReply(talk.rest(), is_json)


class _Talk:
    """A conversation with a deadline. ``left_s`` returns the remaining seconds."""

    def __init__(self, connection: socket.socket, left_s: Callable[[], float], most_bytes: int) -> None:
        self._connection = connection
        self._left_s = left_s
        self._most_bytes = most_bytes
        self._raw = b""

    def send(self, line: bytes) -> None:
        self._connection.settimeout(self._remaining())
        self._connection.sendall(line + b"\n")

    def ask(self, line: bytes) -> bytes:
        """Send a line and return the line that answers it."""
        self.send(line)
        while b"\n" not in self._raw:
            if len(self._raw) > _LONGEST_LINE:
                raise ValueError("it is not NCCL: its answer has no line")
            chunk = self._read()
            if not chunk:
                raise ValueError("it ended the connection before it answered")
            self._raw += chunk
        answer, _, self._raw = self._raw.partition(b"\n")
        return answer.strip()

    def rest(self) -> bytes:
        """Return everything up to the end of the connection."""
        content = bytearray(self._raw)
        while chunk := self._read():
            content += chunk
            if len(content) > self._most_bytes:
                raise ValueError(f"its answer is larger than {self._most_bytes >> 20} MiB")
        return bytes(content)

    def _read(self) -> bytes:
        self._connection.settimeout(self._remaining())
        return self._connection.recv(_CHUNK)

    def _remaining(self) -> float:
        left_s = self._left_s()
        if left_s <= 0:
            raise TimeoutError("its answer did not end in time")
        return left_s
