"""The lines of a worker as values. What this version does not know is passed over; what is none is a ValueError."""

from typing import Final, TypeAlias

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder

from gputop.core.probing.result import Data


class _Event(Struct, frozen=True, tag_field="ev"):
    """What all have."""


class Hello(_Event, frozen=True, kw_only=True, tag="hello"):
    """The first: what the worker sees."""

    name: str = ""
    uuid: str = ""
    torch: str = ""
    cuda: str = ""
    total: int = 0
    sm: int = 0
    pid: int = 0


class Start(_Event, frozen=True, kw_only=True, tag="start"):
    """A test begins."""

    id: str


class Progress(_Event, frozen=True, kw_only=True, tag="progress"):
    """How far a test is, 0 to 1."""

    id: str
    done: float
    msg: str = ""


class Params(_Event, frozen=True, kw_only=True, tag="params"):
    """How a test was made."""

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
    """What is wrong. ``sev``: fail, warn or inconclusive."""

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
    """A test has ended. ``status``: pass, warn, fail, skip, error, inconclusive or aborted."""

    id: str
    status: str
    dur_s: float = 0.0
    reason: str = ""


class Beat(_Event, frozen=True, kw_only=True, tag="hb"):
    """A sign of life. ``n``: how often the main loop has gone round."""

    n: int


class ErrorEvent(_Event, frozen=True, kw_only=True, tag="error"):
    """An exception, in a test or (``id`` empty) outside. ``code``: of CUDA, 0 where there is none."""

    id: str = ""
    type: str = ""
    code: int = 0
    text: str = ""


class Summary(_Event, frozen=True, kw_only=True, tag="summary"):
    """The last."""

    status: str


Event: TypeAlias = (
    Hello | Start | Progress | Params | MetricEvent | FindingEvent | Digest | End | Beat | ErrorEvent | Summary
)  # fmt: skip


class _Tag(Struct, frozen=True):
    ev: str


_EVENTS: Final[Decoder[Event]] = Decoder(Event)
_TAGS: Final = Decoder(_Tag)
_KNOWN: Final = frozenset(
    {"hello", "start", "progress", "params", "metric", "finding", "digest", "end", "hb", "error", "summary"}
)


def read(line: bytes) -> Event | None:
    """Return the event of a line; None for a kind that is not known here. Raises ValueError for what is none."""
    try:
        if _TAGS.decode(line).ev not in _KNOWN:
            return None
        return _EVENTS.decode(line)
    except (DecodeError, ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from None
