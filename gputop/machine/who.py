"""Whose a process is and what it runs, for messages and the audit log: two reads, with nothing remembered but names."""

from collections.abc import Callable
from typing import Final

from gputop.core.text import clean, decode
from gputop.machine.procfs import Proc

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8


class Who:
    """Names processes. ``users`` is asked once per uid, since it may ask a directory over the network."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None]) -> None:
        self._proc = proc
        self._users = users
        self._names: dict[int, str] = {}

    def user(self, pid: int) -> str:
        """Return the name of the real user, ``somebody`` where it cannot be read. Never raises."""
        try:
            uid = int(self._proc.read(f"{pid}/status").partition(b"\nUid:")[2].split(None, 1)[0])
        except (OSError, IndexError, ValueError):
            return "somebody"
        if uid not in self._names:
            self._names[uid] = clean(self._users(uid) or str(uid))
        return self._names[uid]

    def command(self, pid: int, name: bytes) -> str:
        """Return the command line, cleaned; the name in brackets where there is none. Never raises."""
        try:
            raw = self._proc.read(f"{pid}/cmdline")[:_LONGEST_BYTES]
        except OSError:
            raw = b""
        return decode(raw.replace(b"\0", b" ")).strip()[:_LONGEST] or f"[{decode(name)}]"
