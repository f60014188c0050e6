"""The values of a process that seldom change: user, command line, owner."""

from collections.abc import Callable
from functools import cache
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Reasons
from gputop.core.text.text import clean, decode
from gputop.machine.proc.procfs import Proc, reason
from gputop.machine.proc.stat import parse_uid
from gputop.machine.processes.containers import Names
from gputop.machine.processes.owners import OwnerReader

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Details(Struct, frozen=True):
    """User and uid, command line, owner, the pid in the process's own namespace; the reason for a missing user."""

    user: str | None
    command: str
    owner: Owner
    inner_pid: int | None
    missing: Reasons
    uid: int | None = None


class DetailsReader:
    """Reads details; ``users`` is called once per uid, since it may query a directory over the network."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None], names: Names | None = None) -> None:
        self._proc = proc
        self._user = cache(lambda uid: clean(users(uid) or str(uid)))
        self._owners = OwnerReader(proc, names)

    def read(self, pid: int, name: bytes, stat: bytes) -> Details:
        """Return the details. Never raises. ``stat``: the stat line, for the terminal; ``name``: from that line.

        The name in brackets replaces a missing command line: kernel threads and zombies have none, nor has a process
        that cleared it.
        """
        status, why = b"", Missing.FAULT
        try:
            status = self._proc.read(f"{pid}/status")
        except OSError as error:
            why = reason(error)
        uid, inner_pid = parse_uid(status), _inner_pid(status, pid)
        arguments = self._arguments(pid)
        command = " ".join(arguments).strip()[:_LONGEST] or f"[{decode(name)}]"
        owner = self._owners.read(pid, stat, name, arguments)
        if uid is None:
            return Details(None, command, owner, inner_pid, {"user": why})
        return Details(self._user(uid), command, owner, inner_pid, {}, uid)

    def _arguments(self, pid: int) -> list[str]:
        try:
            raw = self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]
        except OSError:
            return []
        return [decode(argument) for argument in raw.rstrip(b"\0").split(b"\0")]


def _inner_pid(status: bytes, pid: int) -> int | None:
    """Return the last pid of NSpid, that of the innermost namespace, if it is different from ours."""
    words = status.partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
    inner = int(words[-1]) if words and words[-1].isdigit() else pid
    return None if inner == pid else inner
