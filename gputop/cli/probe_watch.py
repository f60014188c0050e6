"""Looks on while workers run: shows how far they are, and reads the driver for counters, power and heat."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TextIO

from msgspec.structs import replace

from gputop.cli.arguments import columns
from gputop.cli.probe_follow import Follower
from gputop.cli.probe_targets import Box, opened
from gputop.core.probing.result import TestResult, worst
from gputop.core.probing.watched import counters, soak
from gputop.core.sample import Gpu
from gputop.machine.probe import Job
from gputop.report.probe import Stand, progress

_READ_EVERY_S: Final = 1.0
_DRAW_EVERY_S: Final = 0.25
_SOAK: Final = "soak"
_MOST_SAMPLES: Final = 100_000


class Watch:
    """Of one run. ``seconds``: by test; ``terminal``: where progress goes, if it is one; ``follower``: is told it."""

    def __init__(
        self, box: Box, seconds: Mapping[str, float], terminal: TextIO, follower: Follower | None = None
    ) -> None:
        self._follower = follower
        self._box = box
        self._seconds = seconds
        self._terminal = terminal if terminal.isatty() else None
        self._samples: dict[str, list[Gpu]] = {}
        self._last: dict[str, Gpu] = {}
        self._read_s = 0.0
        self._drawn_s = 0.0
        self._lines = 0

    def tell(self, jobs: Sequence[Job]) -> None:
        """Look once; often enough, as it does nothing more than it has to."""
        now = time.monotonic()
        if self._box.source is not None and now - self._read_s >= _READ_EVERY_S:
            self._read_s = now
            self._read(jobs)
        if self._terminal is not None and now - self._drawn_s >= _DRAW_EVERY_S:
            self._drawn_s = now
            self._draw([_stand(job, self._seconds) for job in jobs])
        if self._follower is not None:
            self._follower.tell(jobs, {job.task.label: _stand(job, self._seconds) for job in jobs})

    def clear(self) -> None:
        """Take the progress away."""
        if self._terminal is not None and self._lines:
            self._draw([])

    def results(self) -> Callable[[str, Sequence[TestResult]], tuple[TestResult, ...]]:
        """Return what adds to the tests of a device what the driver said of it meanwhile."""
        if self._box.source is None or self._box.sample is None:
            return lambda _, tests: tuple(tests)
        before = {gpu.uuid: gpu for gpu in self._box.sample.gpus}
        fresh = opened((), self._box.demo).read()  # slow readings are kept for a while; these are new
        after = {gpu.uuid: gpu for gpu in fresh.gpus}
        wholes = {target.uuid: target.gpu for target in self._box.targets}

        def add(uuid: str, tests: Sequence[TestResult]) -> tuple[TestResult, ...]:
            whole = wholes.get(uuid, "")
            held = tuple(self._with_soak(whole, test) for test in tests)
            if whole not in before or whole not in after:
                return held
            last = self._last.get(whole, before[whole])
            return (*held, counters(before[whole], replace(after[whole], xids=last.xids)))

        return add

    def _with_soak(self, gpu: str, test: TestResult) -> TestResult:
        samples = self._samples.get(gpu)
        if test.key != _SOAK or not samples:
            return test
        figures, findings = soak(samples)
        status = worst((test.status, *(finding.status for finding in findings)))
        return replace(
            test, figures=(*test.figures, *figures), findings=(*test.findings, *findings), status=status
        )  # fmt: skip

    def _read(self, jobs: Sequence[Job]) -> None:
        if self._box.source is None:
            return
        soaking = {job.task.plan.uuid for job in jobs if job.record.current == _SOAK}
        wholes = {target.gpu for target in self._box.targets if target.uuid in soaking}
        for gpu in self._box.source.read().gpus:
            self._last[gpu.uuid] = gpu
            held = self._samples.setdefault(gpu.uuid, [])
            if gpu.uuid in wholes and len(held) < _MOST_SAMPLES:
                held.append(gpu)

    def _draw(self, stands: Sequence[Stand]) -> None:
        """Write the lines over those of before."""
        if self._terminal is None:
            return
        lines = progress(stands, columns(self._terminal.fileno()))
        up = f"\x1b[{self._lines}A" if self._lines else ""
        self._terminal.write(f"{up}\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._terminal.flush()
        self._lines = len(lines)


def _stand(job: Job, seconds: Mapping[str, float]) -> Stand:
    """Say how far a worker is, by the seconds that its tests take."""
    record = job.record
    total = sum(seconds[key] for key in record.wanted) or 1.0
    left = sum(seconds[key] for key in record.left)
    current = seconds.get(record.current or "", 0.0) * (1 - record.done)
    test = "done" if job.is_over else record.current or "starting"
    return Stand(
        label=job.task.label, test=test, done=0.0 if record.hello is None else 1 - (left + current) / total,
        left_s=0.0 if job.is_over else left + current, text=record.text,
    )  # fmt: skip
