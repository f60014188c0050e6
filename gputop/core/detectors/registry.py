"""The registry of detectors. Detectors are imported on demand."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gputop.core.detection.detector import Detector, Kind
from gputop.core.table_rows import joined

Dials: TypeAlias = Mapping[str, float]
Made: TypeAlias = tuple[Kind, Callable[[Dials], Detector]]


def instant() -> tuple[Made, ...]:
    """Return the detectors that need only one or two samples: a snapshot runs these."""
    return tuple(row for row in joined("detectors", _instant(), _name) if row[0].is_instant)


def _instant() -> tuple[Made, ...]:
    from gputop.core.detectors import pressure, stopped  # noqa: PLC0415 - on the way of every snapshot
    from gputop.core.detectors.hardware import detector as hardware  # noqa: PLC0415 - on the way of every snapshot

    return (
        (hardware.KIND, hardware.HardwareDetector),
        (pressure.KIND, pressure.PressureDetector),
        (stopped.KIND, stopped.StoppedDetector),
    )


def detectors() -> tuple[Made, ...]:
    """Return all detectors, those of plugins last.

    Detectors of graver findings come first: a process gets one verdict per sample.
    """
    from gputop.core.detectors import filling, idle, spin, stalled, throttle  # noqa: PLC0415
    from gputop.core.detectors.activity import activity  # noqa: PLC0415
    from gputop.core.detectors.activity import thresholds as activity_limits  # noqa: PLC0415
    from gputop.core.detectors.bound import detector as bound  # noqa: PLC0415
    from gputop.core.detectors.leak import detector as leak  # noqa: PLC0415
    from gputop.core.detectors.leak import thresholds as leak_dials  # noqa: PLC0415
    from gputop.core.detectors.orphan import detector as orphan  # noqa: PLC0415
    from gputop.core.detectors.straggler import detector as straggler  # noqa: PLC0415
    from gputop.core.detectors.stuck import detector as stuck  # noqa: PLC0415

    own = (
        *_instant(),
        (filling.KIND, filling.FillingDetector),
        (leak_dials.KIND, leak.LeakDetector),
        (throttle.KIND, throttle.ThrottleDetector),
        (orphan.KIND, orphan.OrphanDetector),
        (activity_limits.KIND, activity.ActivityDetector),
        (stuck.KIND, stuck.StuckDetector),
        (stalled.KIND, stalled.StalledDetector),
        (spin.KIND, spin.SpinDetector),
        (idle.KIND, idle.IdleDetector),
        (straggler.KIND, straggler.StragglerDetector),
        (bound.KIND, bound.BoundDetector),
    )
    return joined("detectors", own, _name)


def _name(row: Made) -> str:
    return row[0].name


ENABLED: Final = "enabled"


def made(kinds: tuple[Made, ...], settled: Mapping[str, Dials]) -> dict[str, Detector]:
    """Return the enabled detectors by name. ``settled``: given dials, by the name of the detector."""
    return {
        kind.name: make(kind.settled(settled.get(kind.name, {})))
        for kind, make in kinds
        if settled.get(kind.name, {}).get(ENABLED, 1.0)
    }
