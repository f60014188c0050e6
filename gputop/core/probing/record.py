"""The record of one worker: events in, results out. The end of a worker is also a result."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from gputop.core.probing.events import (
    Beat,
    Digest,
    End,
    ErrorEvent,
    Event,
    FindingEvent,
    Hello,
    MetricEvent,
    Params,
    Progress,
    Start,
    Summary,
)
from gputop.core.probing.result import Figure, TestFinding, TestResult, TestStatus
from gputop.core.text.text import clean

_MOST_FINDINGS: Final = 256
_DEVICE_ERRORS: Final = {  # CUDA errors that are the device's own fault when they come of code that is known to be good
    214: "uncorrectable ECC error", 220: "uncorrectable NVLink error", 700: "illegal address",
    702: "launch timeout", 714: "hardware stack error", 715: "illegal instruction",
    719: "launch failure",
}  # fmt: skip
_HINTS: Final = {
    802: "is the fabric manager running? See gputop doctor", 803: "driver and library do not match, see gputop doctor",
    804: "this CUDA version needs a newer driver, see gputop doctor",
    999: "device files may be missing, see gputop doctor",
}  # fmt: skip
_KILLED: Final = frozenset({9, 15})


class Record:
    """The events of one worker as results. ``wanted``: its tests, in order. ``current``: the running test."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self.wanted = tuple(wanted)
        self.hello: Hello | None = None
        self.current: str | None = None
        self.done = 0.0
        self.text = ""
        self.turns = 0
        self.is_summed = False
        self.error: ErrorEvent | None = None
        self._results: dict[str, TestResult] = {}

    def take(self, event: Event) -> None:
        """Add an event."""
        match event:
            case Hello():
                self.hello = self.hello or event
            case Start():
                self.current, self.done, self.text = event.id, 0.0, ""
                self._results[event.id] = TestResult(
                    key=event.id, status=TestStatus.ERROR, reason="the test did not complete"
                )
            case Progress():
                self.done, self.text = min(1.0, max(0.0, event.done)), clean(event.msg)[:80]
            case Beat():
                self.turns = event.n
            case ErrorEvent():
                self.error = event
                self._take_error(event)
            case End():
                self._end(event)
            case Summary():
                self.is_summed = True
            case _:
                self._add(event)

    @property
    def left(self) -> tuple[str, ...]:
        """Return the tests that have not started."""
        return tuple(key for key in self.wanted if key not in self._results)

    def results(self) -> tuple[TestResult, ...]:
        """Return the results of the tests that have started, in the order of the plan."""
        return tuple(self._results[key] for key in self.wanted if key in self._results)

    def close(self, status: TestStatus, code: str, text: str) -> None:
        """End the running test, or else the next one, with the worker's own end."""
        key = self.current or next(iter(self.left), None)
        if key is None:
            return
        held = self._results.get(key, TestResult(key=key, status=status))
        finding = TestFinding(code, status, text)
        self._results[key] = replace(held, status=status, reason=text, findings=(*held.findings, finding))
        self.current = None

    def leave(self, keys: Iterable[str], status: TestStatus, reason: str) -> None:
        """Set the reason why tests did not run."""
        for key in keys:
            if key not in self._results:
                self._results[key] = TestResult(key=key, status=status, reason=reason)

    def _add(self, event: Params | MetricEvent | FindingEvent | Digest) -> None:
        held = self._results.get(event.id)
        if held is None:
            return
        match event:
            case Params():
                held = replace(held, params=held.params | event.params)
            case MetricEvent():
                figure = Figure(
                    name=event.name, value=event.value, unit=event.unit, n=event.n, p5=event.p5, p95=event.p95
                )
                held = replace(held, figures=(*held.figures, figure))
            case Digest():
                held = replace(held, digests=held.digests | {event.key: event.value})
            case FindingEvent() if len(held.findings) < _MOST_FINDINGS:
                finding = TestFinding(clean(event.code), _status(event.sev), clean(event.text), event.data)
                held = replace(held, findings=(*held.findings, finding))
        self._results[event.id] = held

    def _take_error(self, event: ErrorEvent) -> None:
        held = self._results.get(event.id)
        if held is None:
            return
        text = clean(event.text.partition("\n")[0])[:400]
        status, code = TestStatus.ERROR, "test.exception"
        if event.code in _DEVICE_ERRORS:
            status, code, text = TestStatus.FAIL, f"cuda.{event.code}", f"{_DEVICE_ERRORS[event.code]}: {text}"
        elif event.code:
            code = f"cuda.{event.code}"
            text = f"{text}; {_HINTS[event.code]}" if event.code in _HINTS else text
        self._results[event.id] = replace(held, findings=(*held.findings, TestFinding(code, status, text)))

    def _end(self, event: End) -> None:
        held = self._results.get(event.id)
        self.current = None
        if held is None:
            return
        statuses = [_status(event.status), *(finding.status for finding in held.findings)]
        status = min(statuses, key=lambda one: one.rank)  # what was found outweighs what the worker makes of it
        self._results[event.id] = replace(
            held, status=status, reason=clean(event.reason)[:400], duration_s=event.dur_s
        )  # fmt: skip


def ended(status: int) -> tuple[TestStatus, str, str]:
    """Return status, code and text for a worker that ended during a test. ``status``: from Popen."""
    if status >= 0:
        return TestStatus.ERROR, "worker.ended", f"the worker exited with status {status}"
    if -status in _KILLED:
        return (
            TestStatus.ERROR,
            "worker.killed",
            f"the worker was killed by signal {-status}, by a user or for lack of memory",
        )
    return TestStatus.FAIL, "worker.crash", f"the worker crashed with signal {-status}"


def _status(word: str) -> TestStatus:
    try:
        return TestStatus(word)
    except ValueError:
        return TestStatus.ERROR
