"""The file with the credentials of a server, in the format of Prometheus's own tools (promtool --http.config.file).

Secrets are only in the files that it names.
"""

import ssl
from base64 import b64encode
from collections.abc import Mapping
from os import path
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.app.yaml_file import YamlError, load
from gputop.core.text.text import clean, excerpt
from gputop.machine.small_file import read_small
from gputop.wire.prometheus.http import Access

_KNOWN: Final = {
    "": ("basic_auth", "authorization", "bearer_token_file", "tls_config", "http_headers"),
    "basic_auth": ("username", "username_file", "password_file"),
    "authorization": ("type", "credentials_file"),
    "tls_config": ("ca_file", "cert_file", "key_file", "insecure_skip_verify"),
}
_SECRET: Final = ("password", "credentials", "bearer_token", "secrets", "values")


def access_of(file: str | None) -> Access:
    """Return what a file says. Raises BadRequestError."""
    return Access() if file is None else _Config(file).access()


class _Config:
    def __init__(self, file: str) -> None:
        self._file = file
        try:
            found = load(read_small(file))
        except (OSError, YamlError) as error:
            raise self._bad(str(getattr(error, "strerror", None) or error)) from None
        self._values = self._table(found or {}, "")

    def access(self) -> Access:
        headers = dict(self._headers())
        if not all(value.isprintable() and value.isascii() for value in headers.values()):
            raise self._bad("a header has more than one line, or characters that are not ASCII")
        return Access(headers, self._tls(self._part("tls_config")))

    def _headers(self) -> Mapping[str, str]:
        basic, authorization = self._part("basic_auth"), self._part("authorization")
        bearer = self._text(self._values, "bearer_token_file")
        if sum(map(bool, (basic, authorization, bearer))) > 1:
            raise self._bad("only one of basic_auth, authorization and bearer_token_file may be given")
        found = dict(self._own_headers())
        if basic:
            user = self._text(basic, "username") or self._secret(basic, "username_file")
            word = f"{user}:{self._secret(basic, 'password_file')}"
            found["Authorization"] = f"Basic {b64encode(word.encode()).decode()}"
        elif authorization:
            kind = self._text(authorization, "type") or "Bearer"
            found["Authorization"] = f"{kind} {self._secret(authorization, 'credentials_file')}"
        elif bearer:
            found["Authorization"] = f"Bearer {self._secret(self._values, 'bearer_token_file')}"
        return found

    def _own_headers(self) -> Mapping[str, str]:
        """Return the headers of ``http_headers: {X-Scope-OrgID: {values: [ann]}}``, or with ``files``."""
        found: dict[str, str] = {}
        for name, value in self._part("http_headers").items():
            if not isinstance(value, dict) or not name.replace("-", "").isalnum() or not name.isascii():
                raise self._bad(f"http_headers: write {excerpt(name)}: {{values: [VALUE]}} or {{files: [FILE]}}")
            values, files = value.get("values") or [], value.get("files") or []
            if not isinstance(values, list) or not isinstance(files, list):
                raise self._bad(f"http_headers: {excerpt(name)}: values and files are lists")
            found[name] = ", ".join([*map(str, values), *(self._read(str(file)) for file in files)])
        return found

    def _tls(self, part: Mapping[str, object]) -> ssl.SSLContext | None:
        if not part:
            return None
        files = {key: self._text(part, key) for key in ("ca_file", "cert_file", "key_file")}
        try:
            context = ssl.create_default_context(cafile=self._place(files["ca_file"]))
            if files["cert_file"]:
                context.load_cert_chain(self._place(files["cert_file"]) or "", self._place(files["key_file"]))
        except (OSError, ssl.SSLError) as error:
            raise self._bad(f"tls_config: {error.strerror or error}") from None
        if part.get("insecure_skip_verify") is True:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _part(self, key: str) -> dict[str, object]:
        return self._table(self._values.get(key) or {}, key)

    def _table(self, value: object, key: str) -> dict[str, object]:
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self._bad(f"{key or 'it'} is not a table of names and values")
        for name in value:
            if name in _SECRET:
                raise self._bad(f"{name}: write the secret into a file, and name that file as {name}_file")
            if key in _KNOWN and name not in _KNOWN[key]:
                raise self._bad(f"unknown key {excerpt(name)}. Available: {', '.join(_KNOWN[key])}")
        return value

    def _text(self, part: Mapping[str, object], key: str) -> str:
        value = part.get(key) or ""
        if not isinstance(value, str):
            raise self._bad(f"{key} is not text")
        return value

    def _secret(self, part: Mapping[str, object], key: str) -> str:
        name = self._text(part, key)
        if not name:
            raise self._bad(f"{key} is missing")
        return self._read(name)

    def _read(self, name: str) -> str:
        try:
            text = read_small(self._place(name) or "", 1 << 16).decode()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise self._bad(f"{excerpt(name)}: {reason}") from None
        text = text.strip()
        if not text.isprintable():
            raise self._bad(f"{excerpt(name)} has more than one line")
        return text

    def _place(self, name: str) -> str | None:
        """Return the path of a file; a relative one lies beside the configuration, as for Prometheus."""
        if not name.isprintable():
            raise self._bad(f"{excerpt(name)} is not the name of a file")
        return path.join(path.dirname(self._file), name) if name else None

    def _bad(self, why: str) -> BadRequestError:
        return BadRequestError(f"{clean(self._file)}: {clean(why)}")
