"""A worker process: its pipes, read without blocking, and its end."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Final

from gputop.core.text.text import decode

_AT_ONCE: Final = 65_536
_MOST_PARTS: Final = 64  # in one reading: a worker may write faster than it is read
_LONGEST_LINE: Final = 1 << 20
_WORDS: Final = 65_536
_INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay interrupts until the block ends: inside it, an interrupt would lose track of a started process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = {number: signal.getsignal(number) for number in _INTERRUPTS}
    for number in before:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for signal_number, frame in came[:1]:
            handler = before[signal.Signals(signal_number)]
            if callable(handler):
                handler(signal_number, frame)


class Child:
    """A process that leads its own group. Raises OSError if it cannot be started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], first: bytes) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environment),
            start_new_session=True,
        )  # fmt: skip
        self._rest = b""
        self._words = b""
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        self._open = {pipe for pipe in (self._process.stdout, self._process.stderr) if pipe is not None}
        if first and self._process.stdin is not None:
            with suppress(OSError):
                os.write(self._process.stdin.fileno(), first)

    @property
    def pid(self) -> int:
        """Return its pid, which no other process has as long as the status is None."""
        return self._process.pid

    def descriptors(self) -> list[int]:
        """Return the pipes that may still deliver data."""
        return [pipe.fileno() for pipe in self._open]

    def lines(self) -> Iterator[bytes]:
        """Return the available lines of stdout, and keep the last of stderr."""
        self._words = (self._words + self._read(self._process.stderr))[-_WORDS:]
        raw = self._rest + self._read(self._process.stdout)
        *lines, self._rest = raw.split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self._rest = b""
        yield from (line for line in lines if line)

    def status(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def hang_up(self) -> None:
        """Close its stdin, which asks it to end."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def end(self, *, is_hard: bool) -> None:
        """Send SIGTERM or SIGKILL to its group, unless it has exited: until then the group's number is its own."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL if is_hard else signal.SIGTERM)

    def close(self) -> None:
        """Close the pipes, and kill the process if it still runs."""
        self.end(is_hard=True)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._open = set()

    @property
    def last_words(self) -> str:
        """Return the end of stderr, line by line."""
        return "\n".join(decode(line) for line in self._words.splitlines())

    def _read(self, pipe: IO[bytes] | None) -> bytes:
        """Return the available content of a pipe, without waiting."""
        parts: list[bytes] = []
        while len(parts) < _MOST_PARTS and pipe is not None and pipe in self._open:
            try:
                part = os.read(pipe.fileno(), _AT_ONCE)
            except BlockingIOError:
                break
            except OSError:
                part = b""
            if not part:
                self._open.discard(pipe)
                break
            parts.append(part)
        return b"".join(parts)
