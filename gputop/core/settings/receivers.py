"""Receivers of alerts: the tables ``[receivers.NAME]`` of the configuration file, with a field per row of `FIELDS`."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Meta, Struct, ValidationError, convert

from gputop.core.model.finding import Stage
from gputop.core.secrets.mask import masked
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt

Mistake: TypeAlias = tuple[str, str, str | None]
"""The path of a setting, what is wrong with it, and a suggestion."""


class ReceiverKind(str, Enum):
    """The way to a receiver."""

    ALERTMANAGER = "alertmanager"
    WEBHOOK = "webhook"
    SLACK = "slack"
    MAIL = "mail"
    DESKTOP = "desktop"
    COMMAND = "command"
    APPRISE = "apprise"


class Receiver(Struct, frozen=True, kw_only=True):
    """A receiver of alerts. The fields are those of `FIELDS`; secrets are in files, which are read for each message.

    ``every_s``: None means the usual pause of the kind.
    """

    name: str
    kind: ReceiverKind
    stage: Stage = Stage.SUSPECT
    codes: tuple[str, ...] = ()
    resolved: bool = True
    every_s: float | None = None
    resend_s: float = 60.0
    url: str = ""
    url_file: str = ""
    token_file: str = ""
    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    cert_file: str = ""
    to: tuple[str, ...] = ()
    sender: str = ""
    sendmail: tuple[str, ...] = ("/usr/sbin/sendmail",)
    command: tuple[str, ...] = ()

    @property
    def secret_files(self) -> tuple[str, ...]:
        """Return the files with secrets."""
        return tuple(filter(None, (self.url_file, self.token_file, self.password_file)))


class Field(Struct, frozen=True):
    """A field: its name in the file, the type of its value, what it must be, and the kinds that have it."""

    key: str
    type: object
    otherwise: str
    help: str
    kinds: frozenset[ReceiverKind] = frozenset(ReceiverKind)


_ALERTMANAGER = frozenset({ReceiverKind.ALERTMANAGER})
_HTTP: Final = frozenset({ReceiverKind.ALERTMANAGER, ReceiverKind.WEBHOOK})
_BY_URL_FILE: Final = frozenset({*_HTTP, ReceiverKind.SLACK, ReceiverKind.APPRISE})
_MAIL: Final = frozenset({ReceiverKind.MAIL})
_COMMAND: Final = frozenset({ReceiverKind.COMMAND})
_WORD: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4000, pattern=r"\A[^\x00-\x1f\x7f]+\Z")]
_PATH: TypeAlias = Annotated[str, Meta(pattern=r"\A/[^\x00-\x1f\x7f]*\Z", max_length=4000)]
_ADDRESS: TypeAlias = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9_][A-Za-z0-9._%+=/-]*(@[A-Za-z0-9.-]+)?\Z", max_length=320)
]
_PAUSE: TypeAlias = Annotated[float, Meta(ge=1, le=86_400)]
_A_PATH: Final = "not the full path of a file"
_WORDS: Final = 'not a list of words such as ["/home/ann/bin/page", "--urgent"]; no shell reads them'
FIELDS: Final = (
    Field("kind", ReceiverKind, f"not one of {', '.join(ReceiverKind)}", "How to send: one of the kinds above."),
    Field(
        "stage", Stage, f"not one of {', '.join(Stage)}",
        "The least stage that is sent: observation, suspect (the default) or alarm.",
    ),
    Field(
        "codes", Annotated[tuple[_WORD, ...], Meta(max_length=100)], 'not a list of codes such as ["gpu.lost", "leak"]',
        'Only these findings: ["gpu.lost", "leak"]. The first part of a code selects all codes that begin with it.',
    ),
    Field("resolved", bool, "neither true nor false", "Also say when a problem is over (default true)."),
    Field(
        "every_s", _PAUSE, "not a number of seconds from 1 to 86400",
        "Shortest time between two messages, in seconds; the next message has all that happened since. Default:"
        " command 1, webhook and desktop 5, slack and apprise 30, mail 60.",
        frozenset(ReceiverKind) - _ALERTMANAGER,
    ),
    Field(
        "resend_s", Annotated[float, Meta(ge=1, le=3600)], "not a number of seconds from 1 to 3600",
        "Seconds after which a problem that lasts is sent again (default 60).", _ALERTMANAGER,
    ),
    Field("url", _WORD, "not a URL", "The address, without secrets: http://127.0.0.1:9093.", _HTTP),
    Field("url_file", _PATH, _A_PATH, "The file with the address, if it contains a secret.", _BY_URL_FILE),
    Field("token_file", _PATH, _A_PATH, "The file with the token of the header Authorization: Bearer.", _HTTP),
    Field("user", _WORD, "not a name", "The user for HTTP basic authentication.", _HTTP),
    Field("password_file", _PATH, _A_PATH, "The file with the password of that user.", _HTTP),
    Field(
        "ca_file", _PATH, _A_PATH, "Certificates (PEM) to check the server with, in place of those of the system.",
        _HTTP | {ReceiverKind.SLACK},
    ),
    Field("cert_file", _PATH, _A_PATH, "Certificate and key (PEM) that gputop shows to the server.", _HTTP),
    Field(
        "to", Annotated[tuple[_ADDRESS, ...], Meta(min_length=1, max_length=50)],
        'not a list of addresses such as ["ops@example.org"]', "The addresses of the mail.", _MAIL,
    ),
    Field("sender", _ADDRESS, "not an address", "The From: of the mail (default gputop@ and the host).", _MAIL),
    Field(
        "sendmail", Annotated[tuple[_WORD, ...], Meta(min_length=1, max_length=64)], _WORDS,
        'The program that sends the mail (default ["/usr/sbin/sendmail"]); gputop adds -i -- and the addresses.', _MAIL,
    ),
    Field(
        "command", Annotated[tuple[_WORD, ...], Meta(min_length=1, max_length=64)], _WORDS,
        "The command and its arguments. It gets the facts as GPUTOP_… variables and as JSON on stdin.", _COMMAND,
    ),
)  # fmt: skip
FIELD_BY_KEY: Final = {field.key: field for field in FIELDS}
_NEEDED: Final = {
    ReceiverKind.ALERTMANAGER: ("url", "url_file"),
    ReceiverKind.WEBHOOK: ("url", "url_file"),
    ReceiverKind.SLACK: ("url_file",),
    ReceiverKind.MAIL: ("to",),
    ReceiverKind.COMMAND: ("command",),
    ReceiverKind.APPRISE: ("url_file",),
}
_TABLE: Final = 'must be a table: [receivers.NAME], then lines such as kind = "slack"'
_NAME: Final = re.compile(r"[^\x00-\x20\x7f:]{1,64}")


def read_receivers(given: object) -> tuple[dict[str, dict[str, object]], list[Mistake]]:
    """Return the values of the valid receivers by name, and the mistakes."""
    if not isinstance(given, Mapping):
        return {}, [("receivers", _TABLE, None)]
    mistakes = {name: list(_mistakes(str(name), values)) for name, values in given.items()}
    found = {str(name): dict(values) for name, values in given.items() if not mistakes[name]}
    return found, [mistake for each in mistakes.values() for mistake in each]


def receiver(name: str, values: Mapping[str, object]) -> Receiver:
    """Return a receiver of valid values."""
    return convert({"name": name, **values}, Receiver)


def url_mistake(url: str) -> str:
    """Return what is wrong with an address for HTTP; empty if nothing is."""
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or not url.isascii() or not url.isprintable() or " " in url:
        return "is not a URL such as http://127.0.0.1:9093"
    return ""


def _mistakes(name: str, values: object) -> Iterator[Mistake]:
    path = f"receivers.{name}"
    if not isinstance(values, Mapping):
        yield path, _TABLE, None
        return
    if not _NAME.fullmatch(name):
        yield path, "a name has up to 64 characters, without blanks and colons", None
        return
    try:
        kind = convert(values.get("kind"), ReceiverKind)
    except ValidationError:
        hint = nearest(str(values.get("kind")), list(ReceiverKind))
        yield f"{path}.kind", f"{_shown(values.get('kind'))} is {FIELD_BY_KEY['kind'].otherwise}", hint
        return
    for key, value in values.items():
        yield from _of_field(f"{path}.{key}", kind, key, value)
    yield from _of_all(path, kind, values)


def _of_field(path: str, kind: ReceiverKind, key: str, value: object) -> Iterator[Mistake]:
    field = FIELD_BY_KEY.get(key)
    if field is None or kind not in field.kinds:
        names = [each.key for each in FIELDS if kind in each.kinds]
        yield path, f"a receiver of kind {kind.value} has no such setting", nearest(key, names)
        return
    try:
        convert(value, field.type)
    except ValidationError:
        yield path, f"{_shown(value)} is {field.otherwise}", None
        return
    if key == "url" and isinstance(value, str):
        mistake = _mistake_in_url(value)
        if mistake:
            yield path, mistake, None


def _mistake_in_url(url: str) -> str:
    """Return what is wrong with an address in the open."""
    if "@" in url.partition("//")[2].partition("/")[0] or masked(url) != url:
        return "contains a secret. Write the URL to a file for you alone, and name that file in url_file"
    mistake = url_mistake(url)
    return mistake and f"{_shown(url)} {mistake}"


def _of_all(path: str, kind: ReceiverKind, values: Mapping[str, object]) -> Iterator[Mistake]:
    """Yield what is missing, or does not go together."""
    needed = _NEEDED.get(kind, ())
    given = [key for key in needed if key in values]
    if needed and not given:
        yield path, f"a receiver of kind {kind.value} needs {' or '.join(needed)}", None
    if len(given) > 1:
        yield path, f"has both {' and '.join(given)}; remove one", None
    if ("user" in values) != ("password_file" in values):
        yield path, "user and password_file need each other", None
    if "user" in values and "token_file" in values:
        yield path, "has both a token and a password; remove one", None


def _shown(value: object) -> str:
    return masked(excerpt(repr(value), 60))
