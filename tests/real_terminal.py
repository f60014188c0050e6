"""gputop in a terminal of its own: a pseudo-terminal that is read as people see it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pyte
import pytest

PATIENCE_S = 30.0  # only ever waited for when a test fails
_AGAIN_S = 2.0
ENTER, ESCAPE = "\r", "\x1b"


class Terminal:
    """A program in a terminal."""

    def __init__(self, child: "subprocess.Popen[bytes]", ours: int, size: tuple[int, int]) -> None:
        self.child = child
        self._ours = ours
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """Return what stands on it now as one line, without frames; where a dialog lies, the dialog."""
        return " ".join(" ".join(_innermost(line) for line in self._screen.display).split())

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._ours, keys.encode())

    def until(self, *wanted: str) -> None:
        """Wait until all of this stands there; fail with what stands there instead."""
        if not self._sees(lambda: all(each in self.text for each in wanted)):
            pytest.fail(f"never shown: {wanted}\n" + "\n".join(self._screen.display))

    def until_gone(self, text: str) -> None:
        """Wait until something does not stand there any more."""
        if not self._sees(lambda: text not in self.text):
            pytest.fail(f"still shown: {text}\n" + "\n".join(self._screen.display))

    def insist(self, keys: str, wanted: str) -> None:
        """Type until something stands there: a question does not take what is typed before it was drawn."""
        for _ in range(int(PATIENCE_S / _AGAIN_S)):
            self.press(keys)
            if self._sees(lambda: wanted in self.text, _AGAIN_S):
                return
        self.until(wanted)

    def end(self) -> int:
        """Read until the program has ended, and return its exit status."""
        self._sees(lambda: False)
        return self.child.wait(PATIENCE_S)

    def _sees(self, is_there: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
        """Read until that holds; whether it did before the time was over or the program had ended."""
        until_s = time.monotonic() + patience_s
        while not is_there():
            rest_s = until_s - time.monotonic()
            if rest_s <= 0 or not select.select([self._ours], [], [], rest_s)[0]:
                return False
            read = b""
            with suppress(OSError):  # EIO: the other end is closed
                read = os.read(self._ours, 65536)
            if not read:
                return is_there()
            self._stream.feed(read)
        return True


def _innermost(line: str) -> str:
    parts = line.split("│")
    return " ".join(parts[2:-2] if len(parts) > len("││││") else parts)


@contextmanager
def in_a_terminal(
    *arguments: str, environment: dict[str, str], size: tuple[int, int] = (120, 44)
) -> Iterator[Terminal]:
    """Run gputop in a terminal; it ends with the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", size[1], size[0], 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "gputop", *arguments],
        env=environment | {"TERM": "xterm-256color"}, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(child, ours, size)
    finally:
        child.terminate()
        os.close(ours)
        child.wait(PATIENCE_S)
