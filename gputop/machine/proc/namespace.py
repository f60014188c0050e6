"""Whether the pids in /proc are those by which this process can signal: a container may have the /proc of its host."""

import os

from gputop.machine.proc.procfs import Proc

_FIELD = b"\nNSpid:"


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
