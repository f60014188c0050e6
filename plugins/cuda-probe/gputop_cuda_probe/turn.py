"""One test's turn: what it may use, how it reports, and when it has to end."""

import math
import threading
import time
from typing import Any, Final

import torch

from gputop_cuda_probe.faults import Faults
from gputop_cuda_probe.lines import Lines

_PROGRESS_EVERY_S: Final = 0.5
_MOST_FINDINGS: Final = 64  # reported in full; the rest is counted
_CPU_ROOM: Final = 1 << 30
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


class StoppedError(Exception):
    """The parent wants the worker to end."""


class SkippedError(Exception):
    """The test cannot be made here; the text says why."""


class Device:
    """The device that the tests run on."""

    def __init__(self, kind: str, index: int, memory: float, budget_bytes: int | None) -> None:
        self.kind = kind
        self.index = index
        self.count = 1
        self.numbers: tuple[int, ...] = ()
        self.torch = torch.device(kind, 0) if kind == "cuda" else torch.device("cpu")
        self.memory = memory
        self.budget_bytes = budget_bytes

    @property
    def is_cpu(self) -> bool:
        """Return whether a CPU replaces the GPU: then sizes are small."""
        return self.kind == "cpu"

    def label(self, place: int) -> int:
        """Return the index that gputop has for one of the devices that are seen."""
        return self.numbers[place] if len(self.numbers) == self.count else place

    def wait(self) -> None:
        """Wait until all that was asked of the device is done. Raises what went wrong there."""
        if not self.is_cpu:
            torch.cuda.synchronize()

    def room(self) -> int:
        """Return the bytes that a test may take now: of what is free, and of the budget."""
        free = _CPU_ROOM if self.is_cpu else int(torch.cuda.mem_get_info()[0] * self.memory)
        return free if self.budget_bytes is None else min(free, self.budget_bytes)

    def clear(self) -> None:
        """Give memory back that is kept for the next allocation."""
        if not self.is_cpu:
            torch.cuda.empty_cache()


class Turn:
    """Handed to a test. ``seconds``: how long it should take. ``seed``: of all its random numbers.

    ``is_named``: the user named this test.
    """

    def __init__(self, test: str, device: Device, lines: Lines, faults: Faults) -> None:
        self.test = test
        self.device = device
        self.faults = faults
        self.seconds = 1.0
        self.seed = 1
        self.is_named = False
        self.told_every_s = _PROGRESS_EVERY_S
        self.count = [0]
        self.stop = threading.Event()
        self.statuses: set[str] = set()
        self._lines = lines
        self._began_s = time.monotonic()
        self._told_s = 0.0
        self._said: tuple[str, tuple[float, str] | None] = ("", None)
        self._findings = 0

    def begin(self) -> None:
        """Start the clock."""
        self._began_s = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the test began."""
        return time.monotonic() - self._began_s

    def is_due(self, share: float = 1.0) -> bool:
        """Return whether this share of the time is over."""
        return self.elapsed_s >= self.seconds * share

    def tick(self, done: float | None = None, text: str = "", rate: tuple[float, str] | None = None) -> None:
        """Report that the test goes on; call it at least ten times a second. Raises `StoppedError`.

        ``rate``: how fast it goes at this moment, as value and unit; it comes before the text. Without both, the last
        ones still hold.
        """
        if text or rate is not None:
            self._said = (text, rate)
        self.count[0] += 1
        if self.stop.is_set():
            raise StoppedError
        now = time.monotonic()
        if now - self._told_s >= self.told_every_s:
            self._told_s = now
            share = min(1.0, self.elapsed_s / self.seconds) if done is None else done
            text, rate = self._said
            told = [rate_text(*rate), text] if rate is not None else [text]
            self._lines.send("progress", id=self.test, done=round(share, 3), msg=", ".join(filter(None, told)))

    def metric(self, name: str, values: "list[float] | float", unit: str) -> None:
        """Report a figure: the median of several. One that is no number is a fault of its own."""
        held = sorted(values) if isinstance(values, list) else [values]
        if not held or not all(map(math.isfinite, held)):
            self.finding("metric.nan", "fail", f"{name} is not a number", name=name)
            return
        spread = {"p5": _at(held, 0.05), "p95": _at(held, 0.95)} if len(held) > 1 else {}
        self._lines.send(
            "metric", id=self.test, name=name, value=_at(held, 0.5), unit=unit, n=len(held), **spread
        )  # fmt: skip

    def param(self, **values: Any) -> None:  # noqa: ANN401 - what JSON knows
        """Report how the test was made, so that it can be made again."""
        self._lines.send("params", id=self.test, params=values)

    def digest(self, key: str, value: str) -> None:
        """Report a fingerprint of a result, for the vote of the siblings."""
        self._lines.send("digest", id=self.test, key=key, value=value)

    def finding(self, code: str, severity: str, text: str, **data: Any) -> None:  # noqa: ANN401 - what JSON knows
        """Report what is wrong. ``severity``: fail, warn or inconclusive."""
        self.statuses.add(severity)
        self._findings += 1
        if self._findings <= _MOST_FINDINGS:
            self._lines.send("finding", id=self.test, sev=severity, code=code, text=text, data=data)


def rate_text(value: float, unit: str) -> str:
    """Return a rate for people: 752.3 TFLOP/s, 2.1 TB/s."""
    prefixes = _PREFIXES if unit == "B/s" else ()
    factor, prefix = next(((factor, prefix) for factor, prefix in prefixes if value >= factor), (1.0, ""))
    return f"{value / factor:.4g} {prefix}{unit}"


def _at(ordered: "list[float]", share: float) -> float:
    return float(ordered[min(len(ordered) - 1, int(share * len(ordered)))])
