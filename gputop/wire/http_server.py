"""A small HTTP server for reading: GET and HEAD, in a thread of its own, with bounds for slow and hostile clients.

Every connection has a task of one event loop. A client gets a limited time for its request and for the answer, and a
limited size of its headers. If all connections are in use, the one that has waited longest makes room for a new one;
one that receives a stream does not wait.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from ssl import SSLContext
from typing import Any, Final, TypeAlias

from msgspec import Struct

_MOST_HEAD: Final = 16 * 1024  # bytes of a request
_REQUEST_S: Final = 10.0  # from the connection to the end of the first request, with TLS
_IDLE_S: Final = 300.0  # between two requests of one connection
_ANSWER_S: Final = 30.0
_BACKLOG: Final = 64
_EXPECTED: Final = (OSError, EOFError, asyncio.LimitOverrunError, asyncio.TimeoutError)  # of a client
_METHODS: Final = ("GET", "HEAD")
_REASONS: Final = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 503: "Service Unavailable",
}  # fmt: skip


class Request(Struct, frozen=True):
    """A request. ``headers``: by lower-case name. ``certificate``: of the client, as `ssl` returns it; None without."""

    method: str
    path: str
    headers: Mapping[str, str] = {}
    certificate: Mapping[str, Any] | None = None


class Response(Struct, frozen=True):
    """A response. ``headers``: further ones. ``stream``: parts after the body, without end: each in `_ANSWER_S`."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = {}
    stream: AsyncIterator[bytes] | None = None


Answer: TypeAlias = Callable[[Request], Awaitable[Response]]
Tls: TypeAlias = Callable[[], SSLContext | None]


class _Connection:
    """A connection. ``idle_since``: None while an answer is made or sent."""

    def __init__(self, now: float) -> None:
        self.idle_since: float | None = now
        self.task: asyncio.Task[None] | None = None


class HttpServer:
    """Answers requests on an open socket until it is closed. ``answer`` must be quick: all clients share its thread.

    ``tls``: of the next connection; None for plain HTTP.
    """

    def __init__(self, listener: socket.socket, answer: Answer, tls: Tls = lambda: None, most: int = 64) -> None:
        self._listener = listener
        self._answer = answer
        self._tls = tls
        self._most = most
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._report)
        self._reported: set[type[Any]] = set()
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._listener.setblocking(False)
        self._listener.listen(_BACKLOG)
        self._thread.start()

    def soon(self, action: Callable[[], object]) -> None:
        """Run an action in the thread of the server."""
        self._loop.call_soon_threadsafe(action)

    def close(self) -> None:
        """End: close all connections at once."""
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(_ANSWER_S)

    def _run(self) -> None:
        accepting = self._loop.create_task(self._accept())
        self._accepting = accepting
        try:
            self._loop.run_until_complete(accepting)
        except asyncio.CancelledError:
            pass
        finally:
            self._listener.close()
            self._loop.close()

    def _stop(self) -> None:
        self._accepting.cancel()

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log each kind of unexpected error once: clients must not fill the log."""
        kind = type(context.get("exception"))
        if not issubclass(kind, _EXPECTED) and kind not in self._reported:
            self._reported.add(kind)
            loop.default_exception_handler(context)

    async def _accept(self) -> None:
        try:
            while True:
                try:
                    client, _ = await self._loop.sock_accept(self._listener)
                except OSError:  # the client is gone, or there are no descriptors left
                    await asyncio.sleep(0.1)
                    continue
                self._admit(client)
        finally:
            tasks = [one.task for one in self._connections if one.task]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _admit(self, client: socket.socket) -> None:
        idle = [one for one in self._connections if one.idle_since is not None]
        if len(self._connections) >= self._most:
            if not idle:
                client.close()
                return
            longest = min(idle, key=lambda one: one.idle_since or 0.0)
            self._connections.discard(longest)
            if longest.task:
                longest.task.cancel()
        connection = _Connection(self._loop.time())
        self._connections.add(connection)
        connection.task = self._loop.create_task(self._serve(client, connection))

    async def _serve(self, client: socket.socket, connection: _Connection) -> None:
        writer: asyncio.StreamWriter | None = None
        try:
            reader, opened = await asyncio.wait_for(self._opened(client), _REQUEST_S)
            writer, patience_s = opened, _REQUEST_S
            while await self._exchange(reader, opened, connection, patience_s):
                patience_s = _IDLE_S
            opened.close()
            await asyncio.wait_for(opened.wait_closed(), _ANSWER_S)  # the answer may still be on its way
        except _EXPECTED:
            pass  # the client is gone, slow or hostile
        finally:
            self._connections.discard(connection)
            if writer:
                writer.transport.abort()
            client.close()

    async def _opened(self, client: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader = asyncio.StreamReader(_MOST_HEAD, self._loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
        client.setblocking(False)
        transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, client, ssl=self._tls())
        return reader, asyncio.StreamWriter(transport, protocol, reader, self._loop)

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: _Connection, patience_s: float
    ) -> bool:
        """Answer a request; return whether the connection stays open."""
        connection.idle_since = self._loop.time()
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), patience_s)
        connection.idle_since = None
        request, stays = _parsed(head, writer.get_extra_info("peercert"))
        if request is None:
            response = Response(400, b"Bad Request\n")
        elif request.method not in _METHODS:
            response = Response(405, b"Only GET and HEAD\n", headers={"Allow": ", ".join(_METHODS)})
        else:
            response = await asyncio.wait_for(self._answer(request), _ANSWER_S)
        has_body = request is None or request.method != "HEAD"
        stream = response.stream
        writer.write(_encoded(response, stays=stays and stream is None, has_body=has_body))
        await asyncio.wait_for(writer.drain(), _ANSWER_S)
        if stream is None or not has_body:
            return stays and stream is None
        async for part in stream:  # a client that reads slowly gets the next part later
            writer.write(part)
            await asyncio.wait_for(writer.drain(), _ANSWER_S)
        return False


def _parsed(head: bytes, certificate: Mapping[str, Any] | None) -> tuple[Request | None, bool]:
    """Return the request, None if it is not HTTP/1, and whether its connection stays open."""
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[1].startswith("/"):
        return None, False
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or name != name.strip():
            return None, False
        headers[name.lower()] = value.strip()
    wish = headers.get("connection", "").lower()
    stays = wish != "close" and (words[2] != "HTTP/1.0" or wish == "keep-alive")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    path = words[1].partition("?")[0]
    return Request(words[0], path, headers, certificate or None), stays and not has_body and words[0] in _METHODS


def _encoded(response: Response, *, stays: bool, has_body: bool) -> bytes:
    length = {} if response.stream else {"Content-Length": str(len(response.body))}
    headers = {
        "Content-Type": response.content_type,
        **length,
        "Connection": "keep-alive" if stays else "close",
        **response.headers,
    }
    lines = [f"HTTP/1.1 {response.status} {_REASONS.get(response.status, '')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
    return head + response.body if has_body else head
