"""The busiest thread of each process: one spinning thread looks different from 64 that share the work."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from gputop.machine.proc.cpu import SHORTEST_S
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.stat import parse_cpu_ticks

_EVERY_S: Final = 1.9  # every other second, minus the jitter of a sample each second
_PHASES: Final = 4
_MOST_THREADS: Final = 512
_MOST_READS: Final = 4000  # thread files per reading of the machine: about 50 ms


class ThreadWatch:
    """The state of a process's threads.

    ``percent``: of the busiest thread, 0-100; None until it was measured. With more than 512 threads it is that of the
    busiest among the 512 oldest. ``cpu_ticks``: of the whole process, set by the reader of its stat.
    """

    __slots__ = ("_busy", "_idle_until", "_pid", "_scanned_ticks", "_seen", "cpu_ticks", "due", "percent")

    def __init__(self, pid: int) -> None:
        self.due = 0.0
        self.cpu_ticks = 0
        self.percent: float | None = None
        self._pid = pid
        self._scanned_ticks: int | None = None
        self._seen: dict[str, tuple[int, float]] = {}  # by tid: ticks, and the time of the reading
        self._busy: list[str] = []
        self._idle_until = 0.0  # until then no thread ran beyond its values in `_seen`

    def rest(self, now: float) -> bool:
        """Return whether the process did nothing since the last scan; then no thread has to be read."""
        if self.cpu_ticks != self._scanned_ticks:
            return False
        self._idle_until = now
        self._settle(0.0, now)
        return True

    def scan(self, proc: Proc, now: float, clock_ticks: int) -> int:
        """Read the threads that were busy last time, and all others if those do not explain the work of the process.

        Returns the number of threads read. Never raises.
        """
        grown = self.cpu_ticks - (self._scanned_ticks or 0)
        self._scanned_ticks = self.cpu_ticks
        known = self._busy
        deltas = self._measure(proc, known, now)
        slack = 2 + len(known) // 8  # each thread's time is rounded down to a whole tick
        if not self._seen or grown - sum(ticks for ticks, _ in deltas.values()) > slack:
            deltas |= self._measure(proc, self._others(proc, set(known)), now)
        self._busy = [tid for tid, (ticks, since) in deltas.items() if ticks or since == now]
        shares = [100 * ticks / clock_ticks / (now - since) for ticks, since in deltas.values() if since < now]
        self._idle_until = now
        idle = 0.0 if self._seen and not deltas else self.percent
        self._settle(min(100.0, round(max(shares), 1)) if shares else idle, now)
        return len(deltas)

    def _settle(self, percent: float | None, now: float) -> None:
        """Set the percentage; the first one is set soon, and then the processes take turns."""
        if percent is None:
            self.due = now + SHORTEST_S
        else:
            self.due = now + _EVERY_S * (1 if self.percent is not None else 1 + self._pid % _PHASES / _PHASES)
        self.percent = percent

    def _measure(self, proc: Proc, tids: Iterable[str], now: float) -> dict[str, tuple[int, float]]:
        """Return by tid the ticks spent, and since when; a thread seen for the first time has spent 0."""
        deltas: dict[str, tuple[int, float]] = {}
        for tid in tids:
            ticks = _ticks(proc, f"{self._pid}/task/{tid}/stat")
            if ticks is None:
                self._seen.pop(tid, None)
                continue
            before, at = self._seen.get(tid, (ticks, now))
            self._seen[tid] = (ticks, now)
            deltas[tid] = (max(0, ticks - before), max(at, self._idle_until) if at < now else now)
        return deltas

    def _others(self, proc: Proc, known: set[str]) -> list[str]:
        """Return the other threads, and drop those that have exited."""
        try:
            tids = proc.list(f"{self._pid}/task")[:_MOST_THREADS]
        except OSError:
            tids = []
        self._seen = {tid: self._seen[tid] for tid in tids if tid in self._seen}
        return [tid for tid in tids if tid not in known]


def read_threads(proc: Proc, watches: Iterable[ThreadWatch], now: float, clock_ticks: int) -> None:
    """Update the watches that are due, the longest due first, as many as one reading may cost."""
    room = _MOST_READS
    for watch in sorted((w for w in watches if w.due <= now and not w.rest(now)), key=attrgetter("due")):
        if room <= 0:
            return
        room -= watch.scan(proc, now, clock_ticks)


def _ticks(proc: Proc, path: str) -> int | None:
    try:
        return parse_cpu_ticks(proc.read(path))
    except OSError:
        return None
