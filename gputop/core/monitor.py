"""The sentence to read first: `Monitor.step` reads the machine and makes a frame of what it said."""

from typing import Protocol

from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame, Job, Sample
from gputop.core.processes.jobs import JobFinder


class Source(Protocol):
    """Where samples come from: the machine, the simulator, or a test. ``interval_s``: that is asked for."""

    interval_s: float

    def read(self) -> Sample:
        """Take a sample. Never raises for what a driver or a process does; absent values carry their reason."""
        ...


class Judging(Protocol):
    """Who looks at each sample: a `Judge`, maybe behind something."""

    def judge(self, sample: Sample, jobs: tuple[Job, ...]) -> tuple[Finding, ...]:
        """Return what is wrong as of this sample, the gravest first."""
        ...


class Monitor:
    """Turns samples into frames. Without a judge there are no findings."""

    def __init__(self, source: Source, judge: Judging | None = None) -> None:
        self.source = source
        self._sequence = 0
        self._jobs = JobFinder()
        self._judge = judge

    def step(self) -> Frame:
        """Read once and return the frame."""
        sample = self.source.read()
        self._sequence += 1
        known = {name: getattr(sample, name) for name in Sample.__struct_fields__}
        jobs = self._jobs.find(sample.processes, sample.relatives)
        findings = self._judge.judge(sample, jobs) if self._judge else ()
        return Frame(sequence=self._sequence, jobs=jobs, findings=findings, **known)
