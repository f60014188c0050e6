"""A link to a sampler on another host. ssh asks for passwords on the terminal, before the screen starts."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Final

from gputop.core.model.sample import SCHEMA_VERSION, Frame
from gputop.core.protocol.command import Beat, Change, Command
from gputop.core.protocol.link import Delay, Down, News
from gputop.core.protocol.outcome import refused
from gputop.core.protocol.remote import Echo, Hello, is_known, unknown
from gputop.core.text.text import excerpt
from gputop.wire import codec
from gputop.wire.client import Client, start
from gputop.wire.encoder import encode
from gputop.wire.ssh.clock import RemoteClock
from gputop.wire.ssh.command import NOT_FOUND, Remote

SILENCE_S: Final = 20.0  # then the link is dead, whatever ssh says
OLDEST_S: Final = 5.0  # of a frame, for a change; later frames may show another process there
_BEAT_S: Final = 2.0
_LASTING: Final = frozenset({2, 3, 126, NOT_FOUND})
_NO_ENTRY: Final = ("Permission denied", "Host key verification failed", "Too many authentication failures")
_NO_OPTION: Final = "unknown option --remote"


class SshClient(Client):
    """A `Link` to ``gputop stream --remote`` on a host. ``words``: its further arguments.

    ``hello``: the last greeting. ``show``: receives what ssh prints before the first greeting, cleaned.
    ``can_ask``: ssh may ask on the terminal at first. A first connection that failed is then not tried again.
    """

    def __init__(
        self,
        remote: Remote,
        words: Sequence[str],
        show: Callable[[str], object],
        *,
        can_ask: bool = True,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.hello: Hello | None = None
        self._remote = remote
        self._words = ["stream", "--remote", *words]
        self._show = show
        self._silence_s = silence_s
        self._can_ask = can_ask
        self._is_greeted = False
        self._is_given_up = False
        self._greetings: SimpleQueue[Hello | Down] = SimpleQueue()
        self._early: list[News] = []
        self._early_gate = threading.Lock()
        self._open_receive: Callable[[News], None] | None = None
        self._clock = RemoteClock()
        self._frames = 0
        self._frame_time_s: float | None = None
        self._interval_s = 1.0
        self._heard_s = self._beat_s = time.monotonic()
        super().__init__(())
        super().open(self._keep_or_pass)
        threading.Thread(target=self._beat_on, name="beats", daemon=True).start()

    def greet(self) -> Hello | Down:
        """Wait for the greeting, while ssh may ask; return it, or why there is none. The screen is not open yet."""
        return self._greetings.get()

    def open(self, receive: Callable[[News], None]) -> None:
        """Pass on news, those that came before first."""
        with self._early_gate:
            for news in self._early:
                receive(news)
            self._early.clear()
            self._open_receive = receive

    def log_in(self) -> Hello | Down | None:
        """Connect again, while ssh may ask on the terminal, which is free for it; None if gputop connects by itself."""
        if not self._is_given_up:
            return None
        self._is_given_up, self._can_ask = False, True
        self.child = self._spawn()
        super().open(self._keep_or_pass)
        return self.greet()

    def send(self, command: Command) -> None:
        """Send a command, unless the host does not know it, or it is a change and the picture is too old."""
        hello = self.hello
        if hello is not None and not is_known(command, hello):
            self._refuse(command, f"gputop {excerpt(hello.version, 20)} on {self._remote.host} cannot do this")
        elif isinstance(command, Change) and self.age_s > (oldest_s := OLDEST_S + 2 * self._interval_s):
            why = f"the screen shows {self._remote.host} as it was more than {oldest_s:g} s ago"
            self._tell(refused(command, why, "Try again when new frames arrive."))
        else:
            super().send(command)

    def _refuse(self, command: Command, why: str) -> None:
        answer = refused(command, why, "Update it there.") if isinstance(command, Change) else unknown(command, why)
        if answer is not None:
            self._tell(answer)

    @property
    def age_s(self) -> float:
        """The age of the last frame, by the clock of the host."""
        return 0.0 if self._frame_time_s is None else self._clock.age_s(self._frame_time_s, time.time())

    def _start(self) -> subprocess.Popen[bytes]:
        """Start ssh: in the session of the terminal while it may ask, else in one of its own."""
        self._is_greeted = False
        self._frames = 0
        self._log.clear()
        self._heard_s = time.monotonic()
        command = self._remote.command(self._words, can_ask=self._can_ask)
        if not self._can_ask:
            return start(command)
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)

    def _take(self, answer: Frame | codec.Answer | codec.Problem) -> None:
        """Pass on what a line says; before the greeting a login shell may print anything."""
        self._heard_s = time.monotonic()
        match answer:
            case Hello() as hello if not self._is_greeted:
                self._take_hello(hello)
            case _ if not self._is_greeted:
                pass
            case Echo() as echo:
                self._clock.take(echo, time.time())
            case Frame() as frame:
                self._take_frame(frame)
            case _:
                super()._take(answer)

    def _take_hello(self, hello: Hello) -> None:
        if hello.schema_version > SCHEMA_VERSION:
            self._is_given_up = True
            version = excerpt(hello.version, 20)
            self._end(self.child, f"gputop {version} on {self._remote.host} is newer than this one: update gputop here")
            return
        was_asking, self._can_ask = self._can_ask, False
        self.hello, self._is_greeted = hello, True
        self._beat()
        if was_asking:
            self._greetings.put(hello)

    def _take_frame(self, frame: Frame) -> None:
        self._frames += 1
        self._frame_time_s, self._interval_s = frame.time_s, frame.interval_s
        self._beat()
        if self._clock.round_trip_s is not None:
            self._tell(Delay(age_s=self.age_s, round_trip_s=self._clock.round_trip_s))
        super()._take(frame)

    def _beat(self) -> None:
        """Report how many frames were read; without that the sampler sends no more."""
        self._beat_s = time.monotonic()
        with self._gate:
            self._write(encode(Beat(frames=self._frames, sent_s=time.time())))

    def _beat_on(self) -> None:
        """Send beats while no frames come, and end an ssh that has been silent for too long."""
        while not self._closing.wait(_BEAT_S / 2):
            if not self._is_greeted:
                continue
            if time.monotonic() - self._beat_s > _BEAT_S:
                self._beat()
            if time.monotonic() - self._heard_s > self._silence_s and self.child.poll() is None:
                self._end(self.child, f"no answer from {self._remote.host} for {self._silence_s:g} s")

    def _is_lasting(self, status: int, barren: int) -> bool:
        """Return whether another start would not help: nothing there to start, or ssh would have to ask."""
        del barren
        is_refused = any(words in line for line in self._log for words in _NO_ENTRY)
        self._is_given_up |= self._can_ask or status in _LASTING or (is_refused and not self._is_greeted)
        return self._is_given_up

    def _why(self, status: int) -> str:
        if status == 2 and any(_NO_OPTION in line for line in self._log):
            return f"gputop on {self._remote.host} is too old for --host: update it there"
        return super()._why(status)

    def _note(self, line: str) -> None:
        super()._note(line)
        if self._can_ask and not self._is_greeted:
            self._show(line)

    def _keep_or_pass(self, news: News) -> None:
        """Pass on news to the screen, or keep them until it opens."""
        if isinstance(news, Down) and self._can_ask:
            self._greetings.put(news)
        with self._early_gate:
            if self._open_receive is None:
                self._early.append(news)
                return
        self._open_receive(news)


def show_on_terminal(line: str) -> None:
    """Print what ssh says while it connects: a warning, a banner, why it failed."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the screen is not open yet
