"""/proc with a time limit for the files that can block their reader."""

import errno
import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from msgspec import Struct

from gputop.machine.proc.procfs import Proc, RealProc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_stat, parse_uid
from gputop.machine.timed_calls import TimedCalls, late

CAN_BLOCK: Final = frozenset(
    {
        "cmdline", "environ", "auxv",  # from the memory of the process: its pages may be on a dead file system
        "maps", "smaps", "smaps_rollup", "numa_maps",  # with the lock of its memory map
        "io",  # with the lock that exec holds
    }
)  # fmt: skip
_MOST_OF_A_USER: Final = 16  # processes that may hold a reader at a time, of 64 in all
_PATIENCE_S: Final = 0.3
_QUESTION_S: Final = 1.0
_HASTE_S: Final = 0.02  # the wait for a file within a second after another one blocked
_HASTE_LASTS_S: Final = 1.0


class _Blocked(Struct, frozen=True):
    """A process that blocks its readers. ``start``: in ticks; ``call``: the key of the late call; ``uid``: its user."""

    start: int | None
    call: object
    uid: int | None


class _Content(Struct, frozen=True):
    """What was read of a file, or why it was not."""

    path: str
    content: bytes
    error: OSError | None = None

    def given(self) -> bytes:
        """Return the content, or raise the error."""
        if self.error:
            raise self.error
        return self.content


class _Batch:
    """What a thread has read of several processes so far. ``is_over``: it is late, and shall not read on."""

    def __init__(self) -> None:
        self.contents: list[_Content] = []
        self.processes = 0
        self.is_over = False


class PatientProc:
    """Reads /proc. A file that blocks its reader raises TimeoutError.

    So do the other files of its process, until that reader returns.
    A stuck thread can hold the lock of its process's memory map for ever, and a user can cause that on purpose. Only
    the files of `CAN_BLOCK` need a thread.
    """

    def __init__(
        self, proc: Proc, patience_s: float = _PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._proc = proc
        self._patience_s = patience_s
        self._clock = clock
        self._calls = TimedCalls()
        self._blocked: dict[str, _Blocked] = {}  # by pid
        self._haste_until = float("-inf")
        self._ahead: dict[str, _Content] = {}  # by path; the next `read` of it takes it
        self.reread, self.forget, self.ticks = proc.reread, proc.forget, proc.ticks
        self.list, self.link = proc.list, proc.link

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises TimeoutError if the kernel does not answer in time, and BlockingIOError if too many processes block,
        or too many of its user.
        """
        pid, _, name = path.partition("/")
        if name not in CAN_BLOCK:
            return self._proc.read(path)
        ahead = self._ahead.pop(path, None)
        if ahead:
            return ahead.given()
        known = self._blocked.get(pid)
        if known and self._calls.is_late(known.call) and known.start == self._start(pid):
            raise late()
        self._check_share(pid)
        call, now = object(), self._clock()
        timeout_s = self._patience_s if now >= self._haste_until else min(self._patience_s, _HASTE_S)
        try:
            content, *more = self._calls.make(call, partial(self._read, path), timeout_s)
        except TimeoutError:
            self._block(pid, call, now)
            raise
        self._ahead = {each.path: each for each in more}
        return content.given()

    def read_ahead(self, pids: Iterable[int]) -> None:
        """Read the command lines and environments of processes, which `read` then returns once. Never raises.

        A change of threads takes longer than to read the files of one process, so this makes one for all. Drops what
        was read ahead before. While a process blocks, each of the others is read by its own.
        """
        self._ahead = {}
        now, waiting = self._clock(), [str(pid) for pid in pids]
        if self._blocked or now < self._haste_until or not waiting:
            return
        call, batch = object(), _Batch()
        try:
            self._calls.make(call, partial(self._read_all, waiting, batch), self._patience_s)
        except TimeoutError:
            batch.is_over = True
            self._block(waiting[min(batch.processes, len(waiting) - 1)], call, now)
        except BlockingIOError:
            return
        self._ahead = {each.path: each for each in tuple(batch.contents)}

    def _read_all(self, pids: Iterable[str], batch: "_Batch") -> None:
        for pid in pids:
            if batch.is_over:
                return
            batch.contents += self._read(f"{pid}/cmdline")
            batch.processes += 1

    def _block(self, pid: str, call: object, now: float) -> None:
        """Remember that a process blocks its readers."""
        self._blocked = {each: held for each, held in self._blocked.items() if self._calls.is_late(held.call)}
        self._blocked[pid] = _Blocked(self._start(pid), call, self._uid(pid))
        self._haste_until = now + self._patience_s + _HASTE_LASTS_S

    def _read(self, path: str) -> tuple[_Content, ...]:
        """Return the content of a file; after a command line also the environment, which saves a change of threads."""
        pid, _, name = path.partition("/")
        paths = (path, f"{pid}/environ") if name == "cmdline" else (path,)
        return tuple(map(self._content, paths))

    def _content(self, path: str) -> _Content:
        try:
            return _Content(path, self._proc.read(path))
        except OSError as error:
            return _Content(path, b"", error)

    def _check_share(self, pid: str) -> None:
        """Raise BlockingIOError if other processes of the same user hold all readers that one user may hold."""
        if len(self._blocked) < _MOST_OF_A_USER:
            return
        uid = self._uid(pid)
        same = sum(held.uid == uid and self._calls.is_late(held.call) for held in self._blocked.values())
        if same >= _MOST_OF_A_USER:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def _uid(self, pid: str) -> int | None:
        return parse_uid(Files(self._proc).raw(f"{pid}/status"))

    def _start(self, pid: str) -> int | None:
        stat = parse_stat(Files(self._proc).raw(f"{pid}/stat"))
        return stat.start_ticks if stat else None


def proc_of_this_machine() -> PatientProc:
    """Return /proc for a single question, which may wait longer for a process than a sample does."""
    return PatientProc(RealProc(), _QUESTION_S)
