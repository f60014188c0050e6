"""A line to a port of this host, which a test slows down, holds or cuts."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_CHUNK_BYTES: Final = 4096


class SlowLine:
    """Passes on connections to a port. ``port``: its own; ``carried_bytes``: to the clients.

    ``bytes_per_s``: in each direction; None means no limit.
    """

    def __init__(self, target: int, bytes_per_s: float | None) -> None:
        self.carried_bytes = 0
        self._target = target
        self.bytes_per_s = bytes_per_s
        self._flows = threading.Event()
        self._flows.set()
        self._ends: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """Pass on nothing from now on; the connections stay open."""
        self._flows.clear()

    def release(self) -> None:
        """Pass on what was held, and everything after it."""
        self._flows.set()

    def cut(self) -> None:
        """End all connections; new ones are accepted."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        """End all connections, and accept no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.release()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            host = socket.create_connection(("127.0.0.1", self._target))
            self._ends += (client, host)
            for source, sink in ((client, host), (host, client)):
                threading.Thread(target=self._pass_on, args=(source, sink, sink is client), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_to_client: bool) -> None:  # noqa: FBT001
        with suppress(OSError):  # one end has closed, or the line was cut
            while data := source.recv(_CHUNK_BYTES):
                self._flows.wait()
                sink.sendall(data)
                if is_to_client:
                    self.carried_bytes += len(data)
                if self.bytes_per_s is not None:
                    time.sleep(len(data) / self.bytes_per_s)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def slow_line(target: int, bytes_per_s: float | None = None) -> Iterator[SlowLine]:
    """Open a line to a port, and close it at the end."""
    line = SlowLine(target, bytes_per_s)
    try:
        yield line
    finally:
        line.close()
