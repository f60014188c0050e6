"""How a run of a probe goes, for whoever looks on: a process of its own runs it, and says so in lines of JSON."""

from collections.abc import Callable
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.units import duration_text
from gputop.core.probing.probe import Level, Probe
from gputop.core.probing.result import ProbeReport, Status, TestResult, telling

MOST_FINDINGS: Final = 6  # of a test, while it runs; the report has them all


class Wish(Struct, frozen=True, kw_only=True):
    """What is to be tested: GPUs by their uuids, or so many CPUs in their place.

    ``is_forced``: GPUs that somebody uses as well.
    """

    level: Level = Level.QUICK
    gpus: tuple[str, ...] = ()
    cpus: int | None = None
    is_forced: bool = False


class DeviceCourse(Struct, frozen=True, kw_only=True):
    """How far a device is. ``gpu``: uuid of the GPU that it is, or is a part of; ``wanted``: its tests, in order.

    ``done`` is of all tests, ``test_done`` of the ``current`` one, 0 to 1; ``left_s``: about; ``text``: what that test
    said last, how fast it goes before all else. ``is_waiting``: for those that are tested before it. ``status`` is
    there only for a device that is not tested at all, with the ``reason``.
    """

    label: str
    uuid: str = ""
    gpu: str = ""
    name: str = ""
    wanted: tuple[str, ...] = ()
    tests: tuple[TestResult, ...] = ()
    current: str | None = None
    done: float = 0.0
    test_done: float = 0.0
    left_s: float | None = None
    text: str = ""
    is_over: bool = False
    is_waiting: bool = False
    status: Status | None = None
    reason: str = ""


class Course(Struct, frozen=True, kw_only=True, tag_field="news", tag="course"):
    """How far all devices are."""

    devices: tuple[DeviceCourse, ...] = ()

    @property
    def done(self) -> float:
        """Return how far it is, 0 to 1: one after another or all at once, it is as far as they are on average."""
        held = [one.done for one in self._tested]
        return sum(held) / len(held) if held else 0.0

    @property
    def left_s(self) -> float | None:
        """Return how long it will take, about; None where that is not known yet."""
        return max((one.left_s for one in self._tested if one.left_s is not None), default=None)

    @property
    def text(self) -> str:
        """Return ``62%, 12s left``."""
        left = "" if self.left_s is None else f", {duration_text(self.left_s)} left"
        return f"{self.done:.0%}{left}"

    @property
    def _tested(self) -> tuple[DeviceCourse, ...]:
        return tuple(one for one in self.devices if one.status is None)


class Ended(Struct, frozen=True, kw_only=True, tag_field="news", tag="ended"):
    """The end: what was found."""

    report: ProbeReport


class Run(Struct, frozen=True, kw_only=True):
    """A run as the screen sees it. ``problem``: why there is no report; ``began_s``: by the clock of who started it."""

    wish: Wish
    began_s: float = 0.0
    course: Course = Course()
    report: ProbeReport | None = None
    problem: str = ""
    is_stopping: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing runs any more."""
        return self.report is not None or bool(self.problem)


class Prober(Protocol):
    """Runs probes, one at a time. Nothing of it blocks or raises; ``run`` is the one that runs, or the last one.

    ``probe``: what can be run, None where no plugin brings any.
    """

    probe: Probe | None

    @property
    def run(self) -> Run | None:
        """The run; None before the first."""
        ...

    def start(self, wish: Wish, news: Callable[[], object]) -> None:
        """Begin, unless one runs. ``news`` is called, from another thread, when ``run`` is another."""
        ...

    def stop(self) -> None:
        """End the one that runs; what was found so far is its report."""
        ...

    def close(self) -> None:
        """End the one that runs, and tell nobody."""
        ...


def shortened(test: TestResult) -> TestResult:
    """Return what somebody who looks on needs of a test."""
    return replace(test, params={}, digests={}, findings=telling(test.findings, MOST_FINDINGS))
