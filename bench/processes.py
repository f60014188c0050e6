"""The cost of a program and its descendants: CPU time and memory, from /proc."""

import os
from typing import Final

from msgspec import Struct

_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")


class Stat(Struct, frozen=True):
    """A line of /proc/PID/stat. ``cpu_s``: its own and that of the children that it has reaped."""

    pid: int
    parent: int
    start_ticks: int
    cpu_s: float


def family(root: int) -> list[Stat]:
    """Return the process and its descendants."""
    running = {stat.pid: stat for name in os.listdir("/proc") if name.isdecimal() and (stat := _stat(int(name)))}
    found = [running[root]] if root in running else []
    for parent in found:
        found += [stat for stat in running.values() if stat.parent == parent.pid]
    return found


def cpu_s(root: int) -> float:
    """Return CPU time, user and system, of the process and its descendants, including those that exited."""
    return sum(stat.cpu_s for stat in family(root))


def pss_bytes(root: int) -> int:
    """Return the proportional set size: private pages, and this family's share of each shared page."""
    return sum(_pss(stat.pid) for stat in family(root))


def is_alive(stat: Stat) -> bool:
    """Return whether the process still runs and is the same one."""
    now = _stat(stat.pid)
    return now is not None and now.start_ticks == stat.start_ticks


def _stat(pid: int) -> Stat | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if words[0] == b"Z":
        return None
    ticks = sum(int(word) for word in words[11:15])  # utime, stime, cutime, cstime
    return Stat(pid=pid, parent=int(words[1]), start_ticks=int(words[19]), cpu_s=ticks * _TICK_S)


def _pss(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:"))
    except (OSError, StopIteration):
        return 0
