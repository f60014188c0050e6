"""The monitor, the place to start reading: `Monitor.step` reads the machine and makes a frame of the sample."""

from typing import Protocol

from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame, Job, Sample
from gputop.core.processes.jobs import JobFinder


class Source(Protocol):
    """A source of samples: the machine, the simulator or a test. ``interval_s``: the requested interval."""

    interval_s: float

    def read(self) -> Sample:
        """Take a sample. Faults of drivers or processes never raise; missing values have their reason."""
        ...


class Judging(Protocol):
    """A judge of each sample: a `Judge`, or a wrapper around one."""

    def judge(self, sample: Sample, jobs: tuple[Job, ...]) -> tuple[Finding, ...]:
        """Return the findings as of this sample, the gravest first."""
        ...

    @property
    def judged_in_s(self) -> float | None:
        """Return the seconds until it has watched for long enough to judge; None if it has."""
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
        judged_in_s = self._judge.judged_in_s if self._judge else None
        return Frame(sequence=self._sequence, jobs=jobs, findings=findings, judged_in_s=judged_in_s, **known)
