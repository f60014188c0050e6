"""The memory of a process and its parent, for the time after their exit."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Context
from gputop.core.model.sample import HostProcess, Presence
from gputop.core.model.units import bytes_text
from gputop.core.processes.program import program_of

_DEEPEST: Final = 6  # ancestors
_LINE_EVERY: Final = 5  # samples: to look up ancestors takes time
_MEETS_S: Final = 30.0  # relatives are found within seconds, in turns


class _Link(Struct):
    """The parent of an ancestor: its pid, since when, and its command line."""

    parent_pid: int
    since_s: float
    words: str = ""


class Track:
    """A process. ``since_s``: since when it is alive, a zombie or exited. Times are those of `Context.now_s`.

    ``user``, ``children``, ``words`` (the command line): those that it had while it was alive. ``parent_words``: the
    command line of its parent, if it was shown. ``parted_s``: when its parent exited and the kernel gave it another;
    ``had_parent_s``: how long it had the parent.
    """

    __slots__ = (
        "_idle_since_s", "_line", "_state", "_with_parent_s", "children", "had_parent_s", "parent_pid",
        "parent_pid_before", "parent_words", "parted_s", "process", "seen_s", "since_s", "start_ticks", "user", "words",
    )  # fmt: skip

    def __init__(self, process: HostProcess, now_s: float, parent_words: str) -> None:
        self.process = process
        self.start_ticks = process.start_ticks
        self.words = process.command if process.presence is Presence.ALIVE and process.state != "Z" else ""
        self.user = process.user
        self.children: tuple[HostProcess, ...] = ()
        self.parent_pid = self.parent_pid_before = process.parent_pid
        self.parent_words = parent_words
        self.parted_s: float | None = None
        self.had_parent_s = 0.0
        self.since_s = self.seen_s = self._with_parent_s = now_s
        self._idle_since_s: float | None = None
        self._line: dict[tuple[int, int | None], _Link] = {}
        self._state = _kind_of(process)

    def is_of(self, process: HostProcess) -> bool:
        """Return whether this is the process that had the pid before, or the same process after its exit."""
        return process.start_ticks == self.start_ticks or has_ended(process)

    @property
    def is_alive(self) -> bool:
        """Whether it was alive, and not a zombie, in its last sample."""
        return self._state == ""

    def take(
        self,
        process: HostProcess,
        context: Context,
        of: Callable[[int | None], HostProcess | None],
        idle_percent: float,
    ) -> None:
        """Update from the process as it is now."""
        now_s = self.seen_s = context.now_s
        self.process = process
        state = _kind_of(process)
        if state != self._state:
            self._state, self.since_s = state, now_s
        if process.presence is not Presence.ALIVE:
            return
        self.user = process.user
        if state == "":
            self.words = process.command
            children = context.relatives.get(process.pid)
            if children is not None:
                self.children = tuple(children)
        if process.parent_pid != self.parent_pid:
            self._part(process, now_s)
        elif not self.parent_words and now_s - self._with_parent_s < _MEETS_S:
            self.parent_words = _words(of(process.parent_pid))
        if context.number % _LINE_EVERY == 0:
            self._follow_line(of(process.parent_pid), of, now_s)
        self._rest(process, context, idle_percent)

    def idle_s(self, now_s: float) -> float | None:
        """Return the seconds for which it has been idle on its GPUs; None if it works or if that is unknown."""
        return None if self._idle_since_s is None else now_s - self._idle_since_s

    def _part(self, process: HostProcess, now_s: float) -> None:
        """Note a new parent: the kernel gives one only to a child whose parent exited."""
        if self.parent_pid is not None and self.parent_pid > 1 and process.parent_pid is not None:
            self.parted_s, self.had_parent_s = now_s, now_s - self._with_parent_s
            self.parent_pid_before = self.parent_pid
        self.parent_pid, self._with_parent_s = process.parent_pid, now_s

    def _follow_line(
        self, one: HostProcess | None, of: Callable[[int | None], HostProcess | None], now_s: float
    ) -> None:
        """Follow the parents of its ancestors: the launcher that exits may have started only a wrapper of it."""
        for _ in range(_DEEPEST):
            if one is None or one.parent_pid is None or program_of(one.command).is_border:
                return
            link = self._line.get((one.pid, one.start_ticks))
            if link is None:
                link = self._line[one.pid, one.start_ticks] = _Link(one.parent_pid, now_s)
            link.words = link.words or _words(of(link.parent_pid))
            if one.parent_pid != link.parent_pid:
                if link.parent_pid > 1:
                    self.parted_s, self.had_parent_s = now_s, now_s - link.since_s
                    self.parent_pid_before, self.parent_words = link.parent_pid, link.words
                self._line[one.pid, one.start_ticks] = _Link(one.parent_pid, now_s)
            one = of(one.parent_pid)

    def _rest(self, process: HostProcess, context: Context, idle_percent: float) -> None:
        is_idle = bool(process.gpus)
        for use in process.gpus:
            if use.sm_percent is None or use.sm_percent > idle_percent:
                is_idle = False
        if not is_idle:
            self._idle_since_s = None
        elif self._idle_since_s is None:
            self._idle_since_s = context.now_s


def has_ended(process: HostProcess) -> bool:
    """Return whether the driver lists a process that no longer exists."""
    presence = process.presence  # compared, not looked up in a set: that would hash it, in Python
    return presence is Presence.GONE or presence is Presence.REUSED


def _words(process: HostProcess | None) -> str:
    return process.command if process else ""


def memory_of(process: HostProcess) -> int | None:
    """Return the bytes that a process holds on all of its GPUs; None if one of them is unknown."""
    held = 0
    for use in process.gpus:
        if use.memory_bytes is None:
            return None
        held += use.memory_bytes
    return held


def held_text(held: int | None) -> str:
    """Return the result of `memory_of` as text."""
    return "an unknown amount of memory" if held is None else bytes_text(held)


def _kind_of(process: HostProcess) -> str:
    if process.state == "Z":
        return "Z"
    return "gone" if has_ended(process) else ""
