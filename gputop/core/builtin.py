"""The table of contents: gputop's own detectors. Detectors are imported when they are asked for."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gputop.core.detector import Detector, Kind

Dials: TypeAlias = Mapping[str, float]
Made: TypeAlias = tuple[Kind, Callable[[Dials], Detector]]


def instant() -> tuple[Made, ...]:
    """Return the detectors that can tell something from one or two samples: those that a snapshot asks."""
    from gputop.core.detectors import hardware, pressure, stopped  # noqa: PLC0415 - on the way of every snapshot

    return (
        (hardware.KIND, hardware.HardwareDetector),
        (pressure.KIND, pressure.PressureDetector),
        (stopped.KIND, stopped.StoppedDetector),
    )


def detectors() -> tuple[Made, ...]:
    """Return all detectors. Of those that judge what a process does, the graver come first: one verdict is enough."""
    from gputop.core.detectors import bound, idle, orphan, spin, stalled, straggler, stuck, throttle  # noqa: PLC0415

    return (
        *instant(),
        (throttle.KIND, throttle.ThrottleDetector),
        (orphan.KIND, orphan.OrphanDetector),
        (stuck.KIND, stuck.StuckDetector),
        (stalled.KIND, stalled.StalledDetector),
        (spin.KIND, spin.SpinDetector),
        (idle.KIND, idle.IdleDetector),
        (straggler.KIND, straggler.StragglerDetector),
        (bound.KIND, bound.BoundDetector),
    )


ENABLED: Final = "enabled"


def made(kinds: tuple[Made, ...], settled: Mapping[str, Dials]) -> dict[str, Detector]:
    """Return the detectors that are switched on, by name, with their dials. ``settled``: by the name of a detector."""
    return {
        kind.name: make(kind.settled(settled.get(kind.name, {})))
        for kind, make in kinds
        if settled.get(kind.name, {}).get(ENABLED, 1.0)
    }
