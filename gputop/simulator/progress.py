"""What the jobs of a simulated box report of their progress."""

from collections.abc import Iterable
from math import exp

from gputop.core.model.progress import Progress
from gputop.machine.processes.progress import Teller
from gputop.simulator.clock import BoxClock
from gputop.simulator.plan import BoxPlan, Steps

_EVERY_S = 5.0


class SimulatedReports:
    """Stands in for `machine.progress.ProgressReader`."""

    def __init__(self, plan: BoxPlan, clock: BoxClock) -> None:
        self.pids = {process.pid: process.steps for process in plan.processes if process.steps}
        self._clock = clock
        self._told: dict[int, Progress] = {}

    def look(self, uids: Iterable[int], now: float) -> None:
        """Take what the jobs told last; they do so every five seconds."""
        del uids, now
        for pid, steps in self.pids.items():
            told = _told(steps, self._clock)
            if told != self._told.get(pid):
                self._told[pid] = told

    def of(self, teller: Teller) -> Progress | None:
        """Return the last report of a process."""
        return self._told.get(teller.pid)


def _told(steps: Steps, clock: BoxClock) -> Progress:
    last_s = clock.running() if steps.stops_s is None else min(clock.running(), steps.stops_s)
    last_s -= last_s % _EVERY_S
    step = min(steps.total, max(0, int((last_s - steps.began_s) * steps.per_s)))
    return Progress(
        time_s=clock.boot_s + clock.uptime_s + last_s,
        step=step,
        total=steps.total,
        loss=round(1.6 + steps.loss * exp(-3 * step / steps.total), 3),
        rate_per_s=steps.per_s,
    )
