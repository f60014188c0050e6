"""The busiest thread, and how little is read to find it."""

from fake_proc import FakeProc

from gputop.core.model.metric import Missing
from gputop.core.model.sample import HostProcess
from gputop.machine.processes.reader import ProcessReader

PID = 4711


class Job:
    """A process whose threads work; `step` lets them, and takes a reading afterwards."""

    def __init__(self, threads: int, pids: tuple[int, ...] = (PID,)) -> None:
        self.proc = FakeProc()
        self.ticks = {pid: {pid + n * 100_000: 0 for n in range(threads)} for pid in pids}
        self.now = 1000.0
        self._reader = ProcessReader(self.proc, {1000: "ann"}.get, clock_ticks=100)

    def step(self, work: dict[int, int] | None = None, seconds: float = 1.0) -> HostProcess:
        """Let threads, by their number, work so many ticks."""
        for n, spent in (work or {}).items():
            for pid, threads in self.ticks.items():
                tid = pid + n * 100_000
                threads[tid] = threads.get(tid, 0) + spent
        return self.read(seconds)[0]

    def read(self, seconds: float = 1.0) -> tuple[HostProcess, ...]:
        self.now += seconds
        for pid, threads in self.ticks.items():
            self.proc.add(pid, user=sum(threads.values()), threads=len(threads))
            self.proc.add_threads(pid, threads)
        self.proc.reads.clear()
        return self._reader.read(dict.fromkeys(self.ticks, ()), self.now)

    @property
    def thread_reads(self) -> int:
        return sum("/task/" in path for path in self.proc.reads)


def test_the_busiest_thread_is_told_from_the_sum() -> None:
    job = Job(4)
    first = job.step()
    row = job.step({0: 90, 1: 20, 2: 10})

    assert first.missing["busiest_thread_percent"] is Missing.NOT_YET
    assert (row.cpu_percent, row.busiest_thread_percent) == (120.0, 90.0)
    assert row.missing == {}


def test_threads_are_read_every_other_second_and_only_those_that_worked() -> None:
    job = Job(64)
    job.step()
    job.step({0: 50, 7: 20})
    counts = []
    for _ in range(12):
        job.step({0: 50, 7: 20})
        counts.append(job.thread_reads)

    assert set(counts) == {0, 2}
    assert 5 <= counts.count(2) <= 6


def test_the_value_stays_between_two_readings_of_the_threads() -> None:
    job = Job(4)
    job.step()

    assert [job.step({0: 60}).busiest_thread_percent for _ in range(8)] == [60.0] * 8


def test_a_thread_that_takes_over_the_work_is_found() -> None:
    job = Job(64)
    job.step()
    for _ in range(8):
        job.step({0: 50})

    shown = [job.step({40: 80}).busiest_thread_percent for _ in range(6)]

    assert shown[-1] == 80.0


def test_after_a_rest_the_work_is_not_spread_over_the_time_of_the_rest() -> None:
    job = Job(64)
    for _ in range(60):
        job.step()

    shown = {job.step({3: 70}).busiest_thread_percent for _ in range(6)}

    assert shown in ({70.0}, {0.0, 70.0})


def test_a_process_that_rests_costs_no_thread_reads() -> None:
    job = Job(64)
    job.step()
    rows = []
    for _ in range(6):
        rows.append(job.step())
        assert job.thread_reads == 0

    assert rows[-1].busiest_thread_percent == 0.0


def test_a_thread_that_is_born_and_one_that_ends_are_followed() -> None:
    job = Job(2)
    job.step()
    for _ in range(4):
        job.step({0: 50})
    for _ in range(8):
        born = job.step({9: 75})
    del job.ticks[PID][PID + 900_000]
    job.ticks[PID][PID] += 100_000  # the kernel keeps the time of a thread that has ended in that of the process
    job.step()
    for _ in range(8):
        ended = job.step({0: 25})

    assert born.busiest_thread_percent == 75.0
    assert ended.busiest_thread_percent == 25.0


def test_no_thread_is_busier_than_a_core() -> None:
    job = Job(2)
    job.step()

    assert job.step({0: 130}).busiest_thread_percent == 100.0


def test_threads_that_cannot_be_listed_have_no_value() -> None:
    job = Job(2)
    for n in range(4):
        job.proc.add(PID, user=n * 50, threads=8)
        row = job._reader.read({PID: ()}, 1.0 + n)[0]

    assert row.busiest_thread_percent is None
    assert row.missing == {"busiest_thread_percent": Missing.NOT_YET}


def test_at_most_512_threads_of_a_process_are_read() -> None:
    job = Job(2000)
    job.step()

    assert job.thread_reads == 512


def test_many_processes_take_turns() -> None:
    pids = tuple(range(10, 210))
    job = Job(100, pids)
    most = 0
    for _ in range(40):
        job.step({0: 40, 5: 10})
        most = max(most, job.thread_reads)

    assert 3900 < most <= 4100
    assert {row.busiest_thread_percent for row in job.read(0.01)} == {40.0}


def test_in_the_long_run_processes_are_spread_over_the_readings() -> None:
    pids = tuple(range(10, 210))
    job = Job(4, pids)
    for _ in range(10):
        job.step({0: 40})
    counts = []
    for _ in range(8):
        job.step({0: 40})
        counts.append(job.thread_reads)

    assert max(counts) < 160
    assert sum(counts) >= 3 * len(pids)
