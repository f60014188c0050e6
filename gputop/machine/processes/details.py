"""The values of a process that seldom change: user, command line, owner."""

from collections.abc import Callable
from functools import cache
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Reasons
from gputop.core.secrets.mask import masked_arguments
from gputop.core.text.text import clean, decode
from gputop.machine.proc.procfs import Proc, reason
from gputop.machine.proc.stat import parse_inner_pid, parse_uid
from gputop.machine.processes.containers import Names
from gputop.machine.processes.owners import OwnerReader

_UNREAD: Final = frozenset({Missing.BLOCKED, Missing.NOT_YET})
_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Details(Struct, frozen=True):
    """User and uid, command line, owner, the pid in the process's own namespace; the reasons for missing values."""

    user: str | None
    command: str
    owner: Owner
    inner_pid: int | None
    missing: Reasons
    uid: int | None = None

    @property
    def is_incomplete(self) -> bool:
        """Return whether the process blocked its readers, or could not be read because others do."""
        return not _UNREAD.isdisjoint((*self.missing.values(), *self.owner.missing.values()))


class DetailsReader:
    """Reads details; ``users`` is called once per uid, since it may query a directory over the network.

    ``reveal``: show secrets in command lines. The owner is always found from the whole command line.
    """

    def __init__(
        self,
        proc: Proc,
        users: Callable[[int], str | None],
        names: Names | None = None,
        *,
        reveal: bool = False,
    ) -> None:
        self._proc = proc
        self._reveal = reveal
        self._user = cache(lambda uid: clean(users(uid) or str(uid)))
        self._owners = OwnerReader(proc, names)

    def read(self, pid: int, name: bytes, stat: bytes) -> Details:
        """Return the details. Never raises. ``stat``: the stat line, for the terminal; ``name``: from that line.

        The name in brackets replaces a missing command line: kernel threads and zombies have none, nor has a process
        that cleared it.
        """
        missing: Reasons = {}
        status = b""
        try:
            status = self._proc.read(f"{pid}/status")
        except OSError as error:
            missing["user"] = reason(error)
        uid, inner_pid = parse_uid(status), parse_inner_pid(status, pid)
        if uid is None:
            missing.setdefault("user", Missing.FAULT)
        arguments = self._arguments(pid, missing)
        shown = arguments if self._reveal else masked_arguments(arguments)
        command = " ".join(shown).strip()[:_LONGEST] or f"[{decode(name)}]"
        owner = self._owners.read(pid, stat, name, arguments)
        return Details(None if uid is None else self._user(uid), command, owner, inner_pid, missing, uid)

    def _arguments(self, pid: int, missing: Reasons) -> list[str]:
        try:
            raw = self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]
        except (TimeoutError, BlockingIOError) as error:
            missing["command"] = reason(error)
            return []
        except OSError:
            return []
        return [decode(argument) for argument in raw.rstrip(b"\0").split(b"\0")]
