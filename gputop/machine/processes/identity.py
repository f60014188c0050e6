"""User and command line of a process, for messages and the audit log, with a time limit and without secrets."""

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from gputop.core.secrets.mask import masked_arguments
from gputop.core.text.text import clean, decode
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_uid

T = TypeVar("T")

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8
_PATIENCE_S: Final = 0.3
_MOST_WAITING: Final = 8  # threads that may hang at a time


class ProcessNames:
    """Names processes. ``users`` names the user of a uid, and is called once for each."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None], patience_s: float = _PATIENCE_S) -> None:
        self._proc = proc
        self._files = Files(proc)
        self._users = users
        self._patience_s = patience_s
        self._waiting: list[threading.Thread] = []
        self._names: dict[int, str] = {}

    def user(self, pid: int) -> str:
        """Return the name of the real user, ``an unknown user`` if it cannot be read.

        If a directory server does not answer, the number remains.
        """
        uid = parse_uid(self._files.raw(f"{pid}/status"))
        if uid is None:
            return "an unknown user"
        if uid not in self._names:
            self._names[uid] = clean(self._in_time(lambda: self._users(uid) or "") or str(uid))
        return self._names[uid]

    def command(self, pid: int, name: bytes) -> str:
        """Return the command line, cleaned and with secrets masked; the name in brackets if there is none.

        The kernel reads the command line from the memory of the process, and waits for the lock of its memory map: for
        ever, if the thread that holds it is stuck. Such a process is the very one that users want to end.
        """
        raw = self._in_time(lambda: self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]) or b""
        arguments = [decode(argument) for argument in raw.rstrip(b"\0").split(b"\0")]
        return " ".join(masked_arguments(arguments)).strip()[:_LONGEST] or f"[{decode(name)}]"

    def _in_time(self, work: Callable[[], T]) -> T | None:
        """Return the result of ``work``; None after a time-out or an OSError."""
        answer: list[T] = []

        def run() -> None:
            try:
                answer.append(work())
            except OSError:
                return

        self._waiting = [thread for thread in self._waiting if thread.is_alive()]
        if len(self._waiting) >= _MOST_WAITING:
            return None
        thread = threading.Thread(target=run, name="process-names", daemon=True)
        self._waiting.append(thread)
        thread.start()
        thread.join(self._patience_s)
        return answer[0] if answer else None
