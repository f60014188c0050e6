"""Cost of a snapshot: CPU time and wall time of programs that print once and exit, in turns."""

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct


class Snapshot(Struct, frozen=True):
    """Medians over all rounds, and the range of the CPU time. ``status``: of the last run that failed, else 0."""

    cpu_ms: float
    least_ms: float
    most_ms: float
    wall_ms: float
    status: int


class Run(Struct, frozen=True):
    """One run. ``cpu_s``: user and system, of the program and the children that it reaped."""

    cpu_s: float
    wall_s: float
    status: int


def measure(
    commands: Mapping[str, Sequence[str]], rounds: int, limit_s: float, *, uncounted: int = 1
) -> dict[str, Snapshot]:
    """Run each command once a round, in another order each time, after uncounted rounds."""
    names = list(commands)
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for turn in range(uncounted + rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            run = run_once(commands[name], limit_s)
            if turn >= uncounted:
                runs[name].append(run)
    return {name: _summary(held) for name, held in runs.items()}


def run_once(command: Sequence[str], limit_s: float) -> Run:
    """Run a command to its end, and kill it after ``limit_s``; what it prints is dropped."""
    files = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    started_s = time.monotonic()
    pid = os.posix_spawnp(command[0], list(command), os.environ, file_actions=files)
    ended = os.pidfd_open(pid)
    if not select.select([ended], [], [], limit_s)[0]:
        os.kill(pid, signal.SIGKILL)
    os.close(ended)
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.monotonic() - started_s
    return Run(usage.ru_utime + usage.ru_stime, wall_s, os.waitstatus_to_exitcode(status))


def _summary(runs: Sequence[Run]) -> Snapshot:
    cpu_ms = [run.cpu_s * 1000 for run in runs]
    return Snapshot(
        cpu_ms=median(cpu_ms),
        least_ms=min(cpu_ms),
        most_ms=max(cpu_ms),
        wall_ms=median(run.wall_s * 1000 for run in runs),
        status=next((run.status for run in reversed(runs) if run.status), 0),
    )
