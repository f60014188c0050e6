"""Starts a sampler as a child, hands on its frames, and starts it again when it dies."""

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Final

from gputop.core.command import Command
from gputop.core.link import Down, News
from gputop.core.sample import Frame
from gputop.core.text import decode
from gputop.wire import codec

_LASTING: Final = frozenset({2, 3})  # exit statuses that another try would not change: bad input, no driver
_PAUSES_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
_LAST_WORDS_S: Final = 1.0
_ENTRY: Final = "import sys; sys.path[:] = filter(None, sys.path); from gputop.__main__ import main; main()"


def sampler_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of a sampler: this Python, without the working directory on its path."""
    return [sys.executable, "-c", _ENTRY, "stream", "--control", *arguments]


class Client:
    """A `Link` to a sampler that is a child of this process. ``child`` changes when it is started again."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._closing = threading.Event()
        self._receive: Callable[[News], None] | None = None
        self._log: deque[str] = deque(maxlen=20)
        self.child = self._spawn()

    def open(self, receive: Callable[[News], None]) -> None:
        """Hand on what arrives, from a thread of its own. The sampler has run since this object exists."""
        self._receive = receive
        threading.Thread(target=self._run, name="link", daemon=True).start()

    def send(self, command: Command) -> None:
        """Send a command; with the sampler down it is dropped."""
        try:
            pipe = self.child.stdin
            if pipe is not None:
                os.write(pipe.fileno(), codec.encode(command))
        except (OSError, ValueError):
            pass  # it has died; the reader says so

    def close(self) -> None:
        """Close the pipes, which ends the sampler; it is not waited for, as it may hang in the driver."""
        self._closing.set()
        self._hang_up()

    def _hang_up(self) -> None:
        if self.child.stdin is not None:
            self.child.stdin.close()

    def _spawn(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )  # a session of its own: Ctrl-C and Ctrl-Z are meant for the screen
        self._logger = threading.Thread(target=self._keep_log, args=(child,), name="log", daemon=True)
        self._logger.start()
        return child

    def _run(self) -> None:
        failures = 0
        while not self._closing.is_set():
            failures = 0 if self._hand_on() else failures + 1
            if self._closing.is_set():
                return
            status = self.child.wait()
            self._logger.join(_LAST_WORDS_S)
            self._hang_up()
            if status in _LASTING and failures == 1:
                self._tell(Down(self._why(status), None))
                return
            pause_s = _PAUSES_S[min(failures, len(_PAUSES_S) - 1)]
            self._tell(Down(self._why(status), pause_s))
            if self._closing.wait(pause_s):
                return
            self.child = self._spawn()

    def _hand_on(self) -> bool:
        """Hand on frames until the pipe ends; say whether there was one."""
        is_alive = False
        with self.child.stdout or nullcontext(()) as lines:
            for line in lines:
                match codec.frame(line):
                    case Frame() as frame:
                        is_alive = True
                        self._tell(frame)
                    case codec.Problem(text=text):
                        self._log.append(text)
        return is_alive

    def _tell(self, news: News) -> None:
        if self._receive is not None and not self._closing.is_set():
            self._receive(news)

    def _keep_log(self, child: subprocess.Popen[bytes]) -> None:
        with child.stderr or nullcontext(()) as lines:
            for line in lines:
                self._log.append(decode(line.rstrip()))

    def _why(self, status: int) -> str:
        if self._log:
            return self._log[-1]
        return f"killed by signal {-status}" if status < 0 else f"ended with status {status}"
