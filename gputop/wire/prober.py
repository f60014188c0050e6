"""A probe in a child process, whose progress is passed on. Closing its stdin ends it."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Final

from msgspec import convert, to_builtins
from msgspec.json import Decoder
from msgspec.structs import replace

from gputop.core.model.foreign import harmless
from gputop.core.probing.probe import Probe
from gputop.core.probing.progress import Course, Ended, Run, Wish
from gputop.wire.client import gputop_command, start
from gputop.wire.limits import ExcessError, check_line, flow_of_frames
from gputop.wire.lines import lines_of
from gputop.wire.messages import messages_of

_NEWS: Final[Decoder[Course | Ended]] = Decoder(Course | Ended)
_PREFIX: Final = "gputop: "
_STOPPED: Final = 130


def probe_command(wish: Wish, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command line of a probe."""
    return gputop_command(*probe_words(wish, arguments))


def probe_words(wish: Wish, arguments: Sequence[str] = ()) -> list[str]:
    """Return the words of a probe after ``gputop``."""
    where = ["--device", f"cpu:{wish.cpus}"] if wish.cpus else ["--gpu", ",".join(wish.gpus)]
    force = ["--force"] if wish.is_forced else []
    return ["probe", "--control", "--level", wish.level.value, *where, *force, *arguments]


class ProbeClient:
    """A `Prober` whose runs are child processes, each followed in a thread of its own."""

    def __init__(
        self, probe: Probe | None, command: Callable[[Wish], Sequence[str]], clock: Callable[[], float]
    ) -> None:
        self.probe = probe
        self._command = command
        self._clock = clock
        self._gate = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self.run: Run | None = None

    def start(self, wish: Wish, news: Callable[[], object]) -> None:
        """Start a run, unless one is in progress."""
        if self.run is not None and not self.run.is_over:
            return
        self.run = Run(wish=wish, began_s=self._clock())
        threading.Thread(target=self._follow, args=(wish, news), name="probe", daemon=True).start()

    def stop(self) -> None:
        """Stop the run."""
        with self._gate:
            if self.run is not None and not self.run.is_over:
                self.run = replace(self.run, is_stopping=True)
                self._hang_up()

    def close(self) -> None:
        """Stop the run without news. Its workers end with it, if need be after the screen."""
        self._is_closed = True
        self.stop()

    def _hang_up(self) -> None:
        if self._child is not None and self._child.stdin is not None:
            with suppress(OSError):
                self._child.stdin.close()

    def _follow(self, wish: Wish, news: Callable[[], object]) -> None:
        def notify(**changes: object) -> None:
            with self._gate:
                if self.run is not None:
                    self.run = replace(self.run, **changes)
            if not self._is_closed:
                news()

        try:
            child = self._spawn(wish)
        except OSError as error:
            notify(problem=f"it could not start: {error.strerror}")
            return
        words = _LastWords(child)
        report = None
        try:
            for news_of in _news(child):
                match news_of:
                    case Course() as course:
                        notify(course=course)
                    case Ended(report=found):
                        report = found
        except ExcessError as error:
            words.end(f"sent {error}")
        why = words.wait()
        status = child.wait()
        with self._gate:
            self._hang_up()
        notify(**({"report": report} if report is not None else {"problem": why or _ending(status)}))

    def _spawn(self, wish: Wish) -> "subprocess.Popen[bytes]":
        child = start(self._command(wish))
        with self._gate:
            self._child = child
            if self.run is not None and self.run.is_stopping:
                self._hang_up()
        return child


class _LastWords:
    """The last line of a child's stderr, read while the child runs. A child that exceeds a limit is ended."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self._text = self._excess = ""
        self._thread = threading.Thread(target=self._read, name="probe messages", daemon=True)
        self._thread.start()

    def end(self, excess: str) -> None:
        """End the child, which exceeded a limit."""
        self._excess = f"it {excess}, so gputop ended it"
        self._child.kill()

    def wait(self) -> str:
        """Return the limit that it exceeded, or else its last line."""
        self._thread.join()
        return self._excess or self._text.removeprefix(_PREFIX)

    def _read(self) -> None:
        try:
            for line in messages_of(self._child):
                self._text = line
        except ExcessError as error:
            self.end(f"sent {error} on stderr")


def _news(child: "subprocess.Popen[bytes]") -> Iterator[Course | Ended]:
    """Yield progress and report; leave out other output. Raises ExcessError for too much of it."""
    flow = flow_of_frames(time.monotonic)
    with child.stdout or nullcontext() as pipe:
        for line in lines_of(pipe):
            flow.take(len(line))
            check_line(line)
            with suppress(ValueError, RecursionError):  # errors of msgspec and of texts are ValueErrors
                news = _NEWS.decode(line)
                yield convert(harmless(to_builtins(news)), type(news))


def _ending(status: int) -> str:
    if status == _STOPPED:
        return "stopped"
    return f"it was killed by signal {-status}" if status < 0 else f"it ended with status {status} and no result"
