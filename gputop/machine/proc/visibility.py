"""What /proc lets us conclude: whether a pid of the driver is ours, and whether one that is not there is gone."""

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
    """Say whether a link of /proc/PID/ns/pid leads to the initial PID namespace."""
    return link == _INITIAL


class View:
    """How much of the machine /proc shows."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self._is_initial: bool | None = None

    @property
    def is_initial(self) -> bool:
        """Say whether we are in the initial PID namespace, so that all pids of the machine are ours."""
        if self._is_initial is None:
            self._is_initial = is_initial(self._link(NAMESPACE))
        return self._is_initial

    def absence(self) -> Presence:
        """Return what it means that /proc lacks a pid: GONE only where it would show every process.

        Pid 1 belongs to root and always is: where its files cannot be read, /proc is mounted with hidepid.
        """
        return Presence.GONE if self.is_initial and Files(self._proc).raw("1/stat") else Presence.HIDDEN

    def uses_gpu(self, pid: int) -> bool | None:
        """Say whether a process has a GPU's device file open; None where that cannot be seen."""
        try:
            names = self._proc.list(f"{pid}/fd")
        except OSError:
            return None
        targets = [self._link(f"{pid}/fd/{name}") for name in names[:_MOST_FILES]]
        if any(target and target.startswith(_DEVICES) for target in targets):
            return True
        return None if None in targets or len(names) > _MOST_FILES else False

    def _link(self, path: str) -> str | None:
        """Return where a link points, None if that may not be known; one that is gone points nowhere."""
        try:
            return self._proc.link(path)
        except GONE:
            return ""
        except OSError:
            return None


def is_ours(proc: Proc) -> bool:
    """Say whether /proc is of our own PID namespace. Else a pid in it means another process here, or none.

    NSpid has our pid in the namespace of /proc first, then in each below it down to our own (since Linux 4.1).
    """
    try:
        status = proc.read("self/status")
        own = proc.link("self")
    except OSError:
        return False  # we are not even in it
    _, is_there, rest = status.partition(_FIELD)
    numbers = rest.split(b"\n", 1)[0].split()
    return own == str(os.getpid()) and (not is_there or len(numbers) == 1)
