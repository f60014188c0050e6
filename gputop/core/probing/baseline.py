"""Baselines of devices: the figures of earlier runs, with the conditions they depend on."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from statistics import median
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.probing.result import DeviceResult, TestStatus

ENOUGH: Final = 3
_MOST_RUNS: Final = 9
_GOOD: Final = frozenset({TestStatus.PASS, TestStatus.WARN})


class Run(Struct, frozen=True, kw_only=True):
    """One run: the conditions of its figures, and the figures by ``test.figure``."""

    saved_s: float
    driver: str | None = None
    torch: str = ""
    level: str = ""
    power_limit_w: float | None = None
    figures: dict[str, float] = {}


class Baseline(Struct, frozen=True, kw_only=True):
    """The runs of one device, oldest first."""

    uuid: str
    runs: tuple[Run, ...] = ()

    def with_run(self, run: Run) -> "Baseline":
        """Return the baseline with one more run; the oldest run is dropped if there are too many."""
        return replace(self, runs=(*self.runs, run)[-_MOST_RUNS:])

    def figures(self) -> dict[str, float]:
        """Return the median of each figure."""
        keys = {key for run in self.runs for key in run.figures}
        return {key: median(run.figures[key] for run in self.runs if key in run.figures) for key in keys}

    def doubts(self, run: Run, label: str) -> tuple[str, ...]:
        """Return the reasons why a comparison with this baseline is uncertain. ``label``: of the device."""
        if not self.runs:
            return (f"no baseline for {label}: save one with --baseline save",)
        found = []
        if len(self.runs) < ENOUGH:
            found.append(f"the baseline of {label} has only {len(self.runs)} of the {ENOUGH} runs that a median needs")
        for field in ("driver", "torch", "level", "power_limit_w"):
            was, is_ = getattr(self.runs[-1], field), getattr(run, field)
            if was != is_:
                found.append(f"the baseline of {label} was saved with {field} {was}, now it is {is_}")
        return tuple(found)


def figures_of(device: DeviceResult) -> dict[str, float]:
    """Return the figures of the tests that passed or warned."""
    return {f"{t.key}.{f.name}": f.value for t in device.tests if t.status in _GOOD for f in t.figures}


def name_of(devices: Sequence[tuple[int, str]], boxes: int) -> str:
    """Return the name of the baseline of tests over all devices; it depends on the devices and their order.

    ``devices``: indices and uuids; ``boxes``: the number of hosts of the Slurm job.
    """
    words = " ".join([str(boxes), *(f"{index}={uuid}" for index, uuid in devices)])
    return f"together-{sha256(words.encode()).hexdigest()[:16]}"


def stale(devices: Iterable[DeviceResult], most: float = 1.10) -> tuple[str, ...]:
    """Return a note for each figure that is better than its baseline, which is out of date then."""
    return tuple(
        f"{device.label}: {test.key} {figure.name} is {figure.baseline_ratio:.0%} of its baseline, which is out of date"
        for device in devices
        for test in device.tests
        for figure in test.figures
        if figure.baseline_ratio is not None and figure.baseline_ratio > most and device.kind != "cpu"
    )
