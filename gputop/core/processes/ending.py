"""Advice on how to end processes, which never ends more than it says.

The first process of a PID namespace, which is the main process of a container, takes all others with it. The kernel
gives it pid 1 inside; gputop sends no signal to a process that has pid 1 outside too.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from gputop.core.model.sample import HostProcess

_MOST: Final = 32
_INIT: Final = 1


def end_command(*processes: HostProcess) -> str:
    """Return ``gputop signal SIGTERM --pid 4711``; of a first process it says what ends with it."""
    if any(process.pid == _INIT for process in processes):
        return "stop the container from outside: its first process is among them"
    command = " ".join(("gputop signal SIGTERM", *(f"--pid {process.pid}" for process in processes)))
    return command + _with(processes)


def kill_command(processes: Iterable[HostProcess], user: str | None) -> str:
    """Return ``kill -9 77 78`` for the processes of this user, and to ask the owners of the others; empty for none."""
    known = [process for process in processes if process.pid != _INIT][:_MOST]
    own = [process for process in known if user is not None and process.user == user]
    kill = [f"kill -9 {' '.join(str(process.pid) for process in own)}{_with(own)}"] if own else []
    ask = [f"ask {process.user or 'the owner'} about {process.pid}" for process in known if process not in own]
    return ", ".join([*kill, *ask])


def is_first(process: HostProcess) -> bool:
    """Return whether a process is the first of a PID namespace: its end is the end of all processes in there."""
    return _INIT in {process.inner_pid, process.pid}


def _with(processes: Sequence[HostProcess]) -> str:
    first = [str(process.pid) for process in processes if is_first(process)]
    which = f" of {' and '.join(first)}" if len(processes) > 1 else ""
    return f" (ends the whole container{which})" if first else ""
