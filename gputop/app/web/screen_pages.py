"""The pages of the screen: a terminal, and its link to a screen."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler

from gputop.app.web.site import HEADERS, Site
from gputop.app.web.visitor import Visitor
from gputop.wire.http_server import Request

_MOST_TEXT: Final = 64 * 1024  # bytes that a browser sends at once: a paste
_BEAT_S: Final = 15.0
_TYPES: Final = {"js": "text/javascript", "css": "text/css", "ttf": "font/ttf", "html": "text/html"}
_ASSETS: Final = {
    "terminal.js": "static/js/textual.js", "terminal.css": "static/css/xterm.css",
    "mono.ttf": "static/fonts/RobotoMono-VariableFont_wght.ttf",
}  # fmt: skip
_SAFE: Final = {
    **HEADERS,
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
}


class ScreenPages:
    """The pages below the secret. ``command``: shows a screen to a browser."""

    def __init__(self, site: Site, command: Sequence[str]) -> None:
        self._site = site
        self._command = command
        self._visits: set[web.WebSocketResponse] = set()
        own, theirs = files("gputop.app.web") / "pages", files("textual_serve")
        self._files = {name: theirs.joinpath(path).read_bytes() for name, path in _ASSETS.items()}
        self._files |= {name: (own / name).read_bytes() for name in ("screen.css", "screen.js")}
        self._page = (own / "screen.html").read_text()

    def application(self) -> web.Application:
        """Return the application."""
        below = f"/{self._site.gate.secret}"
        made = web.Application(middlewares=[self._guard])
        made.router.add_get(f"{below}/", self._show)
        made.router.add_get(f"{below}/link", self._link)
        made.router.add_get(f"{below}/{{name}}", self._file)
        made.on_shutdown.append(self._close)
        return made

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what the site refuses."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        certificate = request.get_extra_info("peercert") or None
        refusal = await self._site.refusal(Request(request.method, request.path, headers, certificate))
        if refusal is not None:
            return web.Response(status=refusal.status, body=refusal.body, headers=dict(refusal.headers))
        return await handler(request)

    async def _show(self, request: web.Request) -> web.Response:
        secure = "https" in (request.scheme, request.headers.get("X-Forwarded-Proto"))
        link = f"{'wss' if secure else 'ws'}://{request.host}/{self._site.gate.secret}/link"
        return web.Response(text=self._page.replace("LINK", link), content_type=_TYPES["html"], headers=_SAFE)

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in self._files:
            return web.Response(status=404, text="Not Found\n", headers=_SAFE)
        kind = _TYPES[name.rpartition(".")[2]]
        return web.Response(body=self._files[name], content_type=kind, headers=_SAFE)

    async def _link(self, request: web.Request) -> web.StreamResponse:
        """Show a screen to a browser until it leaves."""
        if "Origin" not in request.headers:
            return web.Response(status=403, text="Browsers name their origin\n", headers=_SAFE)
        if len(self._visits) >= self._site.most:
            return web.Response(status=503, text="Too many visitors: see --visitors\n", headers=_SAFE)
        link = web.WebSocketResponse(heartbeat=_BEAT_S, max_msg_size=_MOST_TEXT)
        self._visits.add(link)
        try:
            await link.prepare(request)
            await self._visit(link, _number(request, "width", 80), _number(request, "height", 24))
        finally:
            self._visits.discard(link)
        return link

    async def _visit(self, link: web.WebSocketResponse, width: int, height: int) -> None:
        visitor = Visitor(self._command, link.send_bytes)
        drawing = asyncio.create_task(_draw(visitor, link, width, height))
        try:
            async for message in link:
                if message.type is WSMsgType.TEXT and (answer := await visitor.take(message.data)):
                    await link.send_str(answer)
        except (ValueError, OSError):
            pass  # it is no page of ours, or it is gone
        finally:
            await visitor.end()
            await drawing
            await link.close()

    async def _close(self, _: web.Application) -> None:
        """Close all links: their screens end."""
        await asyncio.gather(*(link.close(code=WSCloseCode.GOING_AWAY) for link in self._visits))


async def _draw(visitor: Visitor, link: web.WebSocketResponse, width: int, height: int) -> None:
    """Draw until the screen ends; then close the link, so that the page offers another."""
    with suppress(OSError):
        await visitor.show(width, height)
    await link.close()


def _number(request: web.Request, name: str, usual: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isdecimal() and len(text) <= 4 else usual
