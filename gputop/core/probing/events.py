"""The events of a worker. Unknown kinds are ignored; an invalid line raises ValueError."""

from typing import Final, TypeAlias, get_args

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder

from gputop.core.probing.result import Data


class _Event(Struct, frozen=True, tag_field="ev"):
    """The fields of all events."""


class Hello(_Event, frozen=True, kw_only=True, tag="hello"):
    """The first event: the worker's environment."""

    name: str = ""
    uuid: str = ""
    torch: str = ""
    cuda: str = ""
    total: int = 0
    sm: int = 0
    pid: int = 0


class Start(_Event, frozen=True, kw_only=True, tag="start"):
    """The start of a test."""

    id: str


class Progress(_Event, frozen=True, kw_only=True, tag="progress"):
    """The progress of a test, 0 to 1."""

    id: str
    done: float
    msg: str = ""


class Params(_Event, frozen=True, kw_only=True, tag="params"):
    """The parameters of a test."""

    id: str
    params: Data


class MetricEvent(_Event, frozen=True, kw_only=True, tag="metric"):
    """A figure."""

    id: str
    name: str
    value: float
    unit: str
    n: int = 1
    p5: float | None = None
    p95: float | None = None


class FindingEvent(_Event, frozen=True, kw_only=True, tag="finding"):
    """A problem that a test found. ``sev``: fail, warn or inconclusive."""

    id: str
    sev: str
    code: str
    text: str = ""
    data: Data = {}


class Digest(_Event, frozen=True, kw_only=True, tag="digest"):
    """A fingerprint of a result, for the vote."""

    id: str
    key: str
    value: str


class End(_Event, frozen=True, kw_only=True, tag="end"):
    """The end of a test. ``status``: pass, warn, fail, skip, error, inconclusive or aborted."""

    id: str
    status: str
    dur_s: float = 0.0
    reason: str = ""


class Beat(_Event, frozen=True, kw_only=True, tag="hb"):
    """A sign of life. ``n``: iterations of the main loop so far."""

    n: int


class ErrorEvent(_Event, frozen=True, kw_only=True, tag="error"):
    """An exception, in a test or (``id`` empty) outside. ``code``: the CUDA error, or 0."""

    id: str = ""
    type: str = ""
    code: int = 0
    text: str = ""


class Summary(_Event, frozen=True, kw_only=True, tag="summary"):
    """The last event of a worker."""

    status: str


Event: TypeAlias = (
    Hello | Start | Progress | Params | MetricEvent | FindingEvent | Digest | End | Beat | ErrorEvent | Summary
)  # fmt: skip


class _Tag(Struct, frozen=True):
    ev: str


_EVENTS: Final[Decoder[Event]] = Decoder(Event)
_TAGS: Final = Decoder(_Tag)
_KNOWN: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Event))


def read(line: bytes) -> Event | None:
    """Return the event of a line, or None for an unknown kind. Raises ValueError for an invalid line."""
    try:
        if _TAGS.decode(line).ev not in _KNOWN:
            return None
        return _EVENTS.decode(line)
    except (DecodeError, ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from None
