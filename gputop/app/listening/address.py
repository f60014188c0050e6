"""The address on which a server listens."""

import socket
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.core.text.text import excerpt

_MOST_PORT: Final = 65535


def opened(address: str) -> socket.socket:
    """Return a socket that is bound to ADDRESS:PORT; an empty address means all. Raises BadRequestError."""
    host, port = _parts(address)
    try:
        return _bound(host, port)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]  # Python repeats the address
        raise BadRequestError(
            f"cannot listen on {excerpt(address)}: {why}. Choose another address with --listen"
        ) from None


def is_local(listener: socket.socket) -> bool:
    """Return whether only this host can reach a socket."""
    host: str = listener.getsockname()[0]
    return host == "::1" or host.startswith("127.")


def url(listener: socket.socket, scheme: str) -> str:
    """Return the address for a browser or a scraper."""
    host, port = listener.getsockname()[:2]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _parts(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or len(port) > 5 or int(port) > _MOST_PORT:
        raise BadRequestError(f"{excerpt(address)!r} is not ADDRESS:PORT, such as 127.0.0.1:9400 or :9400")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _bound(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    family, _, _, _, where = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0]  # noqa: S104
    return socket.create_server((str(where[0]), int(where[1])), family=family)
