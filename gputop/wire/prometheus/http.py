"""HTTP questions with a deadline, a limit of size and no redirects: a redirect would carry credentials elsewhere."""

import ssl
import time
import zlib
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from gputop.core.text.text import excerpt, is_clean

MOST_BYTES: Final = 64 << 20
_CHUNK: Final = 1 << 16
_PORTS: Final = frozenset(range(1, 65_536))


class HttpError(Exception):
    """A question has no answer; the message says why, and what to do."""


class Access(Struct, frozen=True):
    """What a server asks of its clients. ``headers``: with credentials; ``tls``: None for the system's rules."""

    headers: Mapping[str, str] = {}
    tls: ssl.SSLContext | None = None


class Endpoint(Struct, frozen=True):
    """The address of a server. ``path``: before the API's own, without a slash at its end."""

    is_tls: bool
    host: str
    port: int | None
    path: str

    @property
    def name(self) -> str:
        """Return the address as people write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host + (f":{self.port}" if self.port else "") + self.path


def endpoint(url: str) -> Endpoint:
    """Return the parts of a URL. Raises ValueError, with a sentence."""
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"{excerpt(url)!r} is not a URL: write http://HOST:9090")
    if "@" in parts.netloc:
        raise ValueError("a URL must not contain a password: name a file with --http-config")
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"{excerpt(url)!r} has no valid port") from None
    if not parts.hostname or not is_clean(parts.hostname + parts.path) or parts.query or parts.fragment:
        raise ValueError(f"{excerpt(url)!r} is not the base URL of a server, such as http://HOST:9090")
    return Endpoint(parts.scheme == "https", parts.hostname, port, parts.path.rstrip("/"))


class Connection:
    """A connection to one server, kept open between questions. For one thread at a time."""

    def __init__(self, place: Endpoint, access: Access, *, most_bytes: int = MOST_BYTES) -> None:
        self._place = place
        self.access = access
        self._most_bytes = most_bytes
        self._http: HTTPConnection | None = None
        self._is_ended = False

    def close(self) -> None:
        """Close the connection; the next question opens it again."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def end(self) -> None:
        """Close the connection for good, also while another thread asks: that thread closes what it opens."""
        self._is_ended = True
        self.close()

    def ask(self, path: str, form: Mapping[str, str] | None = None, *, timeout_s: float) -> tuple[int, bytes]:
        """Return status and body. With a form it is a POST. Raises HttpError."""
        ends_s = time.monotonic() + timeout_s
        is_kept = self._http is not None
        try:
            try:
                return self._exchange(path, form, ends_s)
            except (ConnectionError, HTTPException):
                if not is_kept:
                    raise
                self.close()  # the server closes idle connections: ask again on a new one
                return self._exchange(path, form, ends_s)
        except TimeoutError:
            reason = f"no answer within {timeout_s:g} s"
        except ssl.SSLCertVerificationError as error:
            reason = f"its certificate is not valid: {error.verify_message}. Name its CA with --http-config"
        except (OSError, HTTPException) as error:
            reason = _reason(error)
        self.close()
        raise HttpError(excerpt(reason))

    def _exchange(self, path: str, form: Mapping[str, str] | None, ends_s: float) -> tuple[int, bytes]:
        http = self._http = self._http or self._opened()
        try:
            return self._answer(http, path, form, ends_s)
        finally:
            if self._is_ended:
                http.close()

    def _answer(
        self, http: HTTPConnection, path: str, form: Mapping[str, str] | None, ends_s: float
    ) -> tuple[int, bytes]:
        http.timeout = _left(ends_s)
        if http.sock is not None:
            http.sock.settimeout(http.timeout)
        coding = "identity" if _is_here(self._place.host) else "gzip"  # on this machine, gzip costs more than it saves
        headers = {"Accept-Encoding": coding, "User-Agent": "gputop", **self.access.headers}
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form)
        http.request("GET" if form is None else "POST", self._place.path + path, body, headers)
        response = http.getresponse()
        content = self._content(http, response, ends_s)
        if 300 <= response.status < 400:
            to = excerpt(response.getheader("Location", ""), 120)
            raise HTTPException(f"it redirects to {to}: give that URL instead")
        return response.status, content

    def _content(self, http: HTTPConnection, response: HTTPResponse, ends_s: float) -> bytes:
        inflate = zlib.decompressobj(31) if response.getheader("Content-Encoding") == "gzip" else None
        content = bytearray()
        while True:
            if http.sock is not None:
                http.sock.settimeout(_left(ends_s))
            chunk = response.read1(_CHUNK)
            if not chunk:
                response.close()  # read1() leaves it open, and an open one keeps the next question from its answer
                return bytes(content)
            content += chunk if inflate is None else self._inflated(inflate, chunk, len(content))
            if len(content) > self._most_bytes:
                raise HTTPException(f"its answer is larger than {self._most_bytes >> 20} MiB")

    def _inflated(self, inflate: "zlib._Decompress", chunk: bytes, held: int) -> bytes:
        try:
            return inflate.decompress(chunk, self._most_bytes - held + 1)
        except zlib.error as error:
            raise HTTPException(f"its answer is not valid gzip: {error}") from None

    def _opened(self) -> HTTPConnection:
        place = self._place
        if not place.is_tls:
            return HTTPConnection(place.host, place.port)
        return HTTPSConnection(place.host, place.port, context=self.access.tls or ssl.create_default_context())


def _is_here(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")


def _left(ends_s: float) -> float:
    left = ends_s - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
