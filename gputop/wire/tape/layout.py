"""The layout of a recording: gzip members, each readable by itself, whose heads contain their place in the recording.

``zcat`` prints the lines of a whole recording. A head has an extra field named GT, as RFC 1952 provides for; the
members are found by its bytes, without a table that a crash could leave unwritten.
"""

from struct import Struct as Packed
from typing import Any, Final, TypeAlias
from zlib import crc32

from msgspec import Struct

from gputop.core.model.plausible import is_time
from gputop.core.model.sample import SCHEMA_VERSION

VERSION: Final = 1
KIND: Final = "gputop"
FRAMES_A_MEMBER: Final = 120
GZIP: Final = b"\x1f\x8b"
MARK: Final = GZIP + b"\x08\x04" + bytes(4) + b"\x02\xff" + b"\x20\x00" + b"GT" + b"\x1c\x00"
_PLACE: Final = Packed("<dQd")
_CHECKSUM: Final = Packed("<I")
_MOST_FRAMES: Final = 2**48
HEAD_BYTES: Final = len(MARK) + _PLACE.size + _CHECKSUM.size
TRAILER: Final = Packed("<II")

JsonTree: TypeAlias = dict[str, Any]


class Header(Struct, frozen=True, kw_only=True):
    """The first line of a member. ``tape``: the kind of file; ``version``: of the layout; ``gputop``: of its writer."""

    tape: str = KIND
    version: int = VERSION
    schema_version: int = SCHEMA_VERSION
    gputop: str = ""
    host: str = ""
    interval_s: float = 1.0


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line with a whole frame, the first of a member, or with the changes since the previous line, as in `delta`.

    ``at_s``: since the recording began.
    """

    at_s: float
    frame: JsonTree | None = None
    changed: JsonTree = {}
    moved: dict[str, list[Any]] = {}


class Place(Struct, frozen=True):
    """The start of a member: seconds and frames since the recording began, and the time, since the epoch."""

    at_s: float
    frames: int
    time_s: float


def head(place: Place) -> bytes:
    """Return the first bytes of a member."""
    packed = _PLACE.pack(place.at_s, place.frames, place.time_s)
    return MARK + packed + _CHECKSUM.pack(crc32(packed))


def place(raw: bytes) -> Place | None:
    """Return the content of a head; None if it is truncated, damaged or impossible."""
    packed, checksum = raw[len(MARK) : -_CHECKSUM.size], raw[-_CHECKSUM.size :]
    if len(raw) != HEAD_BYTES or _CHECKSUM.pack(crc32(packed)) != checksum:
        return None
    found = Place(*_PLACE.unpack(packed))
    return found if is_time(found.at_s) and is_time(found.time_s) and found.frames < _MOST_FRAMES else None
