"""The values of a process that seldom change: user, command line, owner."""

from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Reasons
from gputop.core.secrets.mask import masked_arguments
from gputop.core.text.text import decode
from gputop.machine.proc.procfs import Proc, read_memory, reason
from gputop.machine.proc.stat import parse_inner_pid, parse_lengths, parse_uid
from gputop.machine.processes.containers import Names
from gputop.machine.processes.owners import OwnerReader
from gputop.machine.processes.users import UserNames

_UNREAD: Final = frozenset({Missing.BLOCKED, Missing.NOT_YET})
_NO_WORDS: Final = _UNREAD | {Missing.UNREADABLE}  # a process has a command line, which was not read
_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Details(Struct, frozen=True):
    """User and uid, command line, owner, the pid in the process's own namespace; the reasons for missing values.

    ``is_user_late``: the user is a number because the look-up of its name is late.
    """

    user: str | None
    command: str
    owner: Owner
    inner_pid: int | None
    missing: Reasons
    uid: int | None = None
    is_user_late: bool = False

    @property
    def is_incomplete(self) -> bool:
        """Return whether the process blocked its readers, or could not be read because others do."""
        return not _UNREAD.isdisjoint((*self.missing.values(), *self.owner.missing.values()))


class DetailsReader:
    """Reads details; ``users`` names users, for which it may query a directory over the network.

    ``reveal``: show secrets in command lines. The owner is always found from the whole command line.
    """

    def __init__(
        self,
        proc: Proc,
        users: UserNames,
        names: Names | None = None,
        *,
        reveal: bool = False,
    ) -> None:
        self._proc = proc
        self._reveal = reveal
        self._users = users
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
        arguments = self._arguments(pid, stat, missing)
        shown = arguments if self._reveal else masked_arguments(arguments)
        command = " ".join(shown).strip()[:_LONGEST] or f"[{decode(name)}]"
        owner = self._owners.read(pid, stat, name, arguments)
        user, is_late = (None, False) if uid is None else self._user(uid)
        if is_late:
            missing["user"] = Missing.NOT_YET  # of the name: the number is there
        return Details(user, command, owner, inner_pid, missing, uid, is_late)

    def _user(self, uid: int) -> tuple[str, bool]:
        """Return the name of a user, or else the number, and whether the name is late."""
        try:
            return self._users.name(uid), False
        except OSError:
            return str(uid), True

    def _arguments(self, pid: int, stat: bytes, missing: Reasons) -> list[str]:
        length, _ = parse_lengths(stat)
        try:
            raw = read_memory(self._proc, f"{pid}/cmdline", length)[:_LONGEST_BYTES]
        except OSError as error:
            if (why := reason(error)) in _NO_WORDS:
                missing["command"] = why
            return []
        return [decode(argument) for argument in raw.rstrip(b"\0").split(b"\0")]
