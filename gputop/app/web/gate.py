"""The gate before pages: a secret in the address, and checks against pages of other sites.

A loopback port is open to all users of the host, and to every site that a browser there shows. The secret keeps both
out; a browser tells with ``Host`` and ``Origin`` by which name and from which page it asks.
"""

import secrets
import socket
from collections.abc import Sequence
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.core.text.text import excerpt
from gputop.machine.files.private import read_file

_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
_LEAST: Final = 20  # characters of a secret
_BYTES: Final = 16

INCOMPLETE: Final = "The address is not complete: gputop serve prints the whole one when it starts.\n"


class Gate:
    """Who may see pages. ``secret``: the first part of the path; ``names``: by which the host may be addressed."""

    def __init__(self, secret: str, names: Sequence[str]) -> None:
        self.secret = secret
        self._names = frozenset(name.lower().rstrip(".") for name in (*_LOCAL, *names))

    def below(self, path: str) -> str | None:
        """Return the path below the secret; None if the path has another secret or none."""
        first, slash, rest = path.removeprefix("/").partition("/")
        is_right = secrets.compare_digest(first.encode(errors="replace"), self.secret.encode())
        return f"{slash}{rest}" if is_right else None

    def refusal(self, host: str, origin: str | None) -> str:
        """Return why a request is refused; empty if it is not. ``host``, ``origin``: headers; None without one."""
        if _name(host) not in self._names:
            return f"gputop serve was not started for the name {excerpt(host)}: see --host-name\n"
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return "Another site may not use these pages\n"
        return ""


def gate(listener: socket.socket, names: Sequence[str], secret_file: str | None) -> Gate:
    """Return the gate of a listening socket. Raises BadRequestError."""
    address = str(listener.getsockname()[0])
    own = socket.gethostname()
    return Gate(_secret(secret_file), (*names, own, own.partition(".")[0], address))


def _secret(path: str | None) -> str:
    """Return the secret of a file, else a new one."""
    if path is None:
        return secrets.token_urlsafe(_BYTES)
    try:
        text = read_file(path).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BadRequestError(f"cannot read the secret from {excerpt(path)}: {why}") from None
    if len(text) < _LEAST or not text.replace("-", "").replace("_", "").isalnum() or not text.isascii():
        raise BadRequestError(
            f"{excerpt(path)} needs one word of at least {_LEAST} letters and digits: openssl rand -hex 16 > FILE"
        )
    return text


def _name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    name = host.partition("]")[0].removeprefix("[") if host.startswith("[") else host.rpartition(":")[0] or host
    return name.lower().rstrip(".")
