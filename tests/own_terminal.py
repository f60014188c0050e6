"""gputop's screen in a real terminal: a pty of its own, an emulator that shows what would be seen, real signals."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pyte
import pytest

PATIENCE_S: Final = 60.0
GPUTOP: Final = (sys.executable, "-m", "gputop", "--demo", "training")
_ANSWERS: Final = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c"}


class RealTerminal:
    """A program in a terminal. ``written``: all bytes that it wrote."""

    def __init__(self, command: Sequence[str], size: tuple[int, int], environment: Mapping[str, str]) -> None:
        self.written = bytearray()
        self._screen = pyte.Screen(*size)
        self._emulator = pyte.ByteStream(self._screen)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                _resize(0, size)
                usual = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
                kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "LANG"}}
                os.execvpe(command[0], list(command), kept | usual | dict(environment))  # noqa: S606 - as a shell does
            finally:
                os._exit(127)

    @property
    def text(self) -> str:
        """What is seen."""
        return "\n".join(self._screen.display)

    def until(self, wanted: str | Callable[[str], bool]) -> str:
        """Return what is seen as soon as it holds a text, or is as wanted; fail where it never is."""
        is_there = wanted if callable(wanted) else lambda seen: wanted in seen
        deadline = time.monotonic() + PATIENCE_S
        while not is_there(self.text):
            if time.monotonic() > deadline or not self._take():
                pytest.fail(f"never seen: {wanted}\n{self.text}\n{bytes(self.written[-500:])!r}")
        return self.text

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        _resize(self._fd, (columns, lines))
        self._screen.resize(lines, columns)

    def hang_up(self) -> None:
        """Go away, as a lost connection does."""
        os.close(self._fd)
        self._fd = -1

    def end(self) -> int:
        """Wait for the program to end by itself; return its exit status, or minus the signal."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self._fd >= 0:
                self._take(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        pytest.fail(f"it does not end\n{self.text}")

    def children(self, pid: int | None = None) -> list[int]:
        """Return the processes that the program started."""
        parent = self.pid if pid is None else pid
        return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]

    def close(self) -> None:
        """End what is left."""
        if self.pid:
            for pid in (*self.children(), self.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._fd >= 0:
            os.close(self._fd)

    def _take(self, patience_s: float = 1.0) -> bool:
        """Take what was written; say whether the program still has the terminal."""
        if not select.select([self._fd], [], [], patience_s)[0]:
            return True
        try:
            data = os.read(self._fd, 65_536)
        except OSError:
            return False
        self.written += data
        self._emulator.feed(data)
        for query, answer in _ANSWERS.items():
            if query in data:
                os.write(self._fd, answer)
        return bool(data)


@contextmanager
def terminal(
    command: Sequence[str] = GPUTOP,
    *,
    size: tuple[int, int] = (120, 40),
    environment: Mapping[str, str] = {},
) -> Iterator[RealTerminal]:
    """Run a program in a terminal of this size, columns and lines."""
    running = RealTerminal(command, size, environment)
    try:
        yield running
    finally:
        running.close()


def gone(pid: int) -> bool:
    """Say whether a process has ended; one that nobody has collected yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def wait_until(is_so: Callable[[], bool], why: str) -> None:
    """Wait for something that the kernel does."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            pytest.fail(why)
        select.select([], [], [], 0.01)


def _resize(fd: int, size: tuple[int, int]) -> None:
    columns, lines = size
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
