"""The GPU work of MPS clients, which MPS ends before a signal ends the process.

A client that is killed while it works can put its server into the state FAULT, which ends the work of all clients.
"""

import signal
import time
from collections.abc import Callable
from typing import Final

from gputop.core.protocol.outcome import Result, Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.handle import TargetHandle
from gputop.machine.mps.daemon import MpsDaemon, MpsError

_PATIENCE_S: Final = 5.0  # for all targets of a change
_STEP_S: Final = 0.05
_HARMLESS: Final = frozenset(
    {0, signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG,
     signal.SIGWINCH}
)  # fmt: skip
_HANDLED: Final = (b"SigBlk", b"SigIgn", b"SigCgt")
_ENDED: Final = "MPS ended its GPU work first"
_NOT_ENDED: Final = "MPS did not end its GPU work first, so other MPS clients may fail: {}"

Opened = Callable[[int, float], MpsDaemon | None]
"""Returns the daemon that the process of a pid uses, given a deadline in monotonic seconds. Raises MpsError."""


class MpsWork:
    """Ends GPU work through MPS, for at most 5 s per change: then the signals follow all the same.

    ``runs``: whether a server runs at all.
    """

    def __init__(
        self,
        opened: Opened,
        runs: Callable[[], bool] = lambda: True,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._opened = opened
        self._runs = runs
        self._clock = clock
        self._pause = pause
        self._until_s = 0.0

    def begin(self) -> None:
        """Begin a change."""
        self._until_s = self._clock() + _PATIENCE_S

    def end(self, handle: TargetHandle, audit: Audit, check: Callable[[], None]) -> str:
        """End the GPU work of a process; return what happened, or an empty text if it is no client.

        ``check`` raises an error if the process must not be signalled; it is called before anything is changed.
        """
        try:
            daemon = self._opened(handle.pid, self._until_s)
            server = daemon.server_of(handle.pid) if daemon else None
        except MpsError as error:
            return f"unknown whether it is an MPS client: {error}" if self._runs() else ""
        if daemon is None or server is None:
            return ""
        check()
        what = f"MPS terminate_client {server} {handle.pid}"
        audit.intend(handle, what)
        try:
            reason = self._end(daemon, server, handle.pid)
        except MpsError as error:
            reason = str(error)
        detail = _NOT_ENDED.format(reason) if reason else _ENDED
        status = Status.FAILED if reason else Status.DONE
        target = handle.target
        result = Result(pid=target.pid, start_ticks=target.start_ticks, status=status, detail=reason)
        audit.conclude(result, handle, what)
        return detail

    def _end(self, daemon: MpsDaemon, server: int, client: int) -> str:
        """End the work and wait until the server has no such client; return why it still has, if it does."""
        daemon.end_work(server, client)
        while client in daemon.clients(server):
            if self._clock() >= self._until_s:
                return "it is still a client after 5 s"
            self._pause(_STEP_S)
        return ""


def ends_at_once(number: int, status: bytes) -> bool:
    """Say whether a signal ends a process without a chance to finish its GPU work.

    ``status``: the text of /proc/PID/status. A program that handles the signal ends its work itself.
    """
    if number == signal.SIGKILL:
        return True
    return number not in _HARMLESS and not any(_has(number, status, name) for name in _HANDLED)


def _has(number: int, status: bytes, name: bytes) -> bool:
    words = status.partition(b"\n" + name + b":")[2].split(None, 1)
    try:
        return bool(int(words[0], 16) >> (number - 1) & 1)
    except (IndexError, ValueError):
        return False
