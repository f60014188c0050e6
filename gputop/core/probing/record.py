"""What one worker has said so far: events in, results out. How a worker ended is a result as well."""

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
from gputop.core.probing.result import Figure, Finding, Status, TestResult
from gputop.core.text.text import clean

_MOST_FINDINGS: Final = 256
_SICK: Final = {  # CUDA errors that are the device's own fault when they come of code that is known to be good
    214: "an uncorrectable ECC error", 220: "an uncorrectable NVLink error", 700: "an illegal address",
    702: "a launch that did not end", 714: "a hardware stack error", 715: "an illegal instruction",
    719: "a launch that failed",
}  # fmt: skip
_HINTS: Final = {
    802: "the fabric manager may not run: gputop doctor", 803: "driver and library do not match: gputop doctor",
    804: "this CUDA needs a newer driver: gputop doctor", 999: "device files may be missing: gputop doctor",
}  # fmt: skip
_KILLED: Final = frozenset({9, 15})


class Record:
    """Of one worker. ``wanted``: its tests, in order. ``current``: the test that runs."""

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
        """Take an event in."""
        match event:
            case Hello():
                self.hello = self.hello or event
            case Start():
                self.current, self.done, self.text = event.id, 0.0, ""
                self._results[event.id] = TestResult(key=event.id, status=Status.ERROR, reason="it did not end")
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
        """Return the tests that have not begun."""
        return tuple(key for key in self.wanted if key not in self._results)

    def results(self) -> tuple[TestResult, ...]:
        """Return the tests that have begun, in the order of the plan."""
        return tuple(self._results[key] for key in self.wanted if key in self._results)

    def close(self, status: Status, code: str, text: str) -> None:
        """End the test that runs, or else the next one, as the worker did."""
        key = self.current or next(iter(self.left), None)
        if key is None:
            return
        held = self._results.get(key, TestResult(key=key, status=status))
        finding = Finding(code=code, status=status, text=text)
        self._results[key] = replace(held, status=status, reason=text, findings=(*held.findings, finding))
        self.current = None

    def leave(self, keys: Iterable[str], status: Status, reason: str) -> None:
        """Say why tests were not made."""
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
                finding = Finding(
                    code=clean(event.code), status=_status(event.sev), text=clean(event.text), data=event.data
                )
                held = replace(held, findings=(*held.findings, finding))
        self._results[event.id] = held

    def _take_error(self, event: ErrorEvent) -> None:
        held = self._results.get(event.id)
        if held is None:
            return
        text = clean(event.text.partition("\n")[0])[:400]
        status, code = Status.ERROR, "test.exception"
        if event.code in _SICK:
            status, code, text = Status.FAIL, f"cuda.{event.code}", f"{_SICK[event.code]}: {text}"
        elif event.code:
            code = f"cuda.{event.code}"
            text = f"{text}; {_HINTS[event.code]}" if event.code in _HINTS else text
        self._results[event.id] = replace(held, findings=(*held.findings, Finding(code=code, status=status, text=text)))

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


def ended(status: int) -> tuple[Status, str, str]:
    """Return status, code and text for a worker that ended by itself in a test. ``status``: as of Popen."""
    if status >= 0:
        return Status.ERROR, "worker.ended", f"the worker ended with status {status}"
    if -status in _KILLED:
        return Status.ERROR, "worker.killed", f"the worker was ended by signal {-status}: somebody, or lack of memory"
    return Status.FAIL, "worker.crash", f"the worker crashed with signal {-status}"


def _status(word: str) -> Status:
    try:
        return Status(word)
    except ValueError:
        return Status.ERROR
