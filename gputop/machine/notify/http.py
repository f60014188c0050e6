"""HTTP to receivers of alerts: one POST with a deadline for all of it, no redirects, and no secrets in messages."""

import http.client
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from msgspec import Struct

DEADLINE_S: Final = 10.0
_LONGEST_NUMBER: Final = 6


class Answer(Struct, frozen=True):
    """The answer of a server, without its body. ``after_s``: time without requests that it asks for."""

    status: int
    after_s: float | None


class Tls(Struct, frozen=True):
    """The files of TLS: certificates to check the server with, and the own certificate with its key."""

    ca_file: str = ""
    cert_file: str = ""


class Request(Struct, frozen=True, kw_only=True):
    """A POST. ``deadline_s``: for all of it."""

    url: str
    body: bytes
    headers: Mapping[str, str] = {}
    tls: Tls = Tls()
    deadline_s: float = DEADLINE_S


def post(request: Request) -> Answer:
    """Send a POST and return the answer. Raises OSError, with a text that does not contain the URL."""
    connection, target, more = _connection(request)
    is_late = threading.Event()
    end = threading.Timer(request.deadline_s, _cut, (connection, is_late))
    end.daemon = True
    end.start()
    try:
        connection.connect()
        if not is_late.is_set():
            connection.request("POST", target, request.body, {**request.headers, **more})
            with connection.getresponse() as answer:
                if not is_late.is_set():  # else the headers may be cut off
                    return Answer(answer.status, _seconds(answer.headers.get("Retry-After", "")))
    except TimeoutError:
        pass
    except (OSError, http.client.HTTPException, ValueError) as error:
        if not is_late.is_set():
            if isinstance(error, OSError):
                raise
            raise OSError(f"the answer is not HTTP ({type(error).__name__})") from None
    finally:
        end.cancel()
        connection.close()
    raise TimeoutError(f"no answer within {request.deadline_s:g} s")


def context_of(tls: Tls) -> ssl.SSLContext:
    """Return the context of TLS. Raises OSError for a file that cannot be used."""
    context = ssl.create_default_context(cafile=tls.ca_file or None)
    if tls.cert_file:
        context.load_cert_chain(tls.cert_file, password=lambda: b"")  # else OpenSSL asks at the terminal
    return context


def place_of(url: str) -> str:
    """Return scheme, host and port of an address: what may be shown of it."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the URL"
    return f"{parts.scheme}://{parts.hostname}{port}"


def _connection(request: Request) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """Return a connection, through the proxy of the environment if there is one, its target, and more headers."""
    parts = urlsplit(request.url)
    target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    proxy = (
        ""
        if _is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc)
        else getproxies_environment().get(parts.scheme, "")
    )
    if not proxy:
        return _opened(parts.scheme, parts, request), target, {}
    via = urlsplit(proxy)
    named = f"{unquote(via.username or '')}:{unquote(via.password or '')}"
    headers = {"Proxy-Authorization": f"Basic {b64encode(named.encode()).decode()}"} if via.username else {}
    connection = _opened(parts.scheme, via, request)
    if parts.scheme == "http":
        return connection, f"http://{parts.netloc}{target}", headers
    connection.set_tunnel(parts.hostname or "", parts.port, headers)
    return connection, target, {}


def _is_loopback(host: str) -> bool:
    """Return whether a host is this one, which Prometheus does not reach through a proxy either."""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _opened(scheme: str, to: SplitResult, request: Request) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(to.hostname or "", to.port, timeout=request.deadline_s)
    context = context_of(request.tls)
    return http.client.HTTPSConnection(to.hostname or "", to.port, timeout=request.deadline_s, context=context)


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < _LONGEST_NUMBER else None


def _cut(connection: http.client.HTTPConnection, is_late: threading.Event) -> None:
    """End a connection under the thread that waits for it."""
    is_late.set()
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
