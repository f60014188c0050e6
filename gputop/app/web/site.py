"""What both kinds of pages share: the socket, the gate, who may read, and the headers of every answer."""

import socket
from typing import Final

from msgspec import Struct

from gputop.app.listening.access import CurrentAccess
from gputop.app.web.gate import INCOMPLETE, Gate
from gputop.wire.http_server import Request, Response

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Site(Struct, frozen=True):
    """A place for pages. ``most``: visitors at a time."""

    listener: socket.socket
    access: CurrentAccess
    gate: Gate
    most: int

    @property
    def address(self) -> str:
        """Return the address of the first page, with the secret."""
        host, port = self.listener.getsockname()[:2]
        name = "localhost" if host in ("127.0.0.1", "::1") else socket.gethostname() if host in _ANY else host
        return f"{'https' if self.access.latest().tls else 'http'}://{_bracketed(name)}:{port}/{self.gate.secret}/"

    async def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused; None if it is not."""
        why = self.gate.refusal(request.headers.get("host", ""), request.headers.get("origin"))
        if why:
            return Response(403, why.encode(), headers=HEADERS)
        if self.gate.below(request.path) is None:
            return Response(403, INCOMPLETE.encode(), headers=HEADERS)
        return await self.access.latest().refusal(request)


_ANY: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name
