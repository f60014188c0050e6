"""The script of a simulated box: processes that exit."""

from msgspec.structs import replace

from gputop.simulator.clock import BoxClock
from gputop.simulator.driver import Driver
from gputop.simulator.plan import BoxPlan, Use
from gputop.simulator.proc import SimulatedProc


class Script:
    """Makes due events happen; call it before each reading of a box whose clock was moved."""

    def __init__(self, plan: BoxPlan, proc: SimulatedProc, driver: Driver, clock: BoxClock) -> None:
        self._proc = proc
        self._driver = driver
        self._clock = clock
        self._left = sorted((p.ends_s, p.pid) for p in plan.processes if p.ends_s is not None)

    def follow(self) -> None:
        """End the processes whose end is due."""
        while self._left and self._left[0][0] <= self._clock.running():
            ends_s, pid = self._left.pop(0)
            at_s = self._clock.uptime_s + ends_s

            def ended(use: Use, at_s: float = at_s) -> Use:
                return replace(use, activity=use.activity.until(at_s))

            self._proc.end(pid)
            self._driver.change(pid, ended, has_ended=True)
