"""User and command line of a process, for messages and the audit log, with a time limit and without secrets."""

from collections.abc import Callable
from typing import Final

from gputop.core.secrets.mask import masked_arguments
from gputop.core.text.text import decode
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_uid
from gputop.machine.processes.users import PATIENCE_S, UserNames
from gputop.machine.timed_calls import TimedCalls

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class ProcessNames:
    """Names processes. ``users`` names the user of a uid, and is called once for each."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None], patience_s: float = PATIENCE_S) -> None:
        self._proc = proc
        self._files = Files(proc)
        self._users = UserNames(users, patience_s)
        self._patience_s = patience_s
        self._calls = TimedCalls()

    def user(self, pid: int) -> str:
        """Return the name of the real user, ``an unknown user`` if it cannot be read.

        If a directory server does not answer, the number remains.
        """
        uid = parse_uid(self._files.raw(f"{pid}/status"))
        if uid is None:
            return "an unknown user"
        try:
            return self._users.name(uid)
        except OSError:
            return str(uid)

    def command(self, pid: int, name: bytes) -> str:
        """Return the command line, cleaned and with secrets masked; the name in brackets if there is none.

        The kernel reads the command line from the memory of the process, and waits for the lock of its memory map: for
        ever, if the thread that holds it is stuck. Such a process is the very one that users want to end.
        """
        try:
            raw = self._calls.make(pid, lambda: self._proc.read(f"{pid}/cmdline"), self._patience_s)
        except OSError:
            raw = b""
        arguments = [decode(argument) for argument in raw[:_LONGEST_BYTES].rstrip(b"\0").split(b"\0")]
        return " ".join(masked_arguments(arguments)).strip()[:_LONGEST] or f"[{decode(name)}]"
