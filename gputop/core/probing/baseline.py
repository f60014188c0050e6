"""A device's own past: figures of some runs, kept by what they depend on."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from statistics import median
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.probing.result import DeviceResult, Status

ENOUGH: Final = 3
_MOST_RUNS: Final = 9
_GOOD: Final = frozenset({Status.PASS, Status.WARN})


class Run(Struct, frozen=True, kw_only=True):
    """One run: what its figures depend on, and the figures by ``test.figure``."""

    saved_s: float
    driver: str | None = None
    torch: str = ""
    level: str = ""
    power_limit_w: float | None = None
    figures: dict[str, float] = {}


class Baseline(Struct, frozen=True, kw_only=True):
    """The runs of one device, the oldest first."""

    uuid: str
    runs: tuple[Run, ...] = ()

    def with_run(self, run: Run) -> "Baseline":
        """Return it with one run more, and without the oldest where there are many."""
        return replace(self, runs=(*self.runs, run)[-_MOST_RUNS:])

    def figures(self) -> dict[str, float]:
        """Return the median of each figure."""
        keys = {key for run in self.runs for key in run.figures}
        return {key: median(run.figures[key] for run in self.runs if key in run.figures) for key in keys}

    def doubts(self, run: Run, label: str) -> tuple[str, ...]:
        """Say what makes a comparison of a run with these less than certain. ``label``: of the device."""
        if not self.runs:
            return (f"no baseline of {label}: save one with --baseline save",)
        found = []
        if len(self.runs) < ENOUGH:
            found.append(f"the baseline of {label} is of {len(self.runs)} runs; {ENOUGH} make a median")
        for field in ("driver", "torch", "level", "power_limit_w"):
            was, is_ = getattr(self.runs[-1], field), getattr(run, field)
            if was != is_:
                found.append(f"the baseline of {label} was saved with {field} {was}, and now it is {is_}")
        return tuple(found)


def figures_of(device: DeviceResult) -> dict[str, float]:
    """Return the figures of the tests that are not bad."""
    return {f"{t.key}.{f.name}": f.value for t in device.tests if t.status in _GOOD for f in t.figures}


def name_of(devices: Sequence[tuple[int, str]], boxes: int) -> str:
    """Return under what the figures of tests over all devices are kept: others, or another order, have another past.

    ``devices``: indices and uuids; ``boxes``: of the Slurm job.
    """
    words = " ".join([str(boxes), *(f"{index}={uuid}" for index, uuid in devices)])
    return f"together-{sha256(words.encode()).hexdigest()[:16]}"


def stale(devices: Iterable[DeviceResult], most: float = 1.10) -> tuple[str, ...]:
    """Say where a device does better than its baseline: that is out of date."""
    return tuple(
        f"{device.label}: {test.key} {figure.name} is {figure.baseline_ratio:.0%} of its baseline, which is stale"
        for device in devices
        for test in device.tests
        for figure in test.figures
        if figure.baseline_ratio is not None and figure.baseline_ratio > most and device.kind != "cpu"
    )
