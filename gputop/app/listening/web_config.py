"""Who may read the exporter: TLS, client certificates and passwords, by the web configuration of the exporter toolkit.

https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md
"""

import asyncio
import os
import re
import ssl
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any, Final, Literal

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from gputop.app.errors import BadRequestError
from gputop.core.text.text import excerpt
from gputop.machine.files.private import read_file
from gputop.machine.files.walk import danger
from gputop.wire.http_server import Request, Response

_VERSIONS: Final = {
    "TLS10": ssl.TLSVersion.TLSv1, "TLS11": ssl.TLSVersion.TLSv1_1, "TLS12": ssl.TLSVersion.TLSv1_2,
    "TLS13": ssl.TLSVersion.TLSv1_3,
}  # fmt: skip
_CLIENTS: Final = {
    "": ssl.CERT_NONE, "NoClientCert": ssl.CERT_NONE, "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}  # fmt: skip
_HASH: Final = re.compile(r"\$2[aby]\$(0[4-9]|1[0-6])\$[./A-Za-z0-9]{53}")
_REALM: Final = {"WWW-Authenticate": "Basic"}
_MOST_KNOWN: Final = 64
_MOST_CHECKS: Final = 8  # that wait: passwords of strangers must neither take all connections nor keep a user waiting
_BUSY: Final = Response(503, b"Too many passwords to check\n", headers={"Retry-After": "1"})

Version = Literal["TLS10", "TLS11", "TLS12", "TLS13"]


class Tls(Struct, frozen=True, forbid_unknown_fields=True):
    """The part ``tls_server_config``."""

    cert_file: str = ""
    key_file: str = ""
    client_auth_type: str = ""
    client_ca_file: str = ""
    client_allowed_sans: tuple[str, ...] = ()
    min_version: Version = "TLS12"
    max_version: Version = "TLS13"
    cipher_suites: tuple[str, ...] = ()
    prefer_server_cipher_suites: bool = True


class Http(Struct, frozen=True, forbid_unknown_fields=True):
    """The part ``http_server_config``. HTTP/2 is not served."""

    http2: bool = True
    headers: dict[str, str] = {}


class WebConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The file. ``basic_auth_users``: bcrypt hashes by name."""

    tls_server_config: Tls | None = None
    http_server_config: Http = Http()
    basic_auth_users: dict[str, str] = {}


_OPEN: Final = WebConfig()


class Access:
    """Who may read. ``tls``: None for plain HTTP; ``files``: what was read for it.

    ``matches``: whether a password has a hash.
    """

    def __init__(
        self,
        config: WebConfig = _OPEN,
        tls: ssl.SSLContext | None = None,
        files: tuple[str, ...] = (),
        matches: Callable[[str, bytes], bool] | None = None,
    ) -> None:
        self.tls = tls
        self.files = files
        self._matches = matches or _matches
        self._checks = 0
        users = config.basic_auth_users
        self._slowest = max(users.values(), key=_cost, default="")  # for unknown users, so that time reveals none
        self._config = config
        self._sans = frozenset(config.tls_server_config.client_allowed_sans if config.tls_server_config else ())
        self._key = os.urandom(32)
        self._known: dict[bytes, None] = {}
        self._pool = ThreadPoolExecutor(1, "passwords")  # a hash takes a tenth of a second, by design

    def close(self) -> None:
        """End its thread."""
        self._pool.shutdown(wait=False)

    @property
    def is_open(self) -> bool:
        """Return whether anyone may read."""
        is_closed = self.tls is not None and self.tls.verify_mode == ssl.CERT_REQUIRED
        return not is_closed and not self._config.basic_auth_users

    def with_headers(self, response: Response) -> Response:
        """Return a response with the headers of the configuration."""
        more = self._config.http_server_config.headers
        return replace(response, headers={**response.headers, **more}) if more else response

    async def refusal(self, request: Request) -> Response | None:
        """Return why a client may not read; None if it may."""
        if self._sans and not self._sans & _sans_of(request.certificate or {}):
            return Response(403, b"The client certificate has none of the allowed names\n")
        if not self._config.basic_auth_users:
            return None
        name, password = _credentials(request.headers.get("authorization", ""))
        seal = blake2b(f"{len(name)}:{name}{password}".encode(), key=self._key).digest()
        if seal in self._known:
            return None
        if name and self._checks >= _MOST_CHECKS:
            return _BUSY
        if not name or not await self._is_user(name, password):
            return Response(401, b"Unauthorized\n", headers=_REALM)
        while len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[seal] = None
        return None

    async def _is_user(self, name: str, password: str) -> bool:
        hashed = self._config.basic_auth_users.get(name)
        self._checks += 1
        try:
            loop, against = asyncio.get_running_loop(), (hashed or self._slowest).encode()
            is_right = await loop.run_in_executor(self._pool, self._matches, password, against)
        finally:
            self._checks -= 1
        return is_right and hashed is not None


def access_of(path: str | None) -> Access:
    """Return the access that a file describes; without a file, anyone may read. Raises BadRequestError."""
    if path is None:
        return Access()
    config = _read(path)
    _check(config, path)
    tls = config.tls_server_config
    if tls is None:
        return Access(config, None, (path,))
    named = (name for name in (tls.cert_file, tls.key_file, tls.client_ca_file) if name)
    return Access(config, _context(tls, path), (path, *(_beside(path, name) for name in named)))


def _read(path: str) -> WebConfig:
    from gputop.app.yaml_file import YamlError, load

    try:
        return convert(load(read_file(path)) or {}, WebConfig)
    except OSError as error:
        raise _bad(path, error.strerror or str(error)) from None
    except YamlError as error:
        raise _bad(path, f"it is not YAML: {excerpt(str(error))}") from None
    except ValidationError as error:
        raise _bad(path, excerpt(str(error))) from None


def _check(config: WebConfig, path: str) -> None:
    for name, value in config.http_server_config.headers.items():
        if not f"{name}{value}".isprintable() or not name.replace("-", "").isalnum():
            raise _bad(path, f"{excerpt(name)!r} is not a header")
    if config.basic_auth_users and not find_spec("bcrypt"):
        raise _bad(path, "basic_auth_users needs the package bcrypt: pip install bcrypt")
    for name, hashed in config.basic_auth_users.items():
        if not _HASH.fullmatch(hashed):
            raise _bad(path, f"the password of {excerpt(name)} is not a bcrypt hash: htpasswd -nBC 10 {excerpt(name)}")


def _context(tls: Tls, path: str) -> ssl.SSLContext:
    if not tls.cert_file or not tls.key_file:
        raise _bad(path, "tls_server_config needs cert_file and key_file")
    if tls.client_auth_type not in _CLIENTS:
        raise _bad(
            path, f"client_auth_type {excerpt(tls.client_auth_type)} is not supported. Use RequireAndVerifyClientCert"
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = _CLIENTS[tls.client_auth_type]
    try:
        context.minimum_version, context.maximum_version = _VERSIONS[tls.min_version], _VERSIONS[tls.max_version]
        if tls.cipher_suites:
            context.set_ciphers(":".join(map(_cipher, tls.cipher_suites)))
    except (ValueError, ssl.SSLError):
        raise _bad(path, "these TLS versions or cipher suites cannot be used") from None
    cert, key = (_trusted(path, name) for name in (tls.cert_file, tls.key_file))
    files = f"certificate {excerpt(cert)} or the key {excerpt(key)}"  # ssl does not say which
    _load(path, files, lambda: context.load_cert_chain(cert, key, password=lambda: b""))
    if tls.client_ca_file:
        authority = _trusted(path, tls.client_ca_file)
        _load(path, f"client_ca_file {excerpt(authority)}", lambda: context.load_verify_locations(authority))
    elif context.verify_mode != ssl.CERT_NONE:
        raise _bad(path, "client_auth_type needs client_ca_file")
    return context


def _trusted(path: str, name: str) -> str:
    """Return the path of a file that the configuration names. Raises BadRequestError."""
    found = _beside(path, name)
    why = danger(found) if name.isprintable() else "it is not the name of a file"
    if why:
        raise _bad(path, f"cannot use {excerpt(found)}: {why}")
    return found


def _beside(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(path)), name)


def _load(path: str, what: str, load: Callable[[], None]) -> None:
    try:
        load()
    except ssl.SSLError as error:
        raise _bad(path, f"the {what} is unusable ({error.reason or 'not PEM'})") from None
    except OSError as error:
        raise _bad(path, f"cannot read the {what}: {error.strerror or error}") from None


def _cipher(name: str) -> str:
    """Return OpenSSL's name of a cipher suite."""
    words = name.removeprefix("TLS_").replace("_WITH_", "_").replace("AES_", "AES").replace("_", "-")
    return words.removesuffix("-SHA256") if "CHACHA20" in words else words


def _credentials(authorization: str) -> tuple[str, str]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        name, _, password = b64decode(encoded, validate=True).decode().partition(":")
    except (Base64Error, UnicodeDecodeError):
        return "", ""
    return name, password


def _cost(hashed: str) -> str:
    """Return the two digits of a bcrypt hash that say how long it takes."""
    return hashed[4:6]


def _matches(password: str, hashed: bytes) -> bool:
    import bcrypt

    try:
        return bool(bcrypt.checkpw(password.encode(), hashed))
    except ValueError:  # longer than bcrypt can check
        return False


def _sans_of(certificate: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(name) for _, name in certificate.get("subjectAltName", ()))


def _bad(path: str, why: str) -> BadRequestError:
    return BadRequestError(f"{excerpt(path)}: {why}")
