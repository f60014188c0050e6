"""From means over a minute or more to the one thing that bounds a process on its GPU; the first rule that fits wins."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from gputop.core.detectors import activity_track as of_track
from gputop.core.detectors.activity_track import Track
from gputop.core.detectors.activity_window import Window

_FULL: Final = 95.0
_NEARLY_FULL: Final = 90.0
_NOT_FULL: Final = 80.0
_HALF_FULL: Final = 45.0
_MAIN_BUSY: Final = 80.0
_ONE_CORE: Final = 90.0
_WEAK_WORKER: Final = 15.0
_BLOCKED: Final = 0.30
_FAKE_EFFORT: Final = 0.15
_FAKE_MEMORY: Final = 3.0
_LAUNCH_EFFORT: Final = 0.42
_LAUNCH_MEMORY: Final = 20.0
_NVLINK: Final = 20e9
_PCIE: Final = 2e9


class Bound(str, Enum):
    """What bounds it; the text of a member is its code."""

    INPUT = "bound.input"
    LAUNCH = "bound.launch"
    MEMORY = "bound.memory"
    COMMUNICATION = "bound.communication"
    COMPUTE = "bound.compute"
    FAKE = "busy.fake"


class Means(Struct, frozen=True):
    """Means over the window. ``worker_percent``: of a core, for each worker; ``blocked_share``: 0-1 of the time.

    ``is_weak``: the verdict that they lead to rests on little. Other fields as in `Board` and `Track`.
    """

    passed_s: float
    gu: float
    thread: float | None
    workers: float
    worker_percent: float
    blocked_share: float
    is_multi: bool
    is_server: bool
    watts: float | None
    memory: float | None
    pcie: float | None
    nvlink: float | None
    sm: float | None
    occupancy: float | None
    tensor: float | None
    dram: float | None
    effort: float | None

    @property
    def memory_activity(self) -> float | None:
        """Return how busy memory is: by GPM, else by the memory controller."""
        return self.memory if self.dram is None else self.dram

    @property
    def lacking(self) -> tuple[str, ...]:
        """Return the signals that a verdict would need and that were not there."""
        known = (
            ("power draw", self.effort),
            ("memory utilization", self.memory_activity),
            ("busiest thread", self.thread),
        )
        return tuple(name for name, value in known if value is None)


def means_of(track: Track, window: Window, *, is_multi: bool) -> Means:
    """Return the means of a track."""
    held = window.mean(of_track.LOADERS) or 0.0
    return Means(
        passed_s=window.passed_s,
        gu=window.mean(of_track.GU) or 0.0,
        thread=window.mean(of_track.THREAD),
        workers=held,
        worker_percent=(window.mean(of_track.WORKERS) or 0.0) / held if held else 0.0,
        blocked_share=window.mean(of_track.BLOCKED) or 0.0,
        is_multi=is_multi,
        is_server=track.role.is_server,
        watts=window.mean(of_track.WATTS),
        memory=window.mean(of_track.MEMORY),
        pcie=window.mean(of_track.PCIE),
        nvlink=window.mean(of_track.NVLINK),
        sm=window.mean(of_track.SM),
        occupancy=window.mean(of_track.OCCUPANCY),
        tensor=window.mean(of_track.TENSOR),
        dram=window.mean(of_track.DRAM),
        effort=window.mean(of_track.EFFORT),
    )


def verdict(means: Means, dials: Mapping[str, float]) -> Bound | None:
    """Return what bounds it; None where nothing does, or nobody can tell."""
    effort = means.effort or 0.0
    rules = (
        (Bound.INPUT, _is_starved(means, dials["worker_percent"], _MAIN_BUSY)),
        (Bound.MEMORY, (means.memory_activity or 0.0) >= dials["memory_percent"] and means.gu >= _NOT_FULL),
        (Bound.COMPUTE, 100 * effort >= dials["power_percent"] or (means.tensor or 0.0) >= dials["tensor_percent"]),
        (Bound.COMMUNICATION, means.is_multi and means.gu >= _NEARLY_FULL and _talks(means)),
        (Bound.FAKE, _is_fake(means)),
        (Bound.LAUNCH, _launches(means)),
        (Bound.INPUT, _is_starved(means, _WEAK_WORKER, _FULL) or _prepares_itself(means)),
    )
    return next((bound for bound, fits in rules if fits), None)


def _is_starved(means: Means, least: float, most_of_main: float) -> bool:
    """Say whether the GPU has gaps while its workers are at work; the main thread of a starved job waits for them."""
    if means.gu >= _NOT_FULL or not means.workers or (means.thread or 0.0) >= most_of_main:
        return False
    return means.worker_percent >= least or means.blocked_share >= _BLOCKED


def _prepares_itself(means: Means) -> bool:
    """Say whether one thread does all: it loads, and the GPU works in between."""
    if means.is_server or means.workers or means.gu <= of_track.IDLE or means.gu >= _HALF_FULL:
        return False
    return (means.thread or 0.0) >= _ONE_CORE or means.blocked_share >= _BLOCKED


def _talks(means: Means) -> bool:
    return (means.nvlink or 0.0) >= _NVLINK or (means.pcie or 0.0) >= _PCIE


def _is_fake(means: Means) -> bool:
    if means.effort is None or means.gu < _FULL or means.effort > _FAKE_EFFORT:
        return False
    return (means.memory_activity or 0.0) <= _FAKE_MEMORY


def _launches(means: Means) -> bool:
    if means.gu < _HALF_FULL or means.effort is None or means.effort > _LAUNCH_EFFORT:
        return False
    return (means.thread or 0.0) >= _ONE_CORE and (means.memory_activity or 0.0) <= _LAUNCH_MEMORY
