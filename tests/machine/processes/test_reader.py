"""What /proc says of the pids that the driver lists, and what is not said when it cannot be known."""

import threading
import time
from collections import Counter

import pytest
from fake_proc import BOOT_S, EACCES, ENOENT, ESRCH, FakeProc, stat_line

from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuProcess, HostProcess, Presence
from gputop.machine.processes.reader import ProcessReader, resolve_user

PID = 4711
USE = GpuProcess(gpu="GPU-0", gpu_index=0, type="C", memory_bytes=1024)
NAMES = {1000: "ann", 1001: "bob"}


class Machine:
    """A reader over a fake /proc; each reading comes a second after the one before."""

    def __init__(self, proc: FakeProc) -> None:
        self.proc = proc
        self.asked: list[int] = []
        self.now = 1000.0
        self._reader = ProcessReader(proc, self._name, clock_ticks=100, page_bytes=4096, clock=lambda: self.now)

    def _name(self, uid: int) -> str | None:
        self.asked.append(uid)
        return NAMES.get(uid)

    def read(self, *pids: int, seconds: float = 1.0, is_translated: bool = True) -> tuple[HostProcess, ...]:
        self.now += seconds
        self.proc.reads.clear()
        return self._reader.read(dict.fromkeys(pids, (USE,)), self.now, is_translated)

    def one(self, pid: int = PID, *, seconds: float = 1.0, is_translated: bool = True) -> HostProcess:
        return self.read(pid, seconds=seconds, is_translated=is_translated)[0]


def machine(pid: int = PID, **fields: object) -> Machine:
    proc = FakeProc()
    proc.add(pid, **fields)  # type: ignore[arg-type] # passed through
    return Machine(proc)


def known(row: HostProcess) -> dict[str, object]:
    """Return what a row tells of the process behind its pid."""
    names = (
        "start_ticks",
        "started_s",
        "user",
        "parent_pid",
        "state",
        "nice",
        "threads",
        "cpu_percent",
        "memory_bytes",
    )
    values = {name: getattr(row, name) for name in names} | {"command": row.command or None}
    return {name: value for name, value in values.items() if value is not None}


# --- values ------------------------------------------------------------------------------------------------------
def test_every_value_is_in_its_place() -> None:
    row = machine(state="D", parent=17, nice=-5, threads=3, start=12_345, pages=100).one()

    assert (row.pid, row.state, row.parent_pid, row.nice, row.threads) == (PID, "D", 17, -5, 3)
    assert (row.start_ticks, row.started_s) == (12_345, BOOT_S + 123.45)
    assert (row.user, row.command, row.memory_bytes) == ("ann", "python train.py", 409_600)
    assert (row.presence, row.gpus) == (Presence.ALIVE, (USE,))


def test_processes_come_by_pid() -> None:
    box = machine()
    box.proc.add(30)
    box.proc.add(200)

    assert [row.pid for row in box.read(PID, 200, 30)] == [30, 200, PID]


def test_the_first_reading_has_no_cpu_percentage() -> None:
    row = machine(threads=1).one()

    assert (row.cpu_percent, row.busiest_thread_percent) == (None, None)
    assert row.missing == {"cpu_percent": Missing.NOT_YET, "busiest_thread_percent": Missing.NOT_YET}


def test_cpu_is_user_and_system_time_since_the_reading_before() -> None:
    box = machine(user=1000, system=500)
    box.one()
    box.proc.add(PID, user=1060, system=540)

    row = box.one(seconds=2.0)

    assert (row.cpu_percent, row.busiest_thread_percent) == (50.0, 50.0)
    assert row.missing == {}


def test_a_process_that_rests_falls_back_to_zero() -> None:
    box = machine(user=0)
    box.one()
    box.proc.add(PID, user=100)
    box.one()

    assert box.one().cpu_percent == 0.0


def test_a_moment_later_the_percentage_is_still_the_same() -> None:
    box = machine(user=0)
    box.one()
    box.proc.add(PID, user=50)
    box.one()
    box.proc.add(PID, user=51)

    assert box.one(seconds=0.01).cpu_percent == 50.0
    assert box.one(seconds=0.99).cpu_percent == 1.0


def test_uses_of_the_gpu_are_new_with_each_reading_even_if_the_process_rests() -> None:
    proc = FakeProc()
    proc.add(PID)
    reader = ProcessReader(proc, NAMES.get)
    more = GpuProcess(gpu="GPU-0", gpu_index=0, type="C", memory_bytes=2048)
    for now in (1.0, 2.0, 3.0):
        reader.read({PID: (USE,)}, now)

    assert reader.read({PID: (more,)}, 4.0)[0].gpus == (more,)


# --- details -----------------------------------------------------------------------------------------------------
def test_the_owner_is_that_of_the_status_file_and_its_name_is_asked_once() -> None:
    box = machine(uid=1001)
    box.proc.add(12, uid=1001)

    assert [row.user for row in box.read(12, PID)] == ["bob", "bob"]
    assert box.asked == [1001]


def test_a_user_without_a_name_is_shown_by_number() -> None:
    assert machine(uid=54321).one().user == "54321"


def test_hostile_user_names_are_cleaned() -> None:
    proc = FakeProc()
    proc.add(PID)

    assert ProcessReader(proc, lambda _: "an\x1b[2Jn").read({PID: (USE,)}, 1.0)[0].user == "an␛[2Jn"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"python\0-c\0print(1)\0", "python -c print(1)"),
        (b"nginx: worker process\0\0\0\0", "nginx: worker process"),  # setproctitle
        (b"a\x1b]0;PWNED\x07b", "a␛]0;PWNED␇b"),
        (b"a\x1b[2J\x1b[H", "a␛[2J␛[H"),
        (b"\x1b]8;;http://x\x1b\\link", "␛]8;;http://x␛\\link"),
        (b"one\ntwo\tthree\r", "one␊two␉three␍"),
        ("a\u202eb\u2066c\u200dd".encode(), "a\ufffdb\ufffdc\ufffdd"),
        (b"a\xff\xfe\xed\xa0\x80b", "a\ufffd\ufffd\ufffd\ufffd\ufffdb"),
        ("a\x9b31mb".encode(), "a\ufffd31mb"),
        (b"[red]not a style[/red]", "[red]not a style[/red]"),
        ("モデル.py".encode(), "モデル.py"),
        (b"x" * 100_000, "x" * 4096),
        ("é" * 100_000, "é" * 4096),
        (b"", "[python]"),
        (b"\0\0\0", "[python]"),
        (b"  \0 ", "[python]"),
        (EACCES, "[python]"),
        (ENOENT, "[python]"),
    ],
)
def test_a_command_line_is_one_harmless_line(raw: bytes | str | OSError, shown: str) -> None:
    box = machine()
    box.proc.files[f"{PID}/cmdline"] = raw.encode() if isinstance(raw, str) else raw

    assert box.one().command == shown


@pytest.mark.parametrize(("reveal", "shown"), [(False, "••••••••"), (True, "hunter2 and more")])
def test_a_secret_of_a_command_line_never_reaches_a_frame_unless_it_is_revealed(*, reveal: bool, shown: str) -> None:
    proc = FakeProc()
    proc.add(PID, command=b"vllm\0serve\0llama\0--api-key\0hunter2 and more\0--port\0" + b"8000\0")
    reader = ProcessReader(proc, NAMES.get, reveal=reveal)

    row = reader.read({PID: (USE,)}, 1.0)[0]

    assert row.command == f"vllm serve llama --api-key {shown} --port 8000"
    assert row.owner.framework == "vLLM"


def test_a_command_line_that_is_cut_off_shows_no_begin_of_a_secret() -> None:
    command = b"python\0" + b"x" * 4080 + b"\0--db=https://ann:hunter2" + b"9" * 500 + b"@host/\0"

    assert "hunter2" not in machine(command=command).one().command


def test_a_zombie_goes_by_its_name() -> None:
    row = machine(name=b"tr)ain\x1b\n", state="Z", command=b"").one()

    assert (row.state, row.command, row.presence) == ("Z", "[tr)ain␛␊]", Presence.ALIVE)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (EACCES, Missing.FORBIDDEN),
        (ENOENT, Missing.UNSUPPORTED),
        (b"", Missing.FAULT),
        (b"Name:\tx\nUid:\tmany\n", Missing.FAULT),
    ],
)
def test_an_owner_that_cannot_be_read_is_missing_with_the_reason(status: bytes | OSError, reason: Missing) -> None:
    box = machine()
    box.proc.files[f"{PID}/status"] = status
    box.one()

    row = box.one()

    assert (row.user, row.missing) == (None, {"user": reason})


def test_a_new_command_line_is_seen_within_a_minute_time_and_again() -> None:
    box = machine()
    box.one()
    for name in ("renamed", "renamed again"):
        box.proc.files[f"{PID}/cmdline"] = name.encode()

        shown = [box.one().command for _ in range(61)]

        assert shown[0] != name
        assert shown[-1] == name


def test_another_program_in_the_same_process_is_seen_at_once() -> None:
    box = machine(name=b"sh", command=b"sh -c train")
    box.one()
    box.proc.add(PID, name=b"python", command=b"python train.py")

    assert box.one().command == "python train.py"


# --- cost --------------------------------------------------------------------------------------------------------
def test_a_reading_costs_one_read_per_process() -> None:
    box = machine()
    box.one()
    for _ in range(10):
        box.one()

        assert box.proc.reads == [f"{PID}/stat"]


def test_details_of_many_processes_are_not_read_again_all_at_once() -> None:
    box = machine()
    pids = range(100, 400)
    for pid in pids:
        box.proc.add(pid)
    box.read(*pids)

    most = 0
    for _ in range(130):
        box.read(*pids)
        most = max(most, Counter(path.partition("/")[2] for path in box.proc.reads)["cmdline"])

    assert 0 < most <= 20


def test_in_a_crowd_command_lines_are_read_again_each_minute() -> None:
    box = machine()
    pids = range(1000, 2200)
    for pid in pids:
        box.proc.add(pid)
    box.read(*pids)

    read = 0
    for _ in range(7):
        box.read(*pids, seconds=17.0)
        read += Counter(path.partition("/")[2] for path in box.proc.reads)["cmdline"]

    assert 0 < read <= len(pids)


def test_a_pid_that_is_no_longer_listed_is_forgotten() -> None:
    box = machine(user=0)
    box.one()
    box.read()
    box.proc.add(PID, user=100)

    assert box.one().missing["cpu_percent"] is Missing.NOT_YET


# --- presence ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("error", [ENOENT, ESRCH])
def test_a_process_that_is_not_there_is_gone(error: OSError) -> None:
    box = machine()
    box.one()
    box.proc.files[f"{PID}/stat"] = error

    row = box.one()

    assert row.presence is Presence.GONE
    assert (known(row), row.missing, row.gpus) == ({}, {}, (USE,))


def test_in_another_pid_namespace_what_is_not_there_is_hidden() -> None:
    box = machine()
    box.proc.links["self/ns/pid"] = "pid:[4026532199]"

    assert [row.presence for row in box.read(PID, 99)] == [Presence.HIDDEN, Presence.ALIVE]


@pytest.mark.parametrize("error", [EACCES, ENOENT])
def test_a_namespace_that_is_not_known_is_not_the_initial_one(error: OSError) -> None:
    box = machine()
    box.proc.links["self/ns/pid"] = error

    assert box.one(99).presence is Presence.HIDDEN


@pytest.mark.parametrize("error", [EACCES, ENOENT])
def test_with_hidepid_what_is_not_there_is_hidden(error: OSError) -> None:
    box = machine()
    box.proc.files["1/stat"] = error

    assert box.one(99).presence is Presence.HIDDEN


@pytest.mark.parametrize("error", [EACCES, PermissionError(1, "EPERM"), OSError(5, "EIO")])
def test_a_process_that_may_not_be_read_is_hidden(error: OSError) -> None:
    box = machine()
    box.proc.files[f"{PID}/stat"] = error

    row = box.one()

    assert row.presence is Presence.HIDDEN
    assert (known(row), row.missing) == ({}, {})


@pytest.mark.parametrize("raw", [b"", b"4711", b"\xff" * 200, stat_line(PID)[:60], b"4711 (x) ? " + b"a " * 50])
def test_a_line_that_makes_no_sense_gives_no_values(raw: bytes) -> None:
    box = machine()
    box.one()
    box.proc.files[f"{PID}/stat"] = raw

    row = box.one()

    assert (row.presence, known(row)) == (Presence.ALIVE, {})
    assert set(row.missing.values()) == {Missing.FAULT}


def test_after_the_clock_was_set_run_times_are_wrong_until_the_next_start_of_gputop() -> None:
    box = machine(start=12_345)
    before = box.one().started_s
    box.proc.files["stat"] = b"cpu 1\nbtime %d\n" % (BOOT_S + 18_000)
    box.one(seconds=61.0)

    assert (before, box.one().started_s) == (BOOT_S + 123.45, BOOT_S + 18_123.45)


@pytest.mark.parametrize("stat", [b"cpu 1\nbtime %d\n" % (BOOT_S + 1), b"", b"cpu 1\nbtime x\n"])
def test_start_times_move_with_each_correction_of_the_clock_or_get_lost(stat: bytes) -> None:
    box = machine(start=12_345)
    before = box.one().started_s
    box.proc.files["stat"] = stat

    assert box.one(seconds=61.0).started_s == before == BOOT_S + 123.45


def test_without_the_time_of_the_boot_the_start_is_missing() -> None:
    box = machine()
    box.proc.files["stat"] = b"cpu 1 2 3\n"

    row = box.one()

    assert (row.started_s, row.missing["started_s"]) == (None, Missing.UNSUPPORTED)
    assert row.start_ticks == 5000


# --- identity ----------------------------------------------------------------------------------------------------
def test_a_pid_with_another_start_time_inherits_nothing() -> None:
    box = machine(user=1000, start=100)
    box.one()
    box.proc.add(PID, user=1100, start=200, uid=1001, command=b"other")
    box.proc.open_files(PID, "/dev/null", "/dev/nvidia0")

    row = box.one()

    assert (row.start_ticks, row.user, row.command) == (200, "bob", "other")
    assert (row.presence, row.missing["cpu_percent"]) == (Presence.ALIVE, Missing.NOT_YET)


def test_a_reused_pid_without_a_gpu_is_not_taken_for_the_process_on_the_gpu() -> None:
    box = machine(start=100)
    box.one()
    box.proc.add(PID, start=200, uid=1001, command=b"editor", threads=4)
    box.proc.open_files(PID, "/dev/null", "socket:[1]")

    rows = [box.one() for _ in range(3)]

    assert {row.presence for row in rows} == {Presence.REUSED}
    assert [known(row) for row in rows] == [{}, {}, {}]


def test_a_pid_that_was_gone_for_a_while_is_not_taken_for_the_same_process_either() -> None:
    box = machine(start=100)
    box.proc.remove(PID)
    box.one()
    box.proc.add(PID, start=200)
    box.proc.open_files(PID, "/dev/null")

    assert box.one().presence is Presence.REUSED


def test_a_reused_pid_is_shown_when_it_opens_a_gpu_after_all() -> None:
    box = machine(start=100)
    box.one()
    box.proc.add(PID, start=200)
    box.proc.open_files(PID, "/dev/null")
    box.one()
    box.proc.open_files(PID, "/dev/null", "/dev/nvidia-uvm")

    assert box.one(seconds=11).presence is Presence.ALIVE


@pytest.mark.parametrize("where", ["directory", "link"])
def test_a_new_process_whose_files_are_not_ours_to_see_is_believed(where: str) -> None:
    box = machine(start=100)
    box.one()
    box.proc.add(PID, start=200)
    box.proc.open_files(PID, "/dev/null")
    if where == "directory":
        box.proc.directories[f"{PID}/fd"] = EACCES
    else:
        box.proc.links[f"{PID}/fd/0"] = EACCES

    assert box.one().presence is Presence.ALIVE


def test_a_pid_of_the_host_is_hidden_unless_the_process_here_uses_a_gpu() -> None:
    box = machine()
    box.proc.links["self/ns/pid"] = "pid:[4026532199]"
    box.proc.add(12)
    box.proc.open_files(PID, "/dev/null", "/dev/pts/0")
    box.proc.open_files(12, "/dev/null", "/dev/nvidiactl")

    rows = box.read(12, 13, PID, is_translated=False)

    assert [row.presence for row in rows] == [Presence.ALIVE, Presence.HIDDEN, Presence.HIDDEN]
    assert [bool(known(row)) for row in rows] == [True, False, False]


def test_in_the_initial_namespace_an_old_driver_is_believed() -> None:
    assert machine().one(is_translated=False).presence is Presence.ALIVE


@pytest.mark.parametrize(("line", "inner"), [("4711", None), ("4711\t23", 23), ("4711\t23\t1", 1)])
def test_the_pid_inside_a_container_is_that_of_the_innermost_namespace(line: str, inner: int | None) -> None:
    box = machine()
    box.proc.files[f"{PID}/status"] = f"Name:\tx\nUid:\t1000\t0\t0\t0\nNSpid:\t{line}\nNSpgid:\t9\t8\n".encode()

    assert box.one().inner_pid == inner


# --- users -------------------------------------------------------------------------------------------------------
def test_a_uid_is_named_by_the_system() -> None:
    assert resolve_user(0) == "root"


@pytest.mark.parametrize("uid", [3_000_004_711, 2**64])
def test_a_uid_of_nobody_has_no_name(uid: int) -> None:
    assert resolve_user(uid) is None


def test_a_user_lookup_that_hangs_hides_the_processes_or_their_users() -> None:
    gate, proc = threading.Event(), FakeProc()
    for pid, uid in ((7, 1001), (8, 1002)):
        proc.add(pid, uid=uid)

    def users(uid: int) -> str:
        if uid == 1001:
            gate.wait()
        return f"name of {uid}"

    reader = ProcessReader(proc, users, patience_s=0.1)
    uses: dict[int, tuple[GpuProcess, ...]] = {7: (), 8: ()}
    before = [one.user for one in reader.read(uses, 1000.0)]
    gate.set()
    end = time.monotonic() + 30.0
    now = 1000.0
    while (found := [one.user for one in reader.read(uses, now)]) != ["name of 1001", "name of 1002"]:
        assert time.monotonic() < end, found
        now += 3.0

    assert before[0] == "1001"
    assert before[1] in {"name of 1002", "1002"}  # the second one, if this host was slow


# --- a crowd ---------------------------------------------------------------------------------------------------------
def a_crowd(count: int) -> tuple[Machine, list[int]]:
    """Return a machine whose processes were read twice: all of them are known to sleep."""
    proc, pids = FakeProc(), list(range(1000, 1000 + count))
    for pid in pids:
        proc.add(pid)
    crowd = Machine(proc)
    for _ in range(4):
        crowd.read(*pids)
    return crowd, pids


def test_in_a_crowd_each_that_sleeps_is_read_in_every_third_reading() -> None:
    crowd, pids = a_crowd(1500)
    read: Counter[str] = Counter()

    for _ in range(6):
        crowd.read(*pids)
        read.update(crowd.proc.reads)

    assert {read[f"{pid}/stat"] for pid in pids} == {2}


def test_in_a_crowd_one_that_works_is_read_each_time() -> None:
    crowd, pids = a_crowd(1500)
    rows = []

    for work in range(1, 7):
        crowd.proc.add(pids[0], user=50 * work)
        rows.append(crowd.read(*pids)[0])

    percents = [row.cpu_percent for row in rows]
    begin = next(index for index, percent in enumerate(percents) if percent)
    assert begin <= 2  # when it had its turn
    assert percents[begin] == pytest.approx(50 * (begin + 1) / 3, abs=0.1)  # of the three seconds since its last turn
    assert percents[begin + 1 :] == [50.0] * (5 - begin)


@pytest.mark.parametrize("slept", [9, 10, 11])
def test_in_a_crowd_a_thread_that_wakes_is_not_made_busier_than_it_was(slept: int) -> None:
    crowd, pids = a_crowd(1500)
    shown = []

    for second in range(slept + 12):
        ticks = 30 * max(0, second - slept)
        crowd.proc.add(pids[0], threads=2, user=ticks, system=0)
        crowd.proc.add_threads(pids[0], {pids[0]: ticks, 9_999_999: 0})
        shown.append(crowd.read(*pids)[0].busiest_thread_percent)

    assert max(percent for percent in shown if percent is not None) == pytest.approx(30.0, abs=1.0)


def test_few_processes_are_all_read_each_time() -> None:
    crowd, pids = a_crowd(90)

    crowd.read(*pids)

    assert crowd.proc.reads.count("1000/stat") == 1
    assert len([path for path in crowd.proc.reads if path.endswith("/stat")]) == 90


@pytest.mark.parametrize(("interval_s", "readings"), [(2.0, 1), (10.0, 1), (0.5, 7)])
def test_no_process_sleeps_for_longer_than_three_seconds_unread(interval_s: float, readings: int) -> None:
    crowd, pids = a_crowd(1500)
    read: Counter[str] = Counter()
    crowd.read(*pids, seconds=interval_s)

    for _ in range(2 * readings):
        crowd.read(*pids, seconds=interval_s)
        read.update(crowd.proc.reads)

    assert {read[f"{pid}/stat"] for pid in pids} == {2}


def test_a_process_whose_start_tick_is_not_over_has_no_identity_before_the_next_reading() -> None:
    box = machine(start=5000)
    box.proc.now_ticks = 5001

    assert box.one().start_ticks is None

    box.proc.now_ticks = 5101

    assert box.one().start_ticks == 5000


def test_a_process_that_took_the_pid_within_the_same_tick_is_not_shown_as_the_one_before() -> None:
    box = machine(start=5000)
    box.proc.now_ticks = 5001
    box.one()
    box.proc.add(PID, uid=1001, command=b"sleep\x00600\x00", start=5000)
    box.proc.now_ticks = 5101
    row = box.one()

    assert (row.start_ticks, row.user, row.command) == (5000, "bob", "sleep 600")


class Hurried(Machine):
    """A reader with time for the details of about 256 processes in each reading; the others wait."""

    def __init__(self, proc: FakeProc, details_s: float = 1.0) -> None:
        super().__init__(proc)
        self._reader = ProcessReader(
            proc, self._name, clock_ticks=100, page_bytes=4096, details_s=details_s, clock=self._clock
        )

    def _clock(self) -> float:
        return sum(path.endswith("/cmdline") for path in self.proc.reads) / 256

    @property
    def left_out(self) -> tuple[str, ...]:
        return self._reader.left_out


def test_of_thousands_of_new_processes_none_are_shown() -> None:
    proc, pids = FakeProc(), list(range(1000, 1600))
    for pid in pids:
        proc.add(pid)
    crowd = Hurried(proc)
    rows, said = crowd.read(*pids), crowd.left_out
    unread = [row for row in rows if row.user is None]

    assert [row.pid for row in rows] == pids
    assert 0 < len(unread) < len(pids)
    assert said == (f"the users and command lines of {len(unread)} processes are not read yet",)
    assert {row.missing["user"] for row in unread} == {row.missing["command"] for row in unread} == {Missing.NOT_YET}
    assert all(row.start_ticks is not None and row.state == "S" and row.command == "[python]" for row in unread)
    assert all(row.user for row in [*crowd.read(*pids), *crowd.read(*pids)][-len(pids) :])
    assert crowd.left_out == ()


def test_a_host_so_busy_that_the_time_is_over_before_any_details_are_read_never_shows_them() -> None:
    proc, pids = FakeProc(), list(range(1000, 1600))
    for pid in pids:
        proc.add(pid)
    crowd = Hurried(proc, details_s=0.0)
    rows = [crowd.read(*pids) for _ in range(3)][-1]

    assert all(row.user == "ann" for row in rows)
    assert crowd.left_out == ()


def test_processes_that_always_change_keep_the_others_from_being_read() -> None:
    proc, restless, others = FakeProc(), list(range(1000, 1600)), list(range(5000, 5010))
    for pid in others:
        proc.add(pid)
    crowd = Hurried(proc)
    for turn in range(4):
        for pid in restless:
            proc.add(pid, name=b"x%d" % turn)  # as if it had executed another program
        rows = crowd.read(*restless, *others)

    assert all(row.user == "ann" for row in rows if row.pid in others)


def test_relatives_whose_details_are_not_read_yet_lead_to_wrong_ones() -> None:
    proc, pids = FakeProc(), list(range(1000, 1600))
    proc.add(70, command=b"-bash\0")
    for pid in pids:
        proc.add(pid, parent=70)
    crowd = Hurried(proc)
    rows = crowd.read(*pids)

    assert crowd._reader.relatives(rows, crowd.now) == ()
