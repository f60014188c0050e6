"""/proc with a time limit for the files that can block their reader."""

import errno
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct

from gputop.machine.proc.procfs import Proc
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


class PatientProc:
    """Reads /proc. A file that blocks its reader raises TimeoutError, and so do the others of its process meanwhile.

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
        self._ahead: _Content | None = None
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
        ahead, self._ahead = self._ahead, None
        if ahead and ahead.path == path:
            return ahead.given()
        known = self._blocked.get(pid)
        if known and self._calls.is_late(known.call) and known.start == self._start(pid):
            raise late()
        self._check_share(pid)
        call, now = object(), self._clock()
        timeout_s = self._patience_s if now >= self._haste_until else min(self._patience_s, _HASTE_S)
        try:
            content, self._ahead = self._calls.make(call, partial(self._read, path), timeout_s)
        except TimeoutError:
            self._blocked = {each: held for each, held in self._blocked.items() if self._calls.is_late(held.call)}
            self._blocked[pid] = _Blocked(self._start(pid), call, self._uid(pid))
            self._haste_until = now + self._patience_s + _HASTE_LASTS_S
            raise
        return content

    def _read(self, path: str) -> tuple[bytes, _Content | None]:
        """Return the content of a file; after a command line also the environment, which saves a change of threads."""
        content = self._proc.read(path)
        pid, _, name = path.partition("/")
        if name != "cmdline":
            return content, None
        other = f"{pid}/environ"
        try:
            return content, _Content(other, self._proc.read(other))
        except OSError as error:
            return content, _Content(other, b"", error)

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
