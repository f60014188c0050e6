"""What seldom changes of a process: whose it is, and its command line."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.metric import Missing
from gputop.core.sample import Reasons
from gputop.core.text import clean, decode
from gputop.machine.procfs import Proc
from gputop.machine.reason import reason

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Details(Struct, frozen=True):
    """The owner, the command line, and why the owner is not known."""

    user: str | None
    command: str
    missing: Reasons


class DetailsReader:
    """Reads details; ``users`` is asked once per uid, since it may ask a directory over the network."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None]) -> None:
        self._proc = proc
        self._users = users
        self._names: dict[int, str] = {}

    def read(self, pid: int, name: bytes) -> Details:
        """Return the details. Never raises. ``name``: shown in brackets where there is no command line.

        Kernel threads and zombies have none, nor a process that cleared it.
        """
        user = self._user(pid)
        if isinstance(user, Missing):
            return Details(None, self._command(pid, name), {"user": user})
        return Details(user, self._command(pid, name), {})

    def _command(self, pid: int, name: bytes) -> str:
        try:
            raw = self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]
        except OSError:
            raw = b""
        text = decode(raw.replace(b"\0", b" ")).strip()[:_LONGEST]
        return text or f"[{decode(name)}]"

    def _user(self, pid: int) -> str | Missing:
        """Read the owner from status: of a process that is not dumpable the directory belongs to root."""
        try:
            uid = _uid(self._proc.read(f"{pid}/status"))
        except OSError as error:
            return reason(error)
        except (IndexError, ValueError):
            return Missing.FAULT
        if uid not in self._names:
            self._names[uid] = clean(self._users(uid) or str(uid))
        return self._names[uid]


def _uid(status: bytes) -> int:
    """Return the real uid."""
    return int(status.partition(b"\nUid:")[2].split(None, 1)[0])
