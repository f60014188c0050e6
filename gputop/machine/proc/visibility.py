"""Visibility of processes in /proc: whether a pid of the driver is in our namespace, and why a pid is missing."""

import os
from typing import Final

from gputop.core.model.sample import Presence
from gputop.machine.proc.procfs import GONE, Proc
from gputop.machine.proc.root import Files

NAMESPACE: Final = "self/ns/pid"
_INITIAL: Final = "pid:[4026531836]"  # PROC_PID_INIT_INO, the same since Linux 3.8
_DEVICES: Final = "/dev/nvidia"  # nvidia0, nvidiactl, nvidia-uvm, nvidia-caps/…
_MOST_FILES: Final = 4096
_FIELD = b"\nNSpid:"


def is_initial(link: str | None) -> bool:
    """Return whether a link of /proc/PID/ns/pid leads to the initial PID namespace."""
    return link == _INITIAL


class View:
    """The part of the machine that /proc shows."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self._is_initial: bool | None = None

    @property
    def is_initial(self) -> bool:
        """Return whether we are in the initial PID namespace, so that all pids of the machine are visible."""
        if self._is_initial is None:
            self._is_initial = is_initial(self._link(NAMESPACE))
        return self._is_initial

    def absence(self) -> Presence:
        """Return why /proc lacks a pid: GONE only if it would show every process.

        Pid 1 belongs to root and always exists: if its files cannot be read, /proc is mounted with hidepid.
        """
        return Presence.GONE if self.is_initial and Files(self._proc).raw("1/stat") else Presence.HIDDEN

    def uses_gpu(self, pid: int) -> bool | None:
        """Return whether a process has a GPU's device file open; None if that cannot be read."""
        try:
            names = self._proc.list(f"{pid}/fd")
        except OSError:
            return None
        targets = [self._link(f"{pid}/fd/{name}") for name in names[:_MOST_FILES]]
        if any(target and target.startswith(_DEVICES) for target in targets):
            return True
        return None if None in targets or len(names) > _MOST_FILES else False

    def _link(self, path: str) -> str | None:
        """Return the target of a link; None if it is not readable, an empty text if the link does not exist."""
        try:
            return self._proc.link(path)
        except GONE:
            return ""
        except OSError:
            return None


def is_ours(proc: Proc) -> bool:
    """Return whether /proc is of our own PID namespace. If not, a pid in it means another process here, or none.

    NSpid lists our pid in the namespace of /proc first, then in each below it down to our own (since Linux 4.1).
    """
    try:
        status = proc.read("self/status")
        own = proc.link("self")
    except OSError:
        return False  # we are not in it at all
    _, is_there, rest = status.partition(_FIELD)
    numbers = rest.split(b"\n", 1)[0].split()
    return own == str(os.getpid()) and (not is_there or len(numbers) == 1)
