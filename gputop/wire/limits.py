"""Limits of what a stranger may send or store: lines of JSON, their values, the rows and times of a frame."""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from gputop.core.model.sample import Frame

MOST_LINE_BYTES: Final = 32 * 2**20  # a frame of 2,000 processes has 1.5 MB
MOST_VALUES: Final = 1_000_000  # in a line or a frame; a process has about 50
MOST_ROWS: Final = 100_000  # in a list
_MOST_GPUS: Final = 1024
_LATEST_S: Final = 250_000_000_000.0  # in the year 9892; a calendar ends with 9999
_LONGEST_INTERVAL_S: Final = 86_400.0
_MARKS: Final = (b",", b"{", b"[")


class ExcessError(Exception):
    """A limit was exceeded; the text names what did: ``a line of more than 32 MiB``."""


class Allowed(Struct, frozen=True):
    """An amount that may arrive at once, and per second."""

    at_once: float
    per_s: float

    def after(self, left: float, passed_s: float) -> float:
        """Return what is left of it after some time."""
        return min(self.at_once, left + passed_s * self.per_s)


class Flow:
    """The lines that may arrive: at once, and per second. ``clock``: monotonic seconds."""

    def __init__(self, clock: Callable[[], float], lines: Allowed, size: Allowed) -> None:
        self._clock = clock
        self._lines, self._bytes = lines, size
        self._left_lines, self._left_bytes = lines.at_once, size.at_once
        self._seen_s = clock()

    def take(self, size: int) -> None:
        """Count a line. Raises ExcessError."""
        now = self._clock()
        passed_s, self._seen_s = now - self._seen_s, now
        self._left_lines = self._lines.after(self._left_lines, passed_s) - 1
        self._left_bytes = self._bytes.after(self._left_bytes, passed_s) - size
        if self._left_lines < 0:
            raise ExcessError(f"more than {self._lines.per_s:g} lines a second")
        if self._left_bytes < 0:
            raise ExcessError(f"more than {self._bytes.per_s / 2**20:g} MiB a second")


def flow_of_frames(clock: Callable[[], float]) -> Flow:
    """Return the limit of frames and answers. A screen that was stopped finds as many as a pipe holds."""
    return Flow(clock, Allowed(1500, 64), Allowed(64 * 2**20, 32 * 2**20))


def flow_of_messages(clock: Callable[[], float]) -> Flow:
    """Return the limit of stderr; a plugin may print a lot when it is loaded."""
    return Flow(clock, Allowed(20_000, 1000), Allowed(4 * 2**20, 2**20))


def check_line(line: bytes | memoryview) -> None:
    """Count the values of a line of JSON before they are made. Raises ExcessError."""
    if len(line) > MOST_LINE_BYTES:
        raise ExcessError(f"a line of more than {MOST_LINE_BYTES >> 20} MiB")
    if len(line) > 2 * MOST_VALUES:  # a value takes two bytes
        raw = bytes(line)
        if sum(map(raw.count, _MARKS)) > MOST_VALUES:
            raise ExcessError(f"a line of more than {MOST_VALUES:,} values")


def check_frame(frame: Frame) -> None:
    """Check what the types allow and no host has. Raises ExcessError."""
    if len(frame.gpus) > _MOST_GPUS:
        raise ExcessError(f"a frame of more than {_MOST_GPUS} GPUs")
    rows = (frame.processes, frame.relatives, frame.jobs, frame.findings, frame.problems, frame.host.cores_percent)
    if max(map(len, rows)) > MOST_ROWS:
        raise ExcessError(f"a frame of more than {MOST_ROWS:,} rows")
    if not (0 <= frame.interval_s <= _LONGEST_INTERVAL_S and all(abs(at_s) <= _LATEST_S for at_s in _times(frame))):
        raise ExcessError("a frame with an impossible time")


def is_time(at_s: float) -> bool:
    """Say whether a calendar has this time, in seconds since the epoch, or a recording this length."""
    return 0 <= at_s <= _LATEST_S


def _times(frame: Frame) -> Iterator[float]:
    yield frame.time_s
    for gpu in frame.gpus:
        yield gpu.read_s or 0.0
        yield from (event.time_s for event in gpu.xids)
    for one in (*frame.processes, *frame.relatives):
        yield one.started_s or 0.0
        if one.progress is not None:
            yield one.progress.time_s
    for finding in frame.findings:
        yield finding.since_s
        yield finding.stage_since_s
