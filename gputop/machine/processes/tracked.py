"""The state of a pid from reading to reading, and its row in the sample."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.progress import Progress
from gputop.core.model.sample import PROCESS_READINGS, GpuProcess, HostProcess, Presence, Reasons
from gputop.core.text.text import decode
from gputop.machine.proc.cpu import SHORTEST_S
from gputop.machine.proc.stat import ProcessStat
from gputop.machine.proc.threads import ThreadWatch
from gputop.machine.processes.details import Details
from gputop.machine.processes.progress import Reporter

_UNREAD: Final[Reasons] = dict.fromkeys(("user", "command"), Missing.NOT_YET)
_RETRY_S: Final = 2.0  # for a process that blocked its readers, and for a name that is late


class Units(Struct, frozen=True):
    """The kernel's units: ticks per second, bytes per page, seconds since boot; and the boot time in epoch seconds."""

    clock_ticks: int
    page_bytes: int
    boot_s: float | None = None


class TrackedProcess:
    """A pid that the driver lists without a break.

    The process behind it may change: then it ``is_suspect``, because the driver may still mean the previous one.
    ``is_certain``: no later process can have the same start tick. ``is_resting``: it did nothing between the last two
    readings. ``seen``: the hash of the last stat line; ``read_s``: when it was read. ``uid``: None if unknown.
    """

    __slots__ = (
        "_at", "_cpu_percent", "_details", "_is_changed", "_progress", "_row", "_threads_percent", "_ticks", "_units",
        "details_due", "is_certain", "is_resting", "is_suspect", "path", "pid", "presence", "proof_due", "read_s",
        "seen", "stat", "uid", "watch",
    )  # fmt: skip

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.path = f"{pid}/stat"
        self.is_suspect = False
        self.forget(Presence.HIDDEN)

    def forget(self, presence: Presence) -> None:
        """Drop all values of the process behind the pid."""
        self.presence = presence
        self.is_certain = self.is_resting = False
        self.seen = 0
        self.read_s = 0.0
        self.stat: ProcessStat | None = None
        self.watch = ThreadWatch(self.pid)
        self.details_due = self.proof_due = 0.0
        self._details: Details | None = None
        self.uid: int | None = None
        self._cpu_percent: float | None = None
        self._threads_percent: float | None = None  # in the row
        self._progress: Progress | None = None
        self._at = self._ticks = 0.0
        self._row: HostProcess | None = None
        self._units: Units | None = None  # of the row
        self._is_changed = True

    def begin(self, seen: int, stat: ProcessStat, now: float, ticks: int) -> None:
        """Take the first stat line of a process; its CPU time counts from here on.

        ``ticks``: the clock tick before the reading. One tick between it and the start is a margin.
        """
        self.is_certain = stat.start_ticks < ticks - 1
        self._at, self._ticks = now, stat.cpu_ticks
        self.advance(seen, stat)

    def advance(self, seen: int, stat: ProcessStat) -> None:
        """Take the next stat line of the same process."""
        if self.stat and stat.name != self.stat.name:
            self.details_due = 0.0  # it now runs another program
            self._details = self.uid = None
        self.seen, self.stat = seen, stat
        self.watch.cpu_ticks = stat.cpu_ticks
        self._is_changed = True

    def measure(self, now: float, clock_ticks: int) -> None:
        """Update the CPU percentage, unless too little time has passed since the last one."""
        length = now - self._at
        if self.stat is None or length < SHORTEST_S:
            return
        percent = round(max(0.0, self.stat.cpu_ticks - self._ticks) / clock_ticks / length * 100, 1)
        self._at, self._ticks = now, self.stat.cpu_ticks
        if percent != self._cpu_percent:
            self._cpu_percent = percent
            self._is_changed = True

    @property
    def is_idle(self) -> bool:
        """Return whether it shows no CPU use, in its threads either."""
        return not self._cpu_percent and not self.watch.percent

    def judge(self, presence: Presence) -> None:
        """Record the presence of the process."""
        if presence is not self.presence:
            self.presence = presence
            self._is_changed = True

    def describe(self, details: Details, now: float, every_s: int) -> None:
        """Take the details, due again after ``every_s``; the first ones sooner, so that the processes take turns.

        The last command line and owner remain while they cannot be read again.
        """
        before = self._details
        soon_s = every_s // 2
        self.details_due = now + (every_s if before else soon_s + self.pid % soon_s)
        if details.is_user_late:
            self.details_due = now + _RETRY_S
        if details.is_incomplete:
            self.details_due = now + _RETRY_S
            if before:
                command = before.command if "command" in details.missing else details.command
                details = replace(details, command=command, owner=before.owner)
        if details != self._details:
            self._details, self.uid = details, details.uid
            self._is_changed = True

    def take_progress(self, progress: Progress | None) -> None:
        """Take the progress that the process reported."""
        if progress is not self._progress:
            self._progress = progress
            self._is_changed = True

    def row(self, uses: tuple[GpuProcess, ...], units: Units) -> HostProcess:
        """Return the current row of the process: the previous row if nothing has changed."""
        row = self._row
        is_new = self._is_changed or self._units is not units
        if row is None or is_new or self.watch.percent != self._threads_percent:
            self._is_changed, self._threads_percent, self._units = False, self.watch.percent, units
            row = self._row = self._build(uses, units, self._busiest())
        elif row.gpus != uses:
            row = self._row = replace(row, gpus=uses)
        return row

    @property
    def is_undescribed(self) -> bool:
        """Whether it lives, and its details are not read yet."""
        return self.stat is not None and self.presence is Presence.ALIVE and self._details is None

    @property
    def command(self) -> str:
        """The command line, if known."""
        return self._details.command if self._details else ""

    @property
    def inner_pid(self) -> int | None:
        """The pid in its own PID namespace, if that is different."""
        return self._details.inner_pid if self._details else None

    def reporter(self, units: Units) -> Reporter:
        """Return the key under which its reports are found."""
        ticks = self.stat.start_ticks if self.stat else None
        started_s = None if units.boot_s is None or ticks is None else units.boot_s + ticks / units.clock_ticks
        return Reporter(self.pid, self.uid, ticks, started_s, self.inner_pid)

    def _busiest(self) -> float | None:
        if self.stat is None or self.presence is not Presence.ALIVE:
            return None
        if self.stat.threads > 1 or self._cpu_percent is None:
            return self.watch.percent
        return min(100.0, self._cpu_percent)

    def _build(self, uses: tuple[GpuProcess, ...], units: Units, busiest: float | None) -> HostProcess:
        stat, details = self.stat, self._details
        if self.presence is not Presence.ALIVE:
            return HostProcess(pid=self.pid, presence=self.presence, gpus=uses)
        if stat is None:
            return HostProcess(pid=self.pid, missing=dict.fromkeys(PROCESS_READINGS, Missing.FAULT), gpus=uses)
        details = details or Details(None, f"[{decode(stat.name)}]", Owner(), None, _UNREAD)
        return HostProcess(
            pid=self.pid,
            start_ticks=stat.start_ticks if self.is_certain else None,
            inner_pid=details.inner_pid,
            started_s=None if units.boot_s is None else units.boot_s + stat.start_ticks / units.clock_ticks,
            user=details.user,
            command=details.command,
            parent_pid=stat.parent_pid,
            state=stat.state,
            nice=stat.nice,
            threads=stat.threads,
            cpu_percent=self._cpu_percent,
            busiest_thread_percent=busiest,
            memory_bytes=stat.resident_pages * units.page_bytes,
            owner=details.owner,
            progress=self._progress,
            missing=_reasons(units, details, self._cpu_percent, busiest),
            gpus=uses,
        )


def _reasons(units: Units, details: Details, cpu: float | None, busiest: float | None) -> Reasons:
    if cpu is not None and busiest is not None and units.boot_s is not None:
        return details.missing
    missing = dict(details.missing)
    if cpu is None:
        missing["cpu_percent"] = Missing.NOT_YET
    if busiest is None:
        missing["busiest_thread_percent"] = Missing.NOT_YET
    if units.boot_s is None:
        missing["started_s"] = Missing.UNSUPPORTED
    return missing
