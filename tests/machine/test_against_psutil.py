"""psutil as the oracle: the project's readers of /proc agree with it on the real processes of this machine."""

import os
import time

import psutil
import pytest

from gputop.core.model.sample import HostProcess, Presence
from gputop.core.protocol.command import ReadStatus, Target
from gputop.machine.inspect.process_status import process_status_of_this_machine
from gputop.machine.proc.host import HostReader
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import ProcessStat, parse_stat
from gputop.machine.processes.reader import ProcessReader, resolve_user

MOST = 300  # processes
TRIES = 5
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
SMALL_BYTES = 2 * 1024**2  # the kernel counts resident pages of each CPU in batches


class Seen:
    """What psutil says of a process at one moment."""

    def __init__(self, pid: int) -> None:
        process = psutil.Process(pid)
        with process.oneshot():
            self.started_s = process.create_time()
            self.rss = process.memory_info().rss
            self.cpu_s = sum(process.cpu_times()[:2])
            self.threads = process.num_threads()
            self.still = (process.uids().real, process.uids().effective, process.nice(), process.ppid())
        self.cpus = tuple(process.cpu_affinity())


class Read:
    """What gputop reads of a process between two looks of psutil."""

    def __init__(self, proc: RealProc, pid: int) -> None:
        raw = proc.read(f"{pid}/stat")
        stat = parse_stat(raw)
        assert stat is not None
        self.stat: ProcessStat = stat
        self.row: HostProcess = ProcessReader(proc, resolve_user).read({pid: ()}, time.monotonic())[0]
        target = Target(pid, stat.start_ticks)
        self.status = process_status_of_this_machine().read(ReadStatus(id="", targets=(target,))).statuses[0]


def between(pid: int, proc: RealProc) -> tuple[Seen, Read, Seen] | None:
    """Return what gputop read, and psutil before and after; None if the process came, went or changed."""
    for _ in range(TRIES):
        try:
            before, read, after = Seen(pid), Read(proc, pid), Seen(pid)
        except (psutil.Error, OSError):
            return None
        is_same = (before.started_s, before.still, before.cpus) == (after.started_s, after.still, after.cpus)
        if is_same and before.threads == after.threads and abs(before.rss - after.rss) < SMALL_BYTES:
            return (before, read, after) if read.row.presence is Presence.ALIVE else None
    return None


@pytest.fixture(scope="module")
def compared() -> list[tuple[Seen, Read, Seen]]:
    proc = RealProc()
    pids = [os.getpid(), os.getppid(), *psutil.pids()[-MOST:]]
    return [found for pid in dict.fromkeys(pids) if (found := between(pid, proc))]


def test_cpu_time_is_within_two_ticks(compared: list[tuple[Seen, Read, Seen]]) -> None:
    for before, read, after in compared:
        cpu_s = read.stat.cpu_ticks * TICK_S

        assert before.cpu_s - 2 * TICK_S <= cpu_s <= after.cpu_s + 2 * TICK_S, read.row


def test_resident_memory_is_within_five_percent(compared: list[tuple[Seen, Read, Seen]]) -> None:
    for before, read, after in compared:
        least, most = sorted((before.rss, after.rss))

        assert read.row.memory_bytes is not None
        assert 0.95 * least - SMALL_BYTES <= read.row.memory_bytes <= 1.05 * most + SMALL_BYTES, read.row


def test_the_start_is_within_ten_milliseconds(compared: list[tuple[Seen, Read, Seen]]) -> None:
    for before, read, _ in compared:
        assert read.row.started_s == pytest.approx(before.started_s, abs=0.010), read.row


def test_user_nice_value_threads_parent_and_affinity_are_the_same(compared: list[tuple[Seen, Read, Seen]]) -> None:
    for before, read, _ in compared:
        real, effective, nice, parent = before.still
        cpus = ",".join(map(str, before.cpus))
        names = {resolve_user(uid) or str(uid) for uid in (real, effective)}

        assert read.row.user in names, read.row
        assert (read.row.nice, read.status.nice) == (nice, nice), read.row
        assert (read.row.threads, read.row.parent_pid) == (before.threads, parent), read.row
        assert read.status.cpus is None or spread(read.status.cpus) == cpus, read.row


def test_enough_processes_were_compared(compared: list[tuple[Seen, Read, Seen]]) -> None:
    assert len(compared) >= 2  # this one and its parent


def test_memory_swap_and_load_of_the_host_are_the_same() -> None:
    swap_before, memory_before = psutil.swap_memory(), psutil.virtual_memory()
    host = HostReader(RealProc(), "x").read(time.monotonic())
    memory_after = psutil.virtual_memory()
    used = sorted(memory.total - memory.available for memory in (memory_before, memory_after))

    assert (host.memory_total_bytes, host.swap_total_bytes) == (memory_before.total, swap_before.total)
    assert host.memory_used_bytes is not None
    assert 0.95 * used[0] - 64 * 1024**2 <= host.memory_used_bytes <= 1.05 * used[1] + 64 * 1024**2
    assert host.swap_used_bytes == pytest.approx(swap_before.used, abs=64 * 1024**2)
    assert host.load == pytest.approx(psutil.getloadavg(), abs=1)


def test_the_host_was_up_as_long_as_psutil_says() -> None:
    host = HostReader(RealProc(), "x").read(time.monotonic())

    assert host.uptime_s == pytest.approx(time.time() - psutil.boot_time(), abs=2)
    assert len(host.cores_percent) in {0, psutil.cpu_count()}


def test_the_cpu_of_the_host_is_that_of_the_same_two_moments() -> None:
    reader = HostReader(RealProc(), "x")
    reader.read(time.monotonic())
    first = psutil.cpu_times()
    until_s = time.monotonic() + 0.3
    while time.monotonic() < until_s:
        pass  # a busy core is something to measure
    second = psutil.cpu_times()
    percent = reader.read(time.monotonic()).cpu_percent
    total, idle = (sum(new - old for new, old in zip(pick(second), pick(first), strict=True)) for pick in (_all, _idle))

    assert percent == pytest.approx(100 * (total - idle) / total, abs=8)


def _all(times: object) -> list[float]:
    return [getattr(times, name) for name in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")]


def _idle(times: object) -> list[float]:
    return [getattr(times, name) for name in ("idle", "iowait")]


def spread(cpus: str) -> str:
    """Return ``0,1,2`` for ``0-2``."""
    spans = [span.partition("-") for span in cpus.split(",")]
    return ",".join(str(cpu) for first, _, last in spans for cpu in range(int(first), int(last or first) + 1))
