"""A `Player` of a recording: its playback in a thread of its own. It refuses all changes of the machine."""

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox
from gputop.core.protocol.command import Change, Command, Explain, Inspect, ReadMig, ReadStatus
from gputop.core.protocol.link import News
from gputop.core.protocol.outcome import refused
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.wire.tape.playback import Playback
from gputop.wire.tape.reader import Tape

RECORDING: Final = "this is a recording"


class TapePlayer:
    """Plays a recording from its start."""

    def __init__(self, tape: Tape, clock: Callable[[], float] = time.monotonic) -> None:
        self._playback = Playback(tape, clock)
        self._changed = threading.Condition()
        self._requests: deque[Callable[[], None]] = deque()
        self._is_taken = True
        self._is_closed = False
        self._receive: Callable[[News], None] | None = None

    def open(self, receive: Callable[[News], None]) -> None:
        """Play, in a thread of its own."""
        self._receive = receive
        threading.Thread(target=self._run, name="replay", daemon=True).start()

    def send(self, command: Command) -> None:
        """Answer a command: a recording allows no changes and no questions."""
        if self._receive is None:
            return
        if isinstance(command, Change):
            self._receive(refused(command, RECORDING, "Nothing in it can be changed."))
        elif isinstance(command, Inspect):
            problem = f"{RECORDING}: it has no details of a process beyond the frames"
            pid, start_ticks = command.pid, command.start_ticks
            self._receive(Inspection(id=command.id, pid=pid, start_ticks=start_ticks, problem=problem))
        elif isinstance(command, Explain):
            problem = f"{RECORDING}: its processes cannot be asked"
            self._receive(Explanation(id=command.id, members=command.members, is_complete=True, problem=problem))
        elif isinstance(command, ReadStatus):
            seen = tuple(
                ProcessStatus(pid=each.pid, start_ticks=each.start_ticks, is_running=None) for each in command.targets
            )
            self._receive(ProcessStatuses(id=command.id, statuses=seen))
        elif isinstance(command, ReadMig):
            self._receive(MigBox(id=command.id, problem=f"{RECORDING}: it does not contain the MIG layouts"))

    def close(self) -> None:
        """Stop."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def play(self) -> None:
        """Play, or pause; at the end start again."""
        self._request(self._playback.play)

    def step(self, frames: int) -> None:
        """Pause, this many frames later or earlier."""
        self._request(partial(self._playback.step, frames))

    def move(self, seconds: float) -> None:
        """Continue this many seconds later or earlier."""
        self._request(partial(self._playback.move, seconds))

    def go(self, at_s: float) -> None:
        """Continue from this position."""
        self._request(partial(self._playback.go, at_s))

    def faster(self, steps: int) -> None:
        """Select the next higher or lower speed."""
        self._request(partial(self._playback.faster, steps))

    def loop(self) -> None:
        """Start again at the end, or do not."""
        self._request(self._playback.loop)

    def find(self) -> None:
        """Pause at the next frame with a finding that is not in this one."""
        self._request(self._playback.find)

    def taken(self) -> None:
        """Confirm that the last batch was shown."""
        with self._changed:
            self._is_taken = True
            self._changed.notify()

    def _request(self, request: Callable[[], None]) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify()

    def _run(self) -> None:
        while self._wait():
            while self._requests:
                self._requests.popleft()()
            stretch = self._playback.take()
            if stretch is not None and self._receive is not None:
                self._is_taken = False
                self._receive(stretch)

    def _wait(self) -> bool:
        """Wait until something is due and the last batch was shown; return whether to continue."""
        with self._changed:
            while not self._is_closed:
                if not self._is_taken:
                    self._changed.wait()
                elif self._requests or (wait_s := self._playback.due_s()) == 0.0:
                    return True
                else:
                    self._changed.wait(wait_s)
            return False
