"""A link to a sampler in a child process; it restarts a sampler that died."""

import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from fcntl import F_SETPIPE_SZ, fcntl, ioctl
from termios import FIONREAD
from typing import Final

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Change, Command
from gputop.core.protocol.link import Down, News
from gputop.core.protocol.outcome import Outcome, unanswered
from gputop.core.protocol.remote import Echo, Hello
from gputop.wire import codec
from gputop.wire.back_off import BackOff
from gputop.wire.encoder import encode
from gputop.wire.limits import ExcessError, check_frame, check_line, flow_of_frames
from gputop.wire.lines import lines_of
from gputop.wire.messages import messages_of

_LASTING: Final = frozenset({2, 3})  # exit statuses that another start would not change: bad input, no driver
_RETRY_S: Final = 5.0
_LAST_WORDS_S: Final = 1.0
_EXIT_S: Final = 5.0  # from the end of its output
_LEAVE_S: Final = 1.0  # from the end of its input; usually it takes milliseconds
_TAKE_S: Final = 1.0  # to read a change; likewise
_STEP_S: Final = 0.02
_PIPE_BYTES: Final = 1_048_576  # for 2,000 processes a frame takes 1.5 MB, a command 100 kB; usual pipes hold 64 kB
_NOT_TAKEN: Final = "the sampler does not accept commands: nothing was changed"
_DIED: Final = "the sampler died before it answered: the change may have been made"
_ENTRY: Final = "import sys; sys.path[:] = filter(None, sys.path); from gputop.__main__ import main; main()"


def sampler_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of a sampler."""
    return gputop_command("stream", "--control", *arguments)


def gputop_command(*words: str) -> list[str]:
    """Return a gputop command line for this Python, without the working directory on its path."""
    return [sys.executable, "-c", _ENTRY, *words]


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a child with pipes, in a session of its own: only the screen gets Ctrl-C and Ctrl-Z. Raises OSError."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)


class Client:
    """A `Link` to a sampler in a child process. ``child`` changes when the sampler is restarted.

    Raises OSError if the system cannot start a child.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._closing = threading.Event()
        self._receive: Callable[[News], None] | None = None
        self._log: deque[str] = deque(maxlen=20)
        self._gate = threading.Lock()
        self._unanswered: dict[str, Change] = {}
        self._written_bytes = 0
        self._changes_at = 0  # where the first unanswered change begins among the written bytes
        self._excess = ""  # the limit that the sampler exceeded
        self.child = self._spawn()

    def open(self, receive: Callable[[News], None]) -> None:
        """Pass on news, from a thread of its own. The sampler has been running since this object was made."""
        self._receive = receive
        threading.Thread(target=self._run, name="link", daemon=True).start()

    def send(self, command: Command) -> None:
        """Send a command; while the sampler is down it is dropped, and a change gets an outcome that says so."""
        if isinstance(command, Change):
            self._changes_at = self._changes_at if self._unanswered else self._written_bytes
            self._unanswered[command.id] = command
        with self._gate:
            is_sent = self._write(encode(command))
        if not is_sent and isinstance(command, Change):
            self._answer_for(command, _NOT_TAKEN, "Try again when new frames arrive.")

    def close(self) -> None:
        """Close the pipes, which ends the sampler; kill it if it does not exit soon, unless it makes a change.

        Do not wait after that: it may hang in the driver.
        """
        self._closing.set()
        is_deaf = self._is_deaf()
        self._hang_up()
        if self._unanswered and not is_deaf:
            return  # it ends after the change, which may be half of a MIG layout
        try:
            self.child.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            self.child.kill()

    def _is_deaf(self) -> bool:
        """Say whether the sampler has read none of the unanswered changes, after some time to do so."""
        until = time.monotonic() + _TAKE_S
        while self._unanswered and self._unread_bytes() >= self._written_bytes - self._changes_at:
            with suppress(subprocess.TimeoutExpired):
                self.child.wait(_STEP_S)
                return False
            if time.monotonic() > until:
                return True
        return False

    def _unread_bytes(self) -> int:
        with self._gate:
            pipe = self.child.stdin
            if pipe is None or pipe.closed:
                return 0
            return int.from_bytes(ioctl(pipe, FIONREAD, bytes(4)), sys.byteorder)

    def _write(self, line: bytes) -> bool:
        """Write a line without waiting, which would block the screen. Half a line makes the pipe unusable."""
        pipe = self.child.stdin
        if pipe is None or pipe.closed:
            return False
        try:
            written = os.write(pipe.fileno(), line)
        except OSError:
            return False  # it died, which the reader reports, or it does not read
        self._written_bytes += written
        if written < len(line):
            pipe.close()
        return written == len(line)

    def _hang_up(self) -> None:
        with self._gate:
            if self.child.stdin is not None:
                self.child.stdin.close()

    def _spawn(self) -> subprocess.Popen[bytes]:
        child = self._start()
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
        for pipe in filter(None, (child.stdin, child.stdout)):
            with suppress(OSError):  # the limit of the system may be lower
                fcntl(pipe, F_SETPIPE_SZ, _PIPE_BYTES)
        self._logger = threading.Thread(target=self._keep_log, args=(child,), name="log", daemon=True)
        self._logger.start()
        return child

    def _start(self) -> subprocess.Popen[bytes]:
        return start(self._command)

    def _is_lasting(self, status: int, barren: int) -> bool:
        """Return whether another start would end so too. ``barren``: how many ended in a row without a frame."""
        return status in _LASTING and barren == 1

    def _run(self) -> None:
        back_off = BackOff()
        while True:
            pause_s = back_off.pause_s(self._hand_on())
            if self._closing.is_set():
                return
            status = self._status()
            self._logger.join(_LAST_WORDS_S)
            self._hang_up()
            for change in tuple(self._unanswered.values()):
                self._answer_for(change, _DIED, "Check the target before you try again.")
            if self._is_lasting(status, back_off.barren):
                self._tell(Down(self._why(status), None, status))
                return
            self._tell(Down(self._why(status), pause_s))
            if self._closing.wait(pause_s) or not self._start_again():
                return

    def _status(self) -> int:
        """Return the exit status of a sampler whose pipe has ended; one that continues is of no use, and is killed."""
        try:
            return self.child.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._end(self.child, "it closed its output, so gputop ended it")
            return self.child.wait()

    def _start_again(self) -> bool:
        """Start a sampler as soon as the system can; return whether it runs."""
        self._excess = ""
        while True:
            try:
                self.child = self._spawn()
            except OSError as error:  # no free process or memory, or gputop is being reinstalled
                self._tell(Down(f"cannot be started: {error.strerror}", _RETRY_S))
            else:
                if self._closing.is_set():  # `close` may have ended the old sampler
                    self._hang_up()
                    self.child.kill()
                return True
            if self._closing.wait(_RETRY_S):
                return False

    def _hand_on(self) -> int:
        """Pass on what arrives until the pipe ends; return the number of frames: 0 if it went beyond the limits."""
        try:
            frames = self._pass_on()
        except ExcessError as error:
            self._end(self.child, f"it sent {error}, so gputop ended it")
            return 0
        return 0 if self._excess else frames

    def _pass_on(self) -> int:
        frames = 0
        flow = flow_of_frames(time.monotonic)
        with self.child.stdout or nullcontext() as pipe:
            for line in lines_of(pipe):
                flow.take(len(line))
                check_line(line)
                answer = codec.answer(line)
                self._take(answer)
                frames += isinstance(answer, Frame)
        return frames

    def _take(self, answer: Frame | codec.Answer | codec.Problem) -> None:
        """Pass on what a line says."""
        match answer:
            case Frame() as frame:
                check_frame(frame)
                self._tell(frame)
            case Outcome() as outcome:
                if self._unanswered.pop(outcome.id, None) is not None:
                    self._tell(outcome)
            case codec.Problem(text=text):
                self._log.append(text)
            case Hello() | Echo():
                pass  # only remote samplers send them
            case _:
                self._tell(answer)

    def _answer_for(self, change: Change, why: str, remedy: str) -> None:
        """Send the answer to a change in place of the sampler, once."""
        if self._unanswered.pop(change.id, None) is not None:
            self._tell(unanswered(change, why, remedy))

    def _tell(self, news: News) -> None:
        if self._receive is not None and not self._closing.is_set():
            self._receive(news)

    def _keep_log(self, child: subprocess.Popen[bytes]) -> None:
        try:
            for line in messages_of(child):
                self._note(line)
        except ExcessError as error:
            self._end(child, f"it sent {error} on stderr, so gputop ended it")

    def _note(self, line: str) -> None:
        self._log.append(line)

    def _end(self, child: subprocess.Popen[bytes], excess: str) -> None:
        """End a sampler that exceeds a limit."""
        self._excess = excess
        child.kill()

    def _why(self, status: int) -> str:
        if self._excess:
            return self._excess
        if self._log:
            return self._log[-1]
        return f"killed by signal {-status}" if status < 0 else f"ended with status {status}"
