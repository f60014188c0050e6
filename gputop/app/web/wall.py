"""The wall: a simple page for a wall display or a phone. One sampler serves all visitors."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from functools import partial
from importlib.resources import files
from typing import Final

import msgspec

from gputop.app.backend.backend import BackendRequest
from gputop.app.interrupts import StopRequest
from gputop.app.listening.address import is_local
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import warn
from gputop.app.web.site import HEADERS, Site
from gputop.lazy_imports import collect_seldom
from gputop.report.wall import Wall, wall
from gputop.wire.http_server import HttpServer, Request, Response
from gputop.wire.server import Rhythm

_BEAT_S: Final = 15.0  # without news; so that a connection that is gone is noticed
_PAST: Final = 600  # points of a plot that a new visitor gets
_SAFE: Final = {
    **HEADERS,
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
_TYPES: Final = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_PAGES: Final = ("wall.html", "wall.js", "wall.css", "uplot.js", "uplot.css")


def show_wall(site: Site, backend: BackendRequest, *, has_commands: bool) -> None:
    """Serve the wall until a signal ends it. Raises UseCaseError."""
    source = open_source(backend, is_once=False)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    step = frames(source, backend, notify=warn)
    news = News()
    server = HttpServer(site.listener, Pages(site, news).answer, lambda: site.access.latest().tls, most=site.most)
    server.start()
    collect_seldom()
    print(site.address, flush=True)
    is_open = site.access.latest().tls is None and not is_local(site.listener)
    warning = ". Without TLS anyone on the network can read along: see --web-config" if is_open else ""
    warn(f"serving the wall; press Ctrl-C to stop{warning}")
    try:
        while not stop.is_wanted:
            now = wall(step(), has_commands=has_commands)
            server.soon(partial(news.take, now))
            if not stop.is_wanted:
                rhythm.wait()
    finally:
        server.close()


class News:
    """The last frame and the past of its plots. All of it runs in the thread of the server."""

    def __init__(self) -> None:
        self._past: deque[tuple[float, dict[int, tuple[float | None, float | None]]]] = deque(maxlen=_PAST)
        self._frame = b""
        self._number = 0
        self._arrived = asyncio.Event()

    def take(self, now: Wall) -> None:
        """Take a frame, and wake up everybody who waits for one."""
        self._past.append((now.time_s, {gpu.index: (gpu.utilization_percent, gpu.memory_percent) for gpu in now.gpus}))
        self._frame = _event("frame", now)
        self._number += 1
        arrived, self._arrived = self._arrived, asyncio.Event()
        arrived.set()

    async def follow(self) -> AsyncIterator[bytes]:
        """Yield the past, then each frame. A visitor who reads slowly misses some."""
        yield b"retry: 5000\n\n" + _event("past", list(self._past))
        seen = 0
        while True:
            if seen != self._number:
                seen = self._number
                yield self._frame
            else:
                yield await self._beat()

    async def _beat(self) -> bytes:
        """Wait for the next frame; return a comment if there is none for long."""
        try:
            await asyncio.wait_for(self._arrived.wait(), _BEAT_S)
        except asyncio.TimeoutError:
            return b": no news\n\n"
        return b""


class Pages:
    """The pages below the secret."""

    def __init__(self, site: Site, news: News) -> None:
        self._site = site
        self._news = news
        folder = files("gputop.app.web") / "pages"
        self._files = {f"/{name}": (folder / name).read_bytes() for name in _PAGES}

    async def answer(self, request: Request) -> Response:
        """Return the answer to a request."""
        refusal = await self._site.refusal(request)
        if refusal:
            return refusal
        path = self._site.gate.below(request.path) or ""
        if path == "/events":
            return Response(200, b"", "text/event-stream", _SAFE, stream=self._news.follow())
        content = self._files.get("/wall.html" if path == "/" else path)
        if content is None:
            return Response(404, b"Not Found\n", headers=_SAFE)
        kind = _TYPES["html" if path == "/" else path.rpartition(".")[2]]
        return Response(200, content, f"{kind}; charset=utf-8", _SAFE)


def _event(name: str, value: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(value))
