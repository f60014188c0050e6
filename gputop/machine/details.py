"""What seldom changes of a process: its user, its command line, and whose it is."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.metric import Missing
from gputop.core.owner import Owner
from gputop.core.sample import Reasons
from gputop.core.text import clean, decode
from gputop.machine.containers import Names
from gputop.machine.owners import OwnerReader
from gputop.machine.procfs import Proc
from gputop.machine.reason import reason

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Details(Struct, frozen=True):
    """The user, the command line, the owner, and why the user is not known."""

    user: str | None
    command: str
    owner: Owner
    missing: Reasons


class DetailsReader:
    """Reads details; ``users`` is asked once per uid, since it may ask a directory over the network."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None], names: Names | None = None) -> None:
        self._proc = proc
        self._users = users
        self._owners = OwnerReader(proc, names)
        self._names: dict[int, str] = {}

    def read(self, pid: int, name: bytes, stat: bytes) -> Details:
        """Return the details. Never raises. ``stat``: the line of it, for the terminal; ``name``: as it says.

        The name is shown in brackets where there is no command line: kernel threads and zombies have none, nor a
        process that cleared it.
        """
        user = self._user(pid)
        arguments = self._arguments(pid)
        command = " ".join(arguments).strip()[:_LONGEST] or f"[{decode(name)}]"
        owner = self._owners.read(pid, stat, name, arguments)
        if isinstance(user, Missing):
            return Details(None, command, owner, {"user": user})
        return Details(user, command, owner, {})

    def _arguments(self, pid: int) -> list[str]:
        try:
            raw = self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]
        except OSError:
            return []
        return [decode(argument) for argument in raw.rstrip(b"\0").split(b"\0")]

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
