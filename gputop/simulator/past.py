"""The minutes before a simulated box began to run: what a judge must have seen to judge what lasts."""

from typing import Final

from gputop.core.model.sample import Host, Sample
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
    """A source that reads a box of its own, 5 s further with each sample. ``begins_s``: when the box begins to run.

    ``time_s``: of the sample before, seconds since the epoch as ``begins_s`` is. It may be read beyond the beginning.
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
        """Go on by a step and take a sample."""
        self.time_s += STEP_S
        self._box.script.follow()
        return self._source.read()

    def _clock(self) -> float:
        return self.time_s - self._origin_s


class _RareHost(HostReader):
    """Reads the host once a minute: it takes a quarter of the time of a sample, and hardly anybody asks for it."""

    _last: Host | None = None
    _due_s = 0.0

    def read(self, now_monotonic: float) -> Host:
        """Return what /proc said in this minute."""
        if self._last is None or now_monotonic >= self._due_s:
            self._due_s = now_monotonic + _HOST_EVERY_S
            self._last = super().read(now_monotonic)
        return self._last
