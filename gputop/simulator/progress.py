"""The progress reports of the jobs of a simulated box."""

from collections.abc import Iterable, Iterator, Sequence
from math import exp

from gputop.core.model.progress import Progress, TorchMemory
from gputop.machine.processes.progress import Reporter
from gputop.simulator.clock import BoxClock
from gputop.simulator.plan import BoxPlan, Steps, Use

_EVERY_S = 5.0
_CONTEXT_BYTES = 600 << 20


class SimulatedReports:
    """Replaces `machine.processes.progress.ProgressReader`."""

    def __init__(self, plan: BoxPlan, clock: BoxClock) -> None:
        self.pids = {process.pid: process.steps for process in plan.processes if process.steps}
        self._uses = {process.pid: process.uses for process in plan.processes if process.steps}
        self._clock = clock
        self._reported: dict[int, Progress] = {}

    def read_new(self, uids: Iterable[int], now: float) -> None:
        """Take the last reports of the jobs, which report every five seconds."""
        del uids, now
        for pid, steps in self.pids.items():
            reported = _reported(steps, self._uses[pid], self._clock)
            if reported != self._reported.get(pid):
                self._reported[pid] = reported

    def of(self, reporter: Reporter) -> Progress | None:
        """Return the last report of a process."""
        return self._reported.get(reporter.pid)


def _reported(steps: Steps, uses: Sequence[Use], clock: BoxClock) -> Progress:
    last_s = clock.running() if steps.stops_s is None else min(clock.running(), steps.stops_s)
    last_s -= last_s % _EVERY_S
    step = min(steps.total, max(0, int((last_s - steps.began_s) * steps.per_s)))
    return Progress(
        time_s=clock.boot_s + clock.uptime_s + last_s,
        step=step,
        total=steps.total,
        loss=round(1.6 + steps.loss * exp(-3 * step / steps.total), 3),
        rate_per_s=steps.per_s,
        torch=tuple(_torch(steps.cached_bytes, uses, last_s)),
    )


def _torch(cached_bytes: float | None, uses: Sequence[Use], time_s: float) -> Iterator[TorchMemory]:
    """Return the memory of PyTorch, whose CUDA context is the rest of what the process uses."""
    if cached_bytes is not None:
        for device, use in enumerate(uses):
            reserved = round(use.memory.at(time_s) - _CONTEXT_BYTES)
            allocated = reserved - round(cached_bytes)
            yield TorchMemory(device=device, allocated=allocated, reserved=reserved, peak=allocated)
