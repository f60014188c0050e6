"""The verdict on the one limit of a process, from means over a minute or more; the first rule that fits decides."""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from gputop.core.detectors.activity import process as of_track
from gputop.core.detectors.activity.board import Window
from gputop.core.detectors.activity.process import Track


class Bound(str, Enum):
    """A limit; the text of a member is its code."""

    INPUT = "bound.input"
    LAUNCH = "bound.launch"
    MEMORY = "bound.memory"
    COMMUNICATION = "bound.communication"
    COMPUTE = "bound.compute"
    FAKE = "busy.fake"


class Means(Struct, frozen=True):
    """Means over the window. ``worker_percent``: of a core, per worker; ``blocked_share``: 0 to 1 of the time.

    ``heavy_percent``: of the time, with more power than small kernels take. Other fields as in `Board` and `Track`.
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
    heavy_percent: float = 0.0
    cpu_percent: float = 0.0

    @property
    def memory_activity(self) -> float | None:
        """Return the memory activity: by GPM, else by the memory controller."""
        return self.memory if self.dram is None else self.dram

    @property
    def lacking(self) -> tuple[str, ...]:
        """Return the missing signals that a verdict needs."""
        known = (
            ("power draw", self.effort),
            ("memory utilization", self.memory_activity),
            ("busiest thread", self.thread),
        )
        return tuple(name for name, value in known if value is None)


def means_of(track: Track, window: Window, *, is_multi: bool) -> Means:
    """Return the means of a track."""
    loaders = window.mean(of_track.LOADERS) or 0.0
    return Means(
        passed_s=window.passed_s,
        gu=window.mean(of_track.GU) or 0.0,
        thread=window.mean(of_track.THREAD),
        workers=loaders,
        worker_percent=(window.mean(of_track.WORKERS) or 0.0) / loaders if loaders else 0.0,
        blocked_share=window.mean(of_track.BLOCKED) or 0.0,
        is_multi=is_multi,
        is_server=track.role.is_server and not track.role.is_interactive,
        watts=window.mean(of_track.WATTS),
        memory=window.mean(of_track.MEMORY),
        pcie=window.mean(of_track.PCIE),
        nvlink=window.mean(of_track.NVLINK),
        sm=window.mean(of_track.SM),
        occupancy=window.mean(of_track.OCCUPANCY),
        tensor=window.mean(of_track.TENSOR),
        dram=window.mean(of_track.DRAM),
        effort=window.mean(of_track.EFFORT),
        cpu_percent=window.mean(of_track.CPU) or 0.0,
        heavy_percent=100 * (window.mean(of_track.HEAVY) or 0.0),
    )


def verdict(means: Means, dials: Mapping[str, float]) -> Bound | None:
    """Return the limit; None if there is none or the signals do not show it."""
    power, tensor = 100 * (means.effort or 0.0), means.tensor or 0.0
    is_of_memory = (means.memory_activity or 0.0) >= dials["memory_percent"] and means.gu >= dials["gaps_percent"]
    weak, strong = dials["weak_worker_percent"], dials["worker_percent"]
    rules = (
        (Bound.INPUT, _is_starved(means, dials, strong, dials["main_percent"])),
        (Bound.MEMORY, is_of_memory),
        (Bound.COMPUTE, power >= dials["power_percent"] or tensor >= dials["tensor_percent"]),
        (Bound.COMMUNICATION, _communicates(means, dials)),
        (Bound.FAKE, _is_fake(means, dials)),
        (Bound.LAUNCH, _launches(means, dials)),
        (Bound.INPUT, _is_starved(means, dials, weak, dials["waits_percent"]) or _prepares_itself(means, dials)),
    )
    return next((bound for bound, fits in rules if fits), None)


def _is_starved(means: Means, dials: Mapping[str, float], least: float, most_of_main: float) -> bool:
    """Return whether the GPU has idle gaps while the workers work; the main thread of a starved job waits for them."""
    if means.gu <= 1 or means.gu >= dials["gaps_percent"] or not means.workers:
        return False
    if (means.thread or 0.0) >= most_of_main:
        return False
    return means.worker_percent >= least or 100 * means.blocked_share >= dials["blocked_percent"]


def _prepares_itself(means: Means, dials: Mapping[str, float]) -> bool:
    """Return whether one thread prepares the data and launches the kernels in turn.

    Many threads compile or compute. Data that a thread prepares go to the GPU: without that traffic it computes.
    """
    if means.is_server or means.workers or means.gu <= 1 or means.gu >= dials["half_percent"]:
        return False
    is_one = (means.thread or 0.0) >= dials["thread_percent"] and means.cpu_percent < dials["cpu_percent"]
    is_fed = means.watts is not None if means.pcie is None else means.pcie >= dials["fed_bytes_per_s"]
    return (is_one and is_fed) or 100 * means.blocked_share >= dials["blocked_percent"]


def is_guess(bound: Bound | None, means: Means, dials: Mapping[str, float]) -> bool:
    """Return whether only one busy thread speaks for a slow input: a search or a metric on the CPU looks the same."""
    is_seen = means.workers or 100 * means.blocked_share >= dials["blocked_percent"]
    return bound is Bound.INPUT and not is_seen


def _communicates(means: Means, dials: Mapping[str, float]) -> bool:
    if not means.is_multi or means.gu < dials["talking_percent"]:
        return False
    is_much = (means.nvlink or 0.0) >= dials["nvlink_bytes_per_s"]
    return is_much or (means.pcie or 0.0) >= dials["pcie_bytes_per_s"]


def _is_fake(means: Means, dials: Mapping[str, float]) -> bool:
    if means.is_server or means.effort is None or means.gu < dials["fake_percent"]:
        return False  # the ranks of a server wait for requests in a kernel
    if 100 * means.effort > dials["fake_power_percent"]:
        return False
    return (means.memory_activity or 0.0) <= dials["fake_memory_percent"]


def _launches(means: Means, dials: Mapping[str, float]) -> bool:
    if means.gu < dials["launch_least_percent"] or means.effort is None or means.cpu_percent >= dials["cpu_percent"]:
        return False
    busy = 1.0 if means.gu >= dials["half_percent"] else means.gu / 100  # below, the power of the busy time counts
    power = 100 * means.effort
    is_polling = power <= dials["fake_power_percent"] or means.gu >= dials["fake_percent"]
    if power > busy * dials["launch_power_percent"] or (means.is_server and is_polling):
        return False  # a server polls for requests, in a kernel or on the CPU
    is_light = (means.memory_activity or 0.0) <= dials["launch_memory_percent"]
    is_light = is_light and means.heavy_percent <= dials["launch_most_percent"]
    return is_light and (means.thread or 0.0) >= dials["thread_percent"]
