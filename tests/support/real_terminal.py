"""A program in a real terminal: a pty, an emulator that shows the screen, keys and signals."""

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

GPUTOP: Final = (sys.executable, "-m", "gputop")
ENTER, ESCAPE, DOWN, F1, CTRL_Z = "\r", "\x1b", "\x1b[B", "\x1bOP", "\x1a"
PATIENCE_S: Final = 60.0  # only ever waited for when a test fails
_AGAIN_S: Final = 2.0
_ANSWERS: Final = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c"}


class Terminal:
    """A program, which the terminal is the controlling one of. ``written``: all bytes that it wrote."""

    def __init__(self, command: Sequence[str], size: tuple[int, int], environment: Mapping[str, str]) -> None:
        self.written = bytearray()
        self._screen = pyte.Screen(*size)
        self._emulator = pyte.ByteStream(self._screen)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                _resize(0, size)
                os.execvpe(command[0], list(command), dict(environment))  # noqa: S606 - as a shell does
            finally:
                os._exit(127)

    @property
    def lines(self) -> list[str]:
        """What is seen."""
        return list(self._screen.display)

    @property
    def text(self) -> str:
        """What is seen, as one line without frames; of lines with a dialog on them the dialog's part."""
        return " ".join(" ".join(_innermost(line) for line in self.lines).split())

    def until(self, *wanted: str) -> None:
        """Wait until all of this is seen; fail with what is seen instead."""
        self.until_so(lambda: all(each in self.text for each in wanted), f"never seen: {wanted}")

    def until_gone(self, text: str) -> None:
        """Wait until something is not seen any more."""
        self.until_so(lambda: text not in self.text, f"still seen: {text}")

    def until_so(self, is_so: Callable[[], bool], why: str) -> None:
        """Read until something holds; fail where it never does."""
        if not self._sees(is_so, PATIENCE_S):
            pytest.fail("\n".join([why + self._ended(), *self.lines]))

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._fd, keys.encode())

    def insist(self, keys: str, wanted: str) -> None:
        """Type until something is seen: a question does not take what is typed before it was drawn."""
        for _ in range(int(PATIENCE_S / _AGAIN_S)):
            self.press(keys)
            if self._sees(lambda: wanted in self.text, _AGAIN_S):
                return
        self.until(wanted)

    def insist_until_gone(self, keys: str, text: str) -> None:
        """Type until something is not seen any more, and not once more: later keys mean something else."""
        for _ in range(int(PATIENCE_S / _AGAIN_S)):
            self.press(keys)
            if self._sees(lambda: text not in self.text, _AGAIN_S):
                return
        self.until_gone(text)

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        _resize(self._fd, (columns, lines))
        self._screen.resize(lines, columns)

    def hang_up(self) -> None:
        """Go away, as a lost connection does."""
        os.close(self._fd)
        self._fd = -1

    def end(self) -> int:
        """Read until the program has ended; return its exit status, or minus the signal that ended it."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self._fd >= 0:
                self._take(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                self._drain()
                return os.waitstatus_to_exitcode(status)
        pytest.fail("\n".join(["it does not end", *self.lines]))

    def children(self) -> list[int]:
        """Return the processes that the program started."""
        return [int(word) for word in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def close(self) -> None:
        """End what is left."""
        if self.pid:
            for pid in (*self.children(), self.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._fd >= 0:
            os.close(self._fd)

    def _ended(self) -> str:
        """Return how the program ended, if it did."""
        pid, status = os.waitpid(self.pid, os.WNOHANG) if self.pid else (0, 0)
        self.pid = 0 if pid else self.pid
        return f" (it ended with status {os.waitstatus_to_exitcode(status)})" if pid else ""

    def _sees(self, is_so: Callable[[], bool], patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while not is_so():
            if time.monotonic() > deadline or not self._take(0.2):
                return is_so()
        return True

    def _drain(self) -> None:
        """Take what the program wrote before it ended."""
        while self._fd >= 0 and select.select([self._fd], [], [], 0)[0] and self._take(0):
            pass

    def _take(self, patience_s: float) -> bool:
        """Take the written bytes; return whether the program still has the terminal."""
        if not select.select([self._fd], [], [], patience_s)[0]:
            return True
        try:
            data = os.read(self._fd, 65_536)
        except OSError:  # EIO: the other end is closed
            return False
        self.written += data
        self._emulator.feed(data)
        for query, answer in _ANSWERS.items():
            if query in data:
                os.write(self._fd, answer)
        return bool(data)


@contextmanager
def terminal(
    *command: str, environment: Mapping[str, str] = os.environ, size: tuple[int, int] = (120, 44), **changed: str
) -> Iterator[Terminal]:
    """Run a program in a terminal of this size, columns and lines; ``changed``: more of its environment."""
    usual = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    kept = {name: value for name, value in environment.items() if name not in {"NO_COLOR", "LANG", "COLUMNS", "LINES"}}
    running = Terminal(command, size, kept | usual | changed)
    try:
        yield running
    finally:
        running.close()


def _innermost(line: str) -> str:
    parts = line.split("│")
    return " ".join(parts[2:-2] if len(parts) > len("││││") else parts)


def _resize(fd: int, size: tuple[int, int]) -> None:
    columns, lines = size
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
