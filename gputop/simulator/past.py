"""The minutes before the start of a simulated box, so that a judge can find what takes minutes."""

from collections.abc import Callable
from threading import Thread
from typing import Final

from gputop.core.model.finding import Finding
from gputop.core.model.sample import Host, Job, Sample
from gputop.core.monitor import Judging, Monitor
from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource
from gputop.simulator import simulate
from gputop.simulator.procfiles import HERTZ, PAGE

LENGTH_S: Final = 900.0
STEP_S: Final = 5.0
_HOST_EVERY_S: Final = 60.0


class Past:
    """A source that reads a box of its own, 5 s further with each sample. ``begins_s``: the start of the box.

    ``time_s``: of the previous sample, in seconds since the epoch, as ``begins_s`` is. Reads beyond the start are
    allowed.
    """

    def __init__(self, name: str, selection: Selection, begins_s: float) -> None:
        self.interval_s = STEP_S
        self.time_s = begins_s - LENGTH_S
        self._origin_s = self.time_s
        self._box = box = simulate(name, self._clock, lambda: begins_s, lambda _: None, starts_in_s=LENGTH_S)
        self._source = MachineSource(
            Driver(box.driver),
            _RareHost(box.proc, box.host),
            ProcessReader(box.proc, box.users.get, reports=box.reports, clock_ticks=HERTZ, page_bytes=PAGE),
            selection=selection,
            interval_s=STEP_S,
            limits=Limits(patience_s=3.0),
            simulated=name,
            watches_events=False,
            clock=self._clock,
            wall=lambda: self.time_s,
        )
        self._source.open()

    def read(self) -> Sample:
        """Advance by a step and take a sample."""
        self.time_s += STEP_S
        self._box.script.follow()
        return self._source.read()

    def _clock(self) -> float:
        return self.time_s - self._origin_s


class JudgeWithPast:
    """A judge that receives the minutes before the first sample, in a thread: 15 minutes take a few seconds.

    ``name``: of the simulated box.
    """

    def __init__(self, judge: Judging, name: str, selection: Selection) -> None:
        self._judge = judge
        self._name = name
        self._selection = selection
        self._thread: Thread | None = None
        self._latest_s = 0.0

    def judge(self, sample: Sample, jobs: tuple[Job, ...]) -> tuple[Finding, ...]:
        """Return the findings of this sample; none until the judge has received the past."""
        self._latest_s = sample.time_s
        if self._thread is None:
            self._thread = Thread(target=self._show, args=(sample.time_s,), name="past", daemon=True)
            self._thread.start()
        return () if self._is_behind else self._judge.judge(sample, jobs)

    @property
    def judged_in_s(self) -> float | None:
        """Return the seconds until it has watched for long enough to judge, at least one before it has the past."""
        in_s = self._judge.judged_in_s
        return max(1.0, in_s or 0.0) if self._is_behind else in_s

    @property
    def _is_behind(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        """Wait until the judge has received the past."""
        if self._thread:
            self._thread.join()

    def _show(self, begins_s: float) -> None:
        show_past(self._judge, self._name, self._selection, begins_s, lambda: self._latest_s)


def show_past(judge: Judging, name: str, selection: Selection, begins_s: float, now: Callable[[], float]) -> None:
    """Give a judge the minutes before the start of a box, up to ``now``, which moves on during the call."""
    past = Past(name, selection, begins_s)
    monitor = Monitor(past, judge)
    while past.time_s + STEP_S < now():
        monitor.step()


class _RareHost(HostReader):
    """Reads the host once a minute: it takes a quarter of the time of a sample, and few detectors need it."""

    _last: Host | None = None
    _due_s = 0.0

    def read(self, now_monotonic: float) -> Host:
        """Return the values of /proc for this minute."""
        if self._last is None or now_monotonic >= self._due_s:
            self._due_s = now_monotonic + _HOST_EVERY_S
            self._last = super().read(now_monotonic)
        return self._last
