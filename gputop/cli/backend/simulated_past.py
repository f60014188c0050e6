"""Gives the judge of a simulated box a past, so that it can say at once what takes it minutes to see.

The past is told in a thread of its own: 15 minutes take a few seconds, and until then nothing is found.
"""

from threading import Thread

from gputop.core.model.finding import Finding
from gputop.core.model.sample import Job, Sample
from gputop.core.monitor import Judging, Monitor
from gputop.core.query.selection import Selection


class JudgeWithPast:
    """A judge who is shown the minutes before the first sample. ``name``: of the simulated box."""

    def __init__(self, judge: Judging, name: str, selection: Selection) -> None:
        self._judge = judge
        self._name = name
        self._selection = selection
        self._teller: Thread | None = None
        self._latest_s = 0.0

    def judge(self, sample: Sample, jobs: tuple[Job, ...]) -> tuple[Finding, ...]:
        """Return what is wrong as of this sample; nothing while the past is being told."""
        self._latest_s = sample.time_s
        if self._teller is None:
            self._teller = Thread(target=self._tell, args=(sample.time_s,), name="past", daemon=True)
            self._teller.start()
        return () if self._teller.is_alive() else self._judge.judge(sample, jobs)

    def wait(self) -> None:
        """Wait for the end of the past."""
        if self._teller:
            self._teller.join()

    def _tell(self, now_s: float) -> None:
        from gputop.simulator.past import STEP_S, Past

        past = Past(self._name, self._selection, now_s)
        monitor = Monitor(past, self._judge)
        while past.time_s + STEP_S < self._latest_s:  # the present goes on meanwhile
            monitor.step()
