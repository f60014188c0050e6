"""The inspection: everything that /proc reports about one process. It is slow, so it needs a thread of its own."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from gputop.core.inspection.inspection import Ancestor, Inspection, OpenFile, Thread
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Presence, Reasons
from gputop.core.protocol.command import Inspect
from gputop.core.secrets.mask import masked_arguments
from gputop.core.text.text import clean, decode
from gputop.machine.inspect.costly import CostlyParts, CostlyReader
from gputop.machine.inspect.parts import (
    memory_parts,
    parse_limits,
    parse_mappings,
    parse_transfers,
    parse_variables,
    status_fields,
)
from gputop.machine.proc.patient import proc_of_this_machine
from gputop.machine.proc.procfs import GONE, Proc, read_memory, reason
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import ProcessStat, parse_boot_s, parse_lengths, parse_stat
from gputop.machine.proc.visibility import View
from gputop.machine.processes.containers import Names
from gputop.machine.processes.identity import ProcessNames
from gputop.machine.processes.owners import OwnerReader

T = TypeVar("T")

_MOST_THREADS: Final = 512
_MOST_FILES: Final = 4096  # the links to read
_FILES_SHOWN: Final = 512
_MOST_VARIABLES: Final = 1024
_MOST_ARGUMENTS_BYTES: Final = 131_072
_DEEPEST: Final = 32
_DEVICES: Final = "/dev/nvidia"
_ENDED: Final = "it has exited"
_REUSED: Final = "it has exited, and another process has its pid now"
_NO_STAT: Final = "its stat in /proc cannot be read"


_UNREAD: Final = CostlyParts(missing=dict.fromkeys(("sockets", "shares"), Missing.UNSUPPORTED))


class Inspector:
    """Reads one process at a time. ``users`` names the user of a uid; ``names`` that of a container.

    ``costly`` reads sockets and memory shares, given the pid and the start in ticks.
    """

    def __init__(
        self,
        proc: Proc,
        users: Callable[[int], str | None],
        names: Names | None = None,
        *,
        costly: Callable[[int, int], CostlyParts] = lambda *_: _UNREAD,
        clock_ticks: int = os.sysconf("SC_CLK_TCK"),
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._proc = proc
        self._view = View(proc)
        self._process_names = ProcessNames(proc, users)
        self._owners = OwnerReader(proc, names)
        self._costly = costly
        self._clock_ticks = clock_ticks
        self._wall = wall

    def inspect(self, request: Inspect) -> Inspection:
        """Return the known values of the process. Never raises.

        The start time is compared before and after, so all values belong to this process and to no other.
        """
        before = self._identify(request)
        if isinstance(before, Inspection):
            return before
        raw, stat = before
        found = self._read(request, raw, stat)
        after = self._identify(Inspect(id=request.id, pid=request.pid, start_ticks=stat.start_ticks))
        return after if isinstance(after, Inspection) else found

    def _identify(self, request: Inspect) -> tuple[bytes, ProcessStat] | Inspection:
        """Return the stat line, raw and parsed, or an error message."""
        try:
            raw = self._proc.read(f"{request.pid}/stat")
        except GONE:
            return self._absent(request)
        except OSError as error:
            return self._nothing(request, f"{_NO_STAT}: {error.strerror}")
        stat = parse_stat(raw)
        if stat is None:
            return self._nothing(request, _NO_STAT)
        if request.start_ticks not in {None, stat.start_ticks}:
            return self._nothing(request, _REUSED, has_ended=True)
        return raw, stat

    def _absent(self, request: Inspect) -> Inspection:
        """Return the message for a pid that /proc lacks: a process with a known start time existed before."""
        if request.start_ticks is not None:
            return self._nothing(request, _ENDED, has_ended=True)
        if self._view.absence() is Presence.HIDDEN:
            return self._nothing(request, f"no such process, or it is {Presence.HIDDEN.text}")
        return self._nothing(request, "no such process", has_ended=True)

    def _nothing(self, request: Inspect, problem: str, *, has_ended: bool = False) -> Inspection:
        return Inspection(
            id=request.id, pid=request.pid, start_ticks=request.start_ticks, time_s=self._wall(), problem=problem,
            has_ended=has_ended,
        )  # fmt: skip

    def _read(self, request: Inspect, raw: bytes, stat: ProcessStat) -> Inspection:
        reading = _Reading(self._proc, request.pid, self._clock_ticks, parse_lengths(raw))
        parts = {name: part for read in _PARTS for name, part in read(reading).items()}
        environ = reading.environment(reveal=request.reveal)
        arguments = parts.pop("command")
        costly = self._costly(request.pid, stat.start_ticks)
        return Inspection(
            id=request.id,
            pid=request.pid,
            start_ticks=stat.start_ticks,
            time_s=self._wall(),
            name=decode(stat.name),
            state=stat.state,
            user=self._process_names.user(request.pid),
            started_s=self._started_s(stat),
            owner=self._owners.read(request.pid, raw, stat.name, arguments),
            ancestors=self._ancestors(stat),
            command=arguments if request.reveal else masked_arguments(arguments),
            environment=environ,
            sockets=costly.sockets,
            shares=costly.shares,
            missing=reading.missing | costly.missing,
            shortened=(*reading.shortened, *costly.shortened),
            **parts,
        )

    def _started_s(self, stat: ProcessStat) -> float | None:
        boot_s = parse_boot_s(Files(self._proc).raw("stat"))
        return None if boot_s is None else boot_s + stat.start_ticks / self._clock_ticks

    def _ancestors(self, stat: ProcessStat) -> tuple[Ancestor, ...]:
        """Return the ancestors, the parent first, up to init."""
        found: list[Ancestor] = []
        pid = stat.parent_pid
        while pid > 0 and len(found) < _DEEPEST:
            parent = parse_stat(Files(self._proc).raw(f"{pid}/stat"))
            found.append(Ancestor(pid, decode(parent.name) if parent else ""))
            pid = parent.parent_pid if parent else 0
        return tuple(found)


def inspector_of_this_machine() -> Inspector:
    """Return the inspector of processes on this machine."""
    from gputop.machine.processes.containers import ContainerFiles  # noqa: PLC0415 - not for a simulated box
    from gputop.machine.processes.reader import resolve_user  # noqa: PLC0415

    return Inspector(proc_of_this_machine(), resolve_user, ContainerFiles(), costly=CostlyReader().read)


class _Reading:
    """One reading of one process. Each part adds to ``missing`` and ``shortened``."""

    def __init__(self, proc: Proc, pid: int, clock_ticks: int, lengths: tuple[int, int]) -> None:
        self.missing: Reasons = {}
        self.shortened: list[str] = []
        self._proc = proc
        self._pid = pid
        self._clock_ticks = clock_ticks
        self._arguments_length, self._environment_length = lengths

    def arguments(self) -> dict[str, Any]:
        raw = self._memory("command", "cmdline", self._arguments_length) or b""
        if len(raw) > _MOST_ARGUMENTS_BYTES:
            self.shortened.append("command")
            raw = raw[:_MOST_ARGUMENTS_BYTES]
        if not raw:
            self.missing.setdefault("command", Missing.UNSUPPORTED)
            return {"command": ()}
        return {"command": tuple(decode(argument) for argument in raw.rstrip(b"\0").split(b"\0"))}

    def places(self) -> dict[str, Any]:
        return {"directory": self._link("directory", "cwd"), "executable": self._link("executable", "exe")}

    def environment(self, *, reveal: bool) -> tuple[Any, ...]:
        raw = self._memory("environment", "environ", self._environment_length)
        return self._first("environment", parse_variables(raw, reveal=reveal), _MOST_VARIABLES) if raw else ()

    def cgroup(self) -> dict[str, Any]:
        raw = self._file("cgroup", "cgroup") or b""
        return {"cgroup": tuple(decode(line) for line in raw.splitlines())}

    def files(self) -> dict[str, Any]:
        names = self._ask("files", self._proc.list, "fd")
        if names is None:
            return {}
        try:
            found = [OpenFile(int(name), self._target(name)) for name in names[:_MOST_FILES] if name.isdecimal()]
        except PermissionError as error:
            self.missing["files"] = reason(error)
            return {"open_files": len(names)}
        found.sort(key=lambda file: file.descriptor)
        return {
            "open_files": len(names),
            "devices": tuple(file for file in found if file.target.startswith(_DEVICES)),
            "files": self._first("files", found, _FILES_SHOWN, of=len(names)),
        }

    def threads(self) -> dict[str, Any]:
        tids = self._ask("threads", self._proc.list, "task")
        if tids is None:
            return {}
        found = [thread for tid in tids[:_MOST_THREADS] if (thread := self._thread(tid))]
        found.sort(key=lambda thread: (-thread.cpu_s, thread.tid))
        return {"threads": self._first("threads", found, _MOST_THREADS, of=len(tids)), "thread_count": len(tids)}

    def status(self) -> dict[str, Any]:
        fields = status_fields(self._file("switches", "status") or b"")
        memory = self._parsed("memory", memory_parts, fields)
        switches = self._parsed("switches", _switches, fields) or (None, None)
        return {"memory": memory, "voluntary_switches": switches[0], "involuntary_switches": switches[1]}

    def transfers(self) -> dict[str, Any]:
        raw = self._file("transfers", "io")
        return {"transfers": None if raw is None else self._parsed("transfers", parse_transfers, raw)}

    def mappings(self) -> dict[str, Any]:
        raw = self._file("mappings", "maps")
        return {"mappings": parse_mappings(raw) if raw else ()}

    def limits(self) -> dict[str, Any]:
        raw = self._file("limits", "limits")
        return {"limits": (self._parsed("limits", parse_limits, raw) or ()) if raw else ()}

    def _thread(self, tid: str) -> Thread | None:
        stat = parse_stat(Files(self._proc).raw(f"{self._pid}/task/{tid}/stat"))
        return Thread(int(tid), decode(stat.name), stat.state, stat.cpu_ticks / self._clock_ticks) if stat else None

    def _target(self, name: str) -> str:
        """Return the target of a descriptor; empty if it was closed since it was listed. Raises PermissionError."""
        try:
            return clean(self._proc.link(f"{self._pid}/fd/{name}"))
        except PermissionError:
            raise
        except OSError:
            return ""

    def _link(self, part: str, name: str) -> str | None:
        target = self._ask(part, self._proc.link, name)
        return None if target is None else clean(target)

    def _file(self, part: str, name: str) -> bytes | None:
        return self._ask(part, self._proc.read, name)

    def _memory(self, part: str, name: str, length: int) -> bytes | None:
        return self._ask(part, lambda path: read_memory(self._proc, path, length), name)

    def _ask(self, part: str, read: Callable[[str], T], name: str) -> T | None:
        try:
            return read(f"{self._pid}/{name}")
        except OSError as error:
            self.missing[part] = reason(error)
            return None

    def _parsed(self, part: str, parse: Callable[[Any], Any], text: Any) -> Any:
        try:
            return parse(text)
        except (KeyError, ValueError, IndexError):
            self.missing.setdefault(part, Missing.UNSUPPORTED)
            return None

    def _first(self, part: str, found: Sequence[Any], most: int, *, of: int | None = None) -> tuple[Any, ...]:
        if max(len(found), of or 0) > most:
            self.shortened.append(part)
        return tuple(found[:most])


_PARTS: Final = (
    _Reading.arguments, _Reading.places, _Reading.cgroup, _Reading.files, _Reading.threads, _Reading.status,
    _Reading.transfers, _Reading.mappings, _Reading.limits,
)  # fmt: skip


def _switches(fields: dict[bytes, bytes]) -> tuple[int, int]:
    return int(fields[b"voluntary_ctxt_switches"]), int(fields[b"nonvoluntary_ctxt_switches"])
