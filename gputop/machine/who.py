"""Whose a process is and what it runs, for messages and the audit log: two reads, with nothing remembered but names."""

import threading
from collections.abc import Callable
from typing import Final

from gputop.core.text import clean, decode
from gputop.machine.procfs import Proc

_LONGEST: Final = 4096
_LONGEST_BYTES: Final = _LONGEST * 4  # of UTF-8
_PATIENCE_S: Final = 0.3
_MOST_WAITING: Final = 8  # threads that may hang at a time


class Who:
    """Names processes. ``users`` is asked once per uid, since it may ask a directory over the network."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None], patience_s: float = _PATIENCE_S) -> None:
        self._proc = proc
        self._users = users
        self._patience_s = patience_s
        self._waiting: set[threading.Thread] = set()
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
        """Return the command line, cleaned; the name in brackets where there is none. Never raises and never hangs.

        The kernel takes the command line from the memory of the process, and waits for whoever changes its memory map:
        for ever, if that thread is stuck. Such a process is the very one that somebody wants to end.
        """
        raw: list[bytes] = []
        self._waiting = {thread for thread in self._waiting if thread.is_alive()}
        if len(self._waiting) < _MOST_WAITING:
            thread = threading.Thread(target=self._read, args=(f"{pid}/cmdline", raw), name="command", daemon=True)
            self._waiting.add(thread)
            thread.start()
            thread.join(self._patience_s)
        return decode(b"".join(raw).replace(b"\0", b" ")).strip()[:_LONGEST] or f"[{decode(name)}]"

    def _read(self, path: str, into: list[bytes]) -> None:
        try:
            into.append(self._proc.read(path)[:_LONGEST_BYTES])
        except OSError:
            return  # it has ended, or hides it
