"""A terminal for a full-screen program: it sends a modern terminal's answers, and keeps the program's output."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence
from typing import Final, NoReturn

from processes import Stat, family, is_alive

COLUMNS: Final = 200
ROWS: Final = 60
_ANSWERS: Final = {
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",  # synchronized output: known, and off
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",  # reports of the size within the stream: unknown
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
}
_CURSOR_MODE: Final = re.compile(rb"\x1b\[\?1([hl])")
_PATIENCE_S: Final = 3.0
_TYPING_S: Final = 0.7


class EndedError(Exception):
    """The program ended too early. The text is the end of its output."""


class Terminal:
    """Runs a program from its creation until `close`. ``chunks``: all its output, with the time."""

    def __init__(self, command: Sequence[str]) -> None:
        self.started_s = time.monotonic()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            _become(command)
        self.chunks: list[tuple[float, bytes]] = []
        self._tail = b""
        self._arrow = b"\x1b["

    @property
    def written(self) -> int:
        """Return how many bytes the program has written."""
        return sum(len(data) for _, data in self.chunks)

    def run(self, seconds: float) -> None:
        """Let the program run, and take its output."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.wait(left)

    def wait(self, timeout_s: float) -> float | None:
        """Return the time of the program's next output; None if there is none."""
        if not select.select([self._fd], [], [], timeout_s)[0]:
            return None
        now = time.monotonic()
        try:
            data = os.read(self._fd, 65_536)
        except OSError:  # the program has ended
            raise EndedError(f"it ended: {self._last_words()}") from None
        self.chunks.append((now, data))
        self._answer(data)
        return now

    def press_arrow(self, letter: bytes) -> float:
        """Press the key Up (A) or Down (B), in the form that the program has chosen; return the time."""
        now = time.monotonic()
        os.write(self._fd, self._arrow + letter)
        return now

    def type(self, text: str) -> None:
        """Type keys one after the other, with time for each answer."""
        for sign in text:
            os.write(self._fd, sign.encode())
            self.run(_TYPING_S)

    def close(self) -> None:
        """End the program and its descendants; kill those that do not exit."""
        started = family(self.pid)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for stat in started:
                if is_alive(stat) and (stat.pid == self.pid or number is signal.SIGKILL):
                    os.kill(stat.pid, number)
            self._drain_until_gone(started)
        os.close(self._fd)
        os.waitpid(self.pid, 0)

    def _drain_until_gone(self, started: list[Stat]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while any(is_alive(stat) for stat in started) and time.monotonic() < deadline:
            if select.select([self._fd], [], [], 0.05)[0]:
                try:
                    os.read(self._fd, 65_536)
                except OSError:
                    time.sleep(0.05)

    def _last_words(self) -> str:
        return repr(b"".join(data for _, data in self.chunks)[-300:].decode("utf-8", "replace").strip())

    def _answer(self, data: bytes) -> None:
        seen = self._tail + data
        for query, answer in _ANSWERS.items():
            if seen.find(query, max(0, len(self._tail) - len(query) + 1)) >= 0:
                os.write(self._fd, answer)
        modes = _CURSOR_MODE.findall(seen)
        self._arrow = (b"\x1bO" if modes[-1] == b"h" else b"\x1b[") if modes else self._arrow
        self._tail = seen[-16:]


def _become(command: Sequence[str]) -> NoReturn:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    try:
        os.execvpe(command[0], list(command), environment)  # noqa: S606 - that is the point
    finally:
        os._exit(127)
