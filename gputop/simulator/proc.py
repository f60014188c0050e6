"""/proc of a simulated box, behind the protocol of `machine.procfs.Proc`."""

import errno
import os
import sys
from collections.abc import Iterable
from typing import Any, Final

from gputop.simulator.clock import BoxClock
from gputop.simulator.hostfiles import HostFiles
from gputop.simulator.namespace import directory, open_files
from gputop.simulator.plan import BoxPlan, ProcessPlan
from gputop.simulator.procfiles import ProcessFiles

_INITIAL_NAMESPACE: Final = "pid:[4026531836]"  # PROC_PID_INIT_INO: the driver's pids are valid here
_OWN: Final = frozenset({"environ", "io", "fd", "exe", "cwd", "root", "ns", "maps"})  # of other users: EACCES
_SYSTEM: Final = ("loadavg", "meminfo", "pressure", "self", "stat", "sys", "uptime")


class SimulatedProc:
    """Serves the files of a plan with their content at the moment of reading."""

    def __init__(self, plan: BoxPlan, clock: BoxClock) -> None:
        present = [process for process in plan.processes if not process.is_gone]
        parents = {process.pid: process.parent for process in present}
        self._processes = {str(p.pid): ProcessFiles(p, clock, _session(p, parents)) for p in present}
        self._children = _children(parents)
        self._host = HostFiles(plan, list(self._processes.values()), clock)
        self._viewer = plan.viewer

    def process(self, tid: int) -> ProcessFiles | None:
        """Return the process that has a thread with this id."""
        found = self._processes.get(str(tid))
        return found or next((process for process in self._processes.values() if process.has(str(tid))), None)

    def children(self, pid: int) -> tuple[ProcessFiles, ...]:
        """Return the children of a process."""
        return tuple(process for process in self._processes.values() if process.plan.parent == pid)

    def change(self, process: ProcessFiles, **fields: Any) -> None:
        """Replace these fields of a process's plan from now on."""
        process.change(**fields)
        self._host.follow(list(self._processes.values()))

    def end(self, pid: int) -> None:
        """End a process: init adopts its children, and collects it at once."""
        left = {number: process for number, process in self._processes.items() if number != str(pid)}
        for process in left.values():
            if process.plan.parent == pid:
                process.change(parent=1)
        self._processes = left
        self._children = _children({process.plan.pid: process.plan.parent for process in left.values()})
        self._host.follow(list(left.values()))

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        text = self._read(path)
        if text is None:
            raise _no_entry(path)
        return text.encode("utf-8", "surrogateescape")

    def reread(self, path: str) -> bytes:
        """Return the content of a file."""
        return self.read(path)

    def forget(self, path: str) -> None:
        """Do nothing: no file is kept open."""

    def ticks(self) -> int:
        """Return a tick after every start: a simulated box never reuses a pid."""
        return sys.maxsize

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        parts = [part for part in path.split("/") if part not in {"", "."}]
        if not parts:
            return [*self._processes, *_SYSTEM]
        process = self._processes.get(parts[0])
        if process is None:
            raise _no_entry(path)
        self._need_right(process, parts[1:])
        match parts[1:]:
            case []:
                return process.names()
            case ["fd"]:
                return list(open_files(process.plan))
            case ["task"]:
                return process.tids()
            case ["task", tid] if tid in process.tids():
                return ["children", "comm", "stat"]
        raise _no_entry(path)

    def link(self, path: str) -> str:
        """Return the target of a symbolic link."""
        if path == "self/ns/pid":
            return _INITIAL_NAMESPACE
        pid, _, name = path.partition("/")
        process = self._processes.get(pid)
        if process is None:
            raise _no_entry(path)
        self._need_right(process, name.split("/"))
        if name == "exe" and process.plan.command:
            return process.plan.command[0]
        if name == "cwd":
            return directory(process.plan)
        if name.startswith("fd/") and name[3:] in (files := open_files(process.plan)):
            return files[name[3:]]
        if name == "ns/pid" and process.plan.inner_pid is None:
            return _INITIAL_NAMESPACE
        raise _no_entry(path)

    def _read(self, path: str) -> str | None:
        pid, _, rest = path.partition("/")
        process = self._processes.get(pid)
        if process is None:
            return self._host.read(path)
        parts = rest.split("/")
        self._need_right(process, parts)
        if parts[0] == "task" and parts[2:] == ["children"]:
            return self._children.get(int(pid), "") if parts[1] == pid else ""
        if parts[0] == "task" and len(parts) == 3:
            return process.read_task(parts[1], parts[2])
        return process.read(rest)

    def _need_right(self, process: ProcessFiles, parts: Iterable[str]) -> None:
        first = next(iter(parts), "")
        if first in _OWN and self._viewer not in {0, process.plan.uid}:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"{process.plan.pid}/{first}")


def _children(parents: dict[int, int]) -> dict[int, str]:
    """Return the content of ``children`` for each process; its first thread forked all of them."""
    return {parent: "".join(f"{pid} " for pid, above in parents.items() if above == parent) for parent in parents}


def _no_entry(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _session(process: ProcessPlan, parents: dict[int, int]) -> int:
    """Return the session of a process: that of its topmost ancestor below init."""
    pid = process.pid
    while (parent := parents.get(pid, 0)) > 1 and parent in parents:
        pid = parent
    return pid
