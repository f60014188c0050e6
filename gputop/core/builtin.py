"""The table of contents: gputop's own detectors. Detectors are imported when they are asked for."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gputop.core.detector import Detector, Kind

Dials: TypeAlias = Mapping[str, float]
Made: TypeAlias = tuple[Kind, Callable[[Dials], Detector]]


def instant() -> tuple[Made, ...]:
    """Return the detectors that can tell something from one or two samples: those that a snapshot asks."""
    from gputop.core.detectors import pressure  # noqa: PLC0415 - on the way of every snapshot

    return ((pressure.KIND, pressure.PressureDetector),)


def detectors() -> tuple[Made, ...]:
    """Return all detectors."""
    return instant()


ENABLED: Final = "enabled"


def made(kinds: tuple[Made, ...], settled: Mapping[str, Dials]) -> dict[str, Detector]:
    """Return the detectors that are switched on, by name, with their dials. ``settled``: by the name of a detector."""
    return {
        kind.name: make(kind.settled(settled.get(kind.name, {})))
        for kind, make in kinds
        if settled.get(kind.name, {}).get(ENABLED, 1.0)
    }
