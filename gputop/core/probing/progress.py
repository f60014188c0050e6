"""The progress of a probe run, which a separate process reports as lines of JSON."""

from collections.abc import Callable
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.units import duration_text
from gputop.core.probing.probe import Level, Probe
from gputop.core.probing.result import ProbeReport, TestResult, TestStatus, telling

MOST_FINDINGS: Final = 6  # of a test, while it runs; the report has them all


class Wish(Struct, frozen=True, kw_only=True):
    """The devices to test: GPUs by uuid, or a number of CPUs instead.

    ``is_forced``: also test GPUs in use.
    """

    level: Level = Level.QUICK
    gpus: tuple[str, ...] = ()
    cpus: int | None = None
    is_forced: bool = False


class DeviceCourse(Struct, frozen=True, kw_only=True):
    """The progress of a device. ``gpu``: uuid of its GPU; ``wanted``: its tests, in order.

    ``done`` is of all tests, ``test_done`` of the ``current`` one, 0 to 1; ``left_s``: estimate; ``text``: the current
    test's last message, speed first. ``is_waiting``: other devices are tested first. ``status`` is set only for a
    device that is not tested at all, with the ``reason``.
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
    status: TestStatus | None = None
    reason: str = ""


class Course(Struct, frozen=True, kw_only=True, tag_field="news", tag="course"):
    """The progress of all devices."""

    devices: tuple[DeviceCourse, ...] = ()

    @property
    def done(self) -> float:
        """Return the progress of the run, 0 to 1: the mean of its devices."""
        shares = [one.done for one in self._tested]
        return sum(shares) / len(shares) if shares else 0.0

    @property
    def left_s(self) -> float | None:
        """Return the estimated time left, or None if not yet known."""
        return max((one.left_s for one in self._tested if one.left_s is not None), default=None)

    @property
    def text(self) -> str:
        """Return the progress as text: ``62%, 12s left``."""
        left = "" if self.left_s is None else f", {duration_text(self.left_s)} left"
        return f"{self.done:.0%}{left}"

    @property
    def _tested(self) -> tuple[DeviceCourse, ...]:
        return tuple(one for one in self.devices if one.status is None)


class Ended(Struct, frozen=True, kw_only=True, tag_field="news", tag="ended"):
    """The end of a run, with its report."""

    report: ProbeReport


class Run(Struct, frozen=True, kw_only=True):
    """A run as the screen sees it. ``problem``: why it has no report; ``began_s``: by the clock of its starter."""

    wish: Wish
    began_s: float = 0.0
    course: Course = Course()
    report: ProbeReport | None = None
    problem: str = ""
    is_stopping: bool = False

    @property
    def is_over(self) -> bool:
        """Say whether the run has ended."""
        return self.report is not None or bool(self.problem)


class Prober(Protocol):
    """Runs probes, one at a time. Its methods never block or raise. ``run``: the current or the last run.

    ``probe``: the available probe, None without a probe plugin.
    """

    probe: Probe | None

    @property
    def run(self) -> Run | None:
        """Return the current or last run; None before the first."""
        ...

    def start(self, wish: Wish, news: Callable[[], object]) -> None:
        """Start a run, unless one runs. ``news`` is called from another thread whenever ``run`` changes."""
        ...

    def stop(self) -> None:
        """Stop the current run; its report has the results so far."""
        ...

    def close(self) -> None:
        """Stop the current run without a report."""
        ...


def shortened(test: TestResult) -> TestResult:
    """Return the part of a test that an observer needs."""
    return replace(test, params={}, digests={}, findings=telling(test.findings, MOST_FINDINGS))
