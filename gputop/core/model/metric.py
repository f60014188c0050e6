"""The metric: the typed key of a reading, with its unit, sources and help.

The driver call is data here: the catalogue stays pure, metrics share a call, and a metric is one row in one file
(`catalogue.py`).
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar, final

from msgspec import Struct

T = TypeVar("T")


@final
class Missing(str, Enum):
    """The reason why there is no value. The text of a member is its name in JSON."""

    UNSUPPORTED = "unsupported"
    FORBIDDEN = "forbidden"
    OUTDATED = "outdated"
    LOST = "lost"
    HUNG = "hung"
    BLOCKED = "blocked"
    HIDDEN = "hidden"
    UNREADABLE = "unreadable"
    FAULT = "fault"
    NOT_YET = "not_yet"

    @property
    def text(self) -> str:
        """Return the reason in words."""
        return _TEXT[self]


_TEXT = {
    Missing.UNSUPPORTED: "not supported by this GPU or its mode",
    Missing.FORBIDDEN: "no permission: needs root or the owner",
    Missing.OUTDATED: "the driver is too old for this call",
    Missing.LOST: "the GPU is lost: it fell off the bus or needs a reset",
    Missing.HUNG: "the driver does not answer",
    Missing.BLOCKED: "the kernel does not answer: a thread of the process may be stuck",
    Missing.HIDDEN: "hidden: another PID namespace, or /proc mounted with hidepid",
    Missing.UNREADABLE: "cannot be read: the kernel returns an error, or nothing",
    Missing.FAULT: "the driver answered with an error or an impossible value",
    Missing.NOT_YET: "not yet: needs a second reading",
}


class Unit(Enum):
    """A base unit and the range of plausible values; a value outside is a fault of the driver."""

    NONE = ("", None, None)
    COUNT = ("", 0, 2**63)
    PERCENT = ("%", 0, 100)
    FAN = ("%", 0, 200)  # of the design speed, which a fan may exceed
    BYTES = ("B", 0, 2**50)
    BYTES_PER_S = ("B/s", 0, 2**44)
    CELSIUS = ("°C", -60, 300)
    WATTS = ("W", 0, 100_000)
    JOULES = ("J", 0, 2**60)
    HERTZ = ("Hz", 0, 100_000_000_000)
    SECONDS = ("s", 0, 2**40)

    def __init__(self, sign: str, low: float | None, high: float | None) -> None:
        self.sign = sign
        self.low = low
        self.high = high

    def allows(self, value: object) -> bool:
        """Return whether a value in this unit is plausible; text always is."""
        if self.low is None or self.high is None or not isinstance(value, (int, float)):
            return True
        return self.low <= value <= self.high


def same(value: Any) -> Any:
    """Return the driver's answer as it is."""
    return value


@final
class NvmlCall(Struct, frozen=True):
    """A driver call as data: ``to(answer)`` returns the value; None if the answer has none."""

    name: str
    args: tuple[int, ...] = ()
    to: Callable[[Any], Any] = same


@final
class Field(Struct, frozen=True):
    """One entry of the batched nvmlDeviceGetFieldValues call."""

    id: int
    scope: int = 0
    to: Callable[[Any], Any] = same


@final
class FieldRate(Struct, frozen=True):
    """The growth of a counter among the field values, in its unit per second, by the timestamps of the driver."""

    id: int
    scope: int = 0
    to: Callable[[float], float] = same


@final
class Gpm(Struct, frozen=True):
    """A profiling metric between two GPM samples (Hopper and newer)."""

    id: int
    to: Callable[[float], float] = same


@final
class Reading(Struct, frozen=True):
    """A special case: a function of this name in `machine/gpu/readings.py`."""

    name: str


Origin: TypeAlias = NvmlCall | Field | FieldRate | Gpm | Reading

ONCE = float("inf")


class Metric(Struct, Generic[T], frozen=True, kw_only=True):
    """A row of the catalogue.

    ``key`` is the name in JSON and carries the unit. ``origins`` are tried in turn until one is supported.
    ``every_s`` is the shortest time between two readings; 0 reads with each sample, ``ONCE`` never again.
    """

    key: str
    label: str
    unit: Unit
    origins: tuple[Origin, ...]
    every_s: float = 0.0
    help: str = ""
