"""The loop of a sampler: a frame a line on stdout every interval, commands a line on stdin, answers between frames."""

import os
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import BinaryIO, Final

from gputop.core.model.sample import Frame
from gputop.core.monitor import Source
from gputop.core.protocol.command import (
    Beat,
    Change,
    ChangeMig,
    Explain,
    Inspect,
    Question,
    ReadMig,
    ReadNow,
    ReadStatus,
    SetInterval,
    WatchHost,
)
from gputop.core.protocol.outcome import Outcome
from gputop.wire import codec
from gputop.wire.encoder import encode_into

LEAST_INTERVAL_S: Final = 0.1
LAST_CHANGES_S: Final = 5.0
SPLITTING_S: Final = 300.0


class Rhythm:
    """The time of the next step. The control thread changes it while the loop waits."""

    def __init__(
        self,
        source: Source,
        clock: Callable[[], float] = time.monotonic,
        watch_host: Callable[[float], object] = lambda _: None,
    ) -> None:
        self._source = source
        self._watch_host = watch_host
        self._clock = clock
        self._due = clock()
        self._gate = threading.Condition()

    def wait(self) -> None:
        """Wait until the next step is due. After a stall the rhythm resumes; it does not catch up."""
        with self._gate:
            self._due = max(self._due + self._source.interval_s, self._clock())
            while (rest := self._due - self._clock()) > 0:
                self._gate.wait(rest)

    def follow(self, request: SetInterval | WatchHost | ReadNow) -> None:
        """Apply a command about the samples."""
        match request:
            case SetInterval(interval_s=interval_s):
                self.change(interval_s)
            case WatchHost(for_s=for_s):
                self._watch_host(for_s)
            case ReadNow():
                self.hurry()

    def hurry(self) -> None:
        """Step at once."""
        with self._gate:
            self._due = self._clock()
            self._gate.notify()

    def change(self, interval_s: float) -> None:
        """Step at once, and from then on at this interval."""
        self._source.interval_s = max(LEAST_INTERVAL_S, interval_s)
        self.hurry()


class Lines:
    """The output of frames and answers, from several threads: each is a line of its own."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._line = bytearray()
        self._gate = threading.Lock()

    def write(self, value: Frame | codec.Answer) -> None:
        """Write a line at once. Raises BrokenPipeError if the reader exited."""
        with self._gate:
            encode_into(value, self._line)
            self._out.write(self._line)
            self._out.flush()


def serve(step: Callable[[], Frame], lines: Lines, rhythm: Rhythm, count: int | None = None) -> None:
    """Write ``count`` frames, or for ever if None. Raises BrokenPipeError if the reader exited."""
    while count is None or count > 0:
        lines.write(step())
        count = None if count is None else count - 1
        if count != 0:
            rhythm.wait()


class ChangeQueue:
    """Executes changes in a thread of its own, in their order: neither frames nor commands wait for them."""

    def __init__(self, execute: Callable[[Change], Outcome], lines: Lines, rhythm: Rhythm) -> None:
        self._execute = execute
        self._lines = lines
        self._rhythm = rhythm
        self._changes: SimpleQueue[Change | None] = SimpleQueue()
        self._is_splitting = False
        self._thread = threading.Thread(target=self._run, name="changes", daemon=True)
        self._thread.start()

    def put(self, change: Change) -> None:
        """Queue a change. Its outcome is written as a line, and a frame that shows it follows."""
        self._changes.put(change)

    def close(self, patience_s: float) -> None:
        """Finish the queue within ``patience_s``; a MIG change that has started gets longer, and is not cut off."""
        self._changes.put(None)
        self._thread.join(patience_s)
        if self._is_splitting:
            self._thread.join(SPLITTING_S)

    def _run(self) -> None:
        is_heard = True
        while (change := self._changes.get()) is not None:
            self._is_splitting = isinstance(change, ChangeMig)
            outcome = self._execute(change)
            self._is_splitting = False
            try:
                if is_heard:
                    self._lines.write(outcome)
            except OSError:
                is_heard = False  # the pipe has closed; the queue is still finished
            self._rhythm.hurry()


def end(changes: ChangeQueue, leave: Callable[[int], object] = os._exit) -> None:
    """Finish the changes and end the process: a thread may hang in the driver."""
    changes.close(LAST_CHANGES_S)
    leave(0)


def obey(
    commands: BinaryIO,
    rhythm: Rhythm,
    changes: ChangeQueue,
    leave: Callable[[int], object] = os._exit,
    *,
    questions: Callable[[Question | ReadMig], object] = lambda _: None,
    beats: Callable[[Beat], object] = lambda _: None,
) -> None:
    """Execute commands in a thread of its own; end the process when their pipe closes.

    It ends soon: a thread that hangs in the driver must not keep a sampler without a reader alive. It finishes the
    changes that arrived before the pipe closed.
    """

    def listen() -> None:
        for line in commands:
            match codec.command(line):
                case SetInterval() | WatchHost() | ReadNow() as request:
                    rhythm.follow(request)
                case codec.Problem(text=text):
                    print(f"gputop: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the log of a sampler
                case Inspect() | Explain() | ReadStatus() | ReadMig() as question:
                    questions(question)
                case Beat() as beat:
                    beats(beat)
                case change:
                    changes.put(change)
        end(changes, leave)

    threading.Thread(target=listen, name="control", daemon=True).start()
