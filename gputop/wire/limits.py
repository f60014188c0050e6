"""Limits of what a stranger may send or store: lines of JSON, their values and their flow."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.model.plausible import MOST_ROWS, fault_of, is_time
from gputop.core.model.sample import Frame

MOST_LINE_BYTES: Final = 32 * 2**20  # a frame of 2,000 processes has 1.5 MB
MOST_VALUES: Final = 1_000_000  # in a line or a frame; a process has about 50
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
    if max(len(frame.jobs), len(frame.findings)) > MOST_ROWS:
        raise ExcessError(f"a frame with more than {MOST_ROWS:,} rows")
    is_good = all(is_time(each.since_s) and is_time(each.stage_since_s) for each in frame.findings)
    fault = fault_of(frame) or ("" if is_good else "an impossible time")
    if fault:
        raise ExcessError(f"a frame with {fault}")
