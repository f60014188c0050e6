"""The reader of the processes that the driver lists: one read of /proc each, and more only for changes."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gputop.core.model.sample import GpuProcess, HostProcess, Presence
from gputop.machine.proc.procfs import GONE, Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_boot_s, parse_stat
from gputop.machine.proc.threads import read_threads
from gputop.machine.proc.visibility import View
from gputop.machine.processes.containers import Names
from gputop.machine.processes.details import DetailsReader
from gputop.machine.processes.progress import Reports
from gputop.machine.processes.relatives import Family
from gputop.machine.processes.tracked import TrackedProcess, Units
from gputop.machine.processes.users import PATIENCE_S, UserNames

_CLOCK_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_PROOF_EVERY_S: Final = 10.0
_BOOT_EVERY_S: Final = 60.0
_STEADY_S: Final = 2.0  # a clock that is only slowed or sped up moves the boot time by less at a time
_DETAILS_EVERY_S: Final = 60  # setproctitle and exec change the command line, and mostly the name, which is always read
_DETAILS_PER_S: Final = 10  # read again; with more processes a round takes longer: each takes 0.1 ms
_DETAILS_S: Final = 2.0  # for the details in a reading; 3 s later the processes would count as not read
_AT_ONCE: Final = 256
_CROWD: Final = 100  # processes: if there are more, the sleeping ones take turns
_REST_S: Final = 3.5  # the longest rest, with the jitter of a sample each second


class ProcessReader:
    """Reads processes, and remembers those that the driver listed in the last reading, and their relatives; no others.

    If there are many, those that slept at their last reading take turns: of 200 and more each is read every 3 s.
    ``users`` names the user of a uid, and is called once for each; its name is a number until ``users`` returns.
    ``patience_s``: the wait for it. ``names`` knows the names of containers. ``reports``: the progress of jobs.
    ``reveal``: show secrets in command lines. ``read_ahead`` reads the files of several processes in advance.
    Details are read for ``details_s`` in each reading, of the processes in turn; the others come in the next readings.
    """

    def __init__(
        self,
        proc: Proc,
        users: Callable[[int], str | None],
        *,
        names: Names | None = None,
        reports: Reports | None = None,
        reveal: bool = False,
        patience_s: float = PATIENCE_S,
        clock_ticks: int = _CLOCK_TICKS,
        page_bytes: int = _PAGE_BYTES,
        read_ahead: Callable[[Iterable[int]], object] = lambda _: None,
        details_s: float = _DETAILS_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._proc = proc
        self._view = View(proc)
        self._details = DetailsReader(proc, UserNames(users, patience_s), names, reveal=reveal)
        self._family = Family(proc)
        self._reports = reports
        self._relatives: set[int] = set()
        self._units = Units(clock_ticks, page_bytes)
        self._ticks = 0
        self._turn = 0
        self._turns = 1
        self._read_s = 0.0
        self._boot_due = float("-inf")
        self._tracked: dict[int, TrackedProcess] = {}
        self._renewed: set[int] = set()
        self._had_reports = False  # in this reading or the last one
        self._read_ahead = read_ahead
        self._details_s = details_s
        self._clock = clock
        self._deadline = 0.0
        self._due: list[tuple[TrackedProcess, bytes]] = []  # whose details are to be read, with their stat lines
        self._last_described = 0
        self._undescribed = 0  # processes that the last reading did not come to

    def read(
        self,
        uses: Mapping[int, tuple[GpuProcess, ...]],
        now: float,
        is_translated: bool = True,  # noqa: FBT001, FBT002 - four values that always come together
        ticks: int | None = None,
    ) -> tuple[HostProcess, ...]:
        """Return a process for each pid in ``uses``, by pid. Never raises.

        ``now``: monotonic seconds. ``is_translated``: whether the driver reports pids of our PID namespace. A process
        that is not ALIVE has only None values, and its presence is the reason: ``missing`` stays empty. REUSED can be
        detected only for processes whose open files are readable: our own, if we are not root. ``ticks``: the clock
        tick before the driver was asked; a process that started later may not be the one that the driver listed, so it
        has no start tick yet.
        """
        self._read_boot_time(now)
        self._ticks = self._proc.ticks() if ticks is None else ticks
        is_foreign = not is_translated and not self._view.is_initial
        for pid in self._tracked.keys() - uses.keys() - self._relatives:
            self._proc.forget(self._tracked.pop(pid).path)
        self._turn += 1
        self._turns = max(1, min(1 + len(uses) // _CROWD, int(_REST_S / (now - self._read_s or _REST_S))))
        self._read_s = now
        self._deadline = self._clock() + self._details_s
        held = [self._follow(pid, now, is_foreign) for pid in sorted(uses)]
        self._undescribed = self._describe(now, least=1)
        self._read_threads(held, now)
        self._read_reports(held, now)
        return tuple([one.row(uses[one.pid], self._units) for one in held])

    def ticks(self) -> int:
        """Return the present clock tick."""
        return self._proc.ticks()

    def renewed(self) -> set[int]:
        """Return the pids that belong to another process since the last call."""
        renewed, self._renewed = self._renewed, set()
        return renewed

    def relatives(self, processes: Iterable[HostProcess], now: float) -> tuple[HostProcess, ...]:
        """Return ancestors and descendants of ``processes`` that use no GPU, by pid. Never raises.

        Call it after `read`, with its result or a part of it.
        """

        def follow(pid: int) -> TrackedProcess:
            one = self._follow(pid, now, is_foreign=False)
            self._describe(now)
            return one

        found = self._family.find(processes, follow, now)
        self._relatives = set(found)
        held = [found[pid] for pid in sorted(found)]
        self._read_threads(held, now)
        self._take_reports(held)
        self._had_reports = bool(self._reports and self._reports.pids)
        return tuple([one.row((), self._units) for one in held])

    @property
    def left_out(self) -> tuple[str, ...]:
        """Which relatives and details are missing in the last reading, as sentences."""
        count = self._undescribed
        late = (f"the users and command lines of {count} processes are not read yet",) if count else ()
        return (*late, *self._family.left_out)

    def _read_threads(self, held: Iterable[TrackedProcess], now: float) -> None:
        """Read the threads of the processes that were read; those of the others are not known yet."""
        fresh = (one for one in held if one.read_s == now and one.presence is Presence.ALIVE)
        watches = (one.watch for one in fresh if one.stat and one.stat.threads > 1)
        read_threads(self._proc, watches, now, self._units.clock_ticks)

    def _read_reports(self, held: Iterable[TrackedProcess], now: float) -> None:
        if self._reports:
            self._reports.read_new({one.uid for one in held if one.uid is not None}, now)
            self._take_reports(held)

    def _take_reports(self, held: Iterable[TrackedProcess]) -> None:
        if self._reports and (self._reports.pids or self._had_reports):
            pids = self._reports.pids
            self._had_reports = True
            for one in held:
                is_named = one.pid in pids or (one.inner_pid or 0) in pids
                one.take_progress(self._reports.of(one.reporter(self._units)) if is_named else None)

    def _follow(self, pid: int, now: float, is_foreign: bool) -> TrackedProcess:  # noqa: FBT001
        one = self._tracked.get(pid)
        if one is None:
            one = self._tracked[pid] = TrackedProcess(pid)
        elif one.is_resting and (pid + self._turn) % self._turns:
            return one
        try:
            raw = self._proc.reread(one.path)
        except GONE:
            one.forget(self._view.absence())
            one.is_suspect = one.presence is Presence.GONE
            return one
        except OSError:
            one.forget(Presence.HIDDEN)
            return one
        one.read_s = now
        is_new = hash(raw) != one.seen or not one.is_certain
        if is_new:
            self._advance(one, raw, now)
        one.measure(now, self._units.clock_ticks)
        is_restless = is_new or one.is_suspect or is_foreign or one.is_undescribed
        one.is_resting = not is_restless and one.is_idle
        if one.is_suspect or is_foreign:
            self._prove(one, now, is_foreign)
        else:
            one.judge(Presence.ALIVE)
        if now >= one.details_due and one.stat and one.presence is Presence.ALIVE:
            self._due.append((one, raw))
        return one

    def _describe(self, now: float, least: int = 0) -> int:
        """Read the details that are due until the time is over; return how many are left for the next reading.

        ``least``: read so many if the time was over before, as on a host whose CPUs are overloaded.
        """
        due, self._due = self._due, []
        due.sort(key=self._turn_of)
        every_s = max(_DETAILS_EVERY_S, len(self._tracked) // _DETAILS_PER_S)
        for at in range(0, len(due), _AT_ONCE):
            if at >= least and self._clock() >= self._deadline:
                return len(due) - at
            batch = due[at : at + _AT_ONCE]
            self._read_ahead([one.pid for one, _ in batch])
            for one, raw in batch:
                one.describe(self._details.read(one.pid, one.stat.name if one.stat else b"", raw), now, every_s)
                self._last_described = one.pid
        if due:
            self._read_ahead(())
        return 0

    def _turn_of(self, due: tuple[TrackedProcess, bytes]) -> tuple[bool, int]:
        """Return the place of a process: first those after the last one that was described."""
        pid = due[0].pid
        return pid <= self._last_described, pid

    def _advance(self, one: TrackedProcess, raw: bytes, now: float) -> None:
        stat = parse_stat(raw)
        if stat is None:
            one.forget(Presence.ALIVE)
        elif one.stat is None:
            one.begin(hash(raw), stat, now, self._ticks)
        elif stat.start_ticks != one.stat.start_ticks:
            one.forget(Presence.HIDDEN)
            one.is_suspect = True
            self._renewed.add(one.pid)
            one.begin(hash(raw), stat, now, self._ticks)
        elif one.is_certain:
            one.advance(hash(raw), stat)
        else:  # perhaps another process of the same tick
            one.forget(Presence.HIDDEN)
            one.begin(hash(raw), stat, now, self._ticks)

    def _prove(self, one: TrackedProcess, now: float, is_foreign: bool) -> None:  # noqa: FBT001
        """Check whether the process behind a pid can be the one that the driver means: whether it uses a GPU at all."""
        if now < one.proof_due:
            return
        one.proof_due = now + _PROOF_EVERY_S
        uses_gpu = self._view.uses_gpu(one.pid)
        if is_foreign:
            one.judge(Presence.ALIVE if uses_gpu else Presence.HIDDEN)
        else:
            one.is_suspect = not uses_gpu
            one.judge(Presence.REUSED if uses_gpu is False else Presence.ALIVE)

    def _read_boot_time(self, now: float) -> None:
        """Read the boot time, now and then: it moves when the clock of the host is set."""
        if now < self._boot_due:
            return
        self._boot_due = now + _BOOT_EVERY_S
        old, boot_s = self._units.boot_s, parse_boot_s(Files(self._proc).raw("stat"))
        if boot_s is not None and (old is None or abs(boot_s - old) > _STEADY_S):
            self._units = Units(self._units.clock_ticks, self._units.page_bytes, boot_s)


def resolve_user(uid: int) -> str | None:
    """Return the name of a user; None if no user has this uid.

    May block for as long as a directory server (LDAP, NIS) does not answer: see `UserNames`.
    """
    import pwd  # noqa: PLC0415 - only for a process to name

    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return None
