"""The table ``[fleet]`` of the configuration file: the servers that `gputop fleet` asks, and how."""

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct, ValidationError, convert

from gputop.core.secrets.mask import masked
from gputop.core.settings.receivers import Mistake, url_mistake
from gputop.core.text.suggest import nearest

_WORD: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4000, pattern=r"\A[^\x00-\x1f\x7f]+\Z")]
_WORDS: TypeAlias = Annotated[tuple[_WORD, ...], Meta(max_length=100)]
_PATH: TypeAlias = Annotated[str, Meta(pattern=r"\A/[^\x00-\x1f\x7f]*\Z", max_length=4000)]
_LABELS: TypeAlias = Annotated[
    tuple[Annotated[str, Meta(pattern=r"\A[a-zA-Z_][a-zA-Z0-9_]*\Z", max_length=200)], ...], Meta(max_length=50)
]


class FleetField(Struct, frozen=True):
    """A setting of the fleet: its name, the type of its value, what it must be, and its meaning."""

    key: str
    type: object
    otherwise: str
    help: str


FLEET_FIELDS: Final = (
    FleetField(
        "prometheus", _WORDS, 'not a list of URLs such as ["http://prometheus:9090"]',
        "Base URLs of the servers that gputop fleet asks.",
    ),
    FleetField(
        "http_config", _PATH, "not the full path of a file",
        "The file with credentials and certificates, in the format of promtool --http.config.file.",
    ),
    FleetField(
        "hosts", _WORDS, 'not a list such as ["node[001-040]"]',
        "Hosts whose exporters are read, without a server; slurm or slurm:PARTITION asks Slurm.",
    ),
    FleetField("port", Annotated[int, Meta(ge=1, le=65_535)], "not a port", "Port of these exporters (default 9400)."),
    FleetField("labels", _LABELS, 'not a list of labels such as ["rack"]', "Labels of each host that are shown."),
    FleetField(
        "interval_s", Annotated[float, Meta(ge=1, le=86_400)], "not a number of seconds from 1 to 86400",
        "How often the screen asks, in seconds (default 15).",
    ),
    FleetField(
        "timeout_s", Annotated[float, Meta(ge=0.1, le=3600)], "not a number of seconds from 0.1 to 3600",
        "How long gputop waits for each answer, in seconds (default 10).",
    ),
)  # fmt: skip
_TABLE: Final = 'must be a table: [fleet], then lines such as prometheus = ["http://prometheus:9090"]'
_BY_KEY: Final = {field.key: field for field in FLEET_FIELDS}


def read_fleet(given: object) -> tuple[dict[str, object], list[Mistake]]:
    """Return the valid values of the table, and the mistakes."""
    if not isinstance(given, Mapping):
        return {}, [("fleet", _TABLE, None)]
    found: dict[str, object] = {}
    mistakes: list[Mistake] = []
    for key, value in given.items():
        mistake = _mistake(str(key), value)
        if mistake is None:
            found[str(key)] = value
        else:
            mistakes.append((f"fleet.{key}", *mistake))
    return found, mistakes


def _mistake(key: str, value: object) -> tuple[str, str | None] | None:
    field = _BY_KEY.get(key)
    if field is None:
        return "unknown setting", nearest(key, _BY_KEY)
    try:
        convert(value, field.type)
    except ValidationError:
        text = masked(repr(value))
        return f"{text[:40]} is {field.otherwise}", None
    if key != "prometheus" or not isinstance(value, (list, tuple)):
        return None
    for url in value:
        if "@" in url:
            return "a URL must not contain a password: name a file with http_config", None
        if url_mistake(url):
            return url_mistake(url), None
    return None
