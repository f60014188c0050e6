"""What seldom changes of a process: its user, its command line, and whose it is."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Reasons
from gputop.core.text.text import clean, decode
from gputop.machine.proc.procfs import Proc, reason
from gputop.machine.processes.containers import Names
from gputop.machine.processes.owners import OwnerReader

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Details(Struct, frozen=True):
    """The user and his number, the command line, the owner, the pid in its own namespace; why a user is not known."""

    user: str | None
    command: str
    owner: Owner
    inner_pid: int | None
    missing: Reasons
    uid: int | None = None


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
        status = self._status(pid)
        uid = status if isinstance(status, Missing) else _uid(status)
        inner_pid = None if isinstance(status, Missing) else _inner_pid(status, pid)
        arguments = self._arguments(pid)
        command = " ".join(arguments).strip()[:_LONGEST] or f"[{decode(name)}]"
        owner = self._owners.read(pid, stat, name, arguments)
        if isinstance(uid, Missing):
            return Details(None, command, owner, inner_pid, {"user": uid})
        return Details(self._user(uid), command, owner, inner_pid, {}, uid)

    def _arguments(self, pid: int) -> list[str]:
        try:
            raw = self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]
        except OSError:
            return []
        return [decode(argument) for argument in raw.rstrip(b"\0").split(b"\0")]

    def _status(self, pid: int) -> bytes | Missing:
        try:
            return self._proc.read(f"{pid}/status")
        except OSError as error:
            return reason(error)

    def _user(self, uid: int) -> str:
        if uid not in self._names:
            self._names[uid] = clean(self._users(uid) or str(uid))
        return self._names[uid]


def _uid(status: bytes) -> int | Missing:
    """Return the real uid. It is read from status: of a process that is not dumpable the directory belongs to root."""
    try:
        return int(status.partition(b"\nUid:")[2].split(None, 1)[0])
    except (IndexError, ValueError):
        return Missing.FAULT


def _inner_pid(status: bytes, pid: int) -> int | None:
    """Return the last pid of NSpid, which is that of the innermost namespace, if it is another than ours."""
    words = status.partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
    inner = int(words[-1]) if words and words[-1].isdigit() else pid
    return None if inner == pid else inner
