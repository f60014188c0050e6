"""The simulated /proc is what the kernel would write."""

from typing import Any

import pytest
from simulated import WALL_S, Time, box, handles

from gputop.machine.proc.procfs import Proc
from gputop.simulator import BOXES, Box


def pids(proc: Proc) -> list[str]:
    return [name for name in proc.list("") if name.isdigit()]


def text(proc: Proc, path: str) -> str:
    return proc.read(path).decode("utf-8", "surrogateescape")


def stat(proc: Proc, path: str) -> tuple[str, list[str]]:
    """Return comm, and the fields from the third on."""
    line = text(proc, path)
    return line[line.index("(") + 1 : line.rindex(")")], line[line.rindex(")") + 2 :].split()


def driver_pids(made: Box) -> set[str]:
    listed = set()
    for gpu in handles(made.driver):
        for kind in ("Compute", "Graphics", "MPSCompute"):
            answer: list[Any] = getattr(made.driver, f"nvmlDeviceGet{kind}RunningProcesses")(gpu)
            listed |= {str(entry[0]) for entry in answer}
    return listed


def by_pid(made: Box, needle: str) -> str:
    return next(pid for pid in pids(made.proc) if needle in text(made.proc, f"{pid}/cmdline"))


@pytest.mark.parametrize("name", BOXES)
def test_every_process_has_all_files_and_52_fields(name: str) -> None:
    proc = box(name).proc
    for pid in pids(proc):
        comm, fields = stat(proc, f"{pid}/stat")

        assert len(fields) == 50
        assert int(fields[1]) == 0 or str(int(fields[1])) in pids(proc)
        assert text(proc, f"{pid}/comm") == comm + "\n"
        assert int(fields[17]) == len(proc.list(f"{pid}/task"))
        assert text(proc, f"{pid}/status").startswith(f"Name:\t{comm}\n")
        assert len(text(proc, f"{pid}/statm").split()) == 7
        assert text(proc, f"{pid}/cgroup").startswith("0::/")


@pytest.mark.parametrize("name", BOXES)
def test_the_pids_of_the_driver_are_in_proc(name: str) -> None:
    made = box(name)
    gone = {"dying": {"7113"}, "trouble": {"44013"}}.get(name, set())

    assert driver_pids(made) - set(pids(made.proc)) == gone


def test_data_loaders_are_in_proc_and_not_in_the_driver() -> None:
    made = box("training")
    loaders = {pid for pid in pids(made.proc) if stat(made.proc, f"{pid}/stat")[0] == "pt_data_worker"}

    assert len(loaders) == 32
    assert loaders.isdisjoint(driver_pids(made))
    parents = {stat(made.proc, f"{pid}/stat")[1][1] for pid in loaders}
    assert len(parents & driver_pids(made)) == 8


def test_a_gone_process_raises_file_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        box("dying").proc.read("7113/stat")


def test_cpu_time_grows_with_the_clock_and_never_shrinks() -> None:
    time = Time()
    proc = box("training", time).proc
    before = [int(stat(proc, f"{pid}/stat")[1][11]) for pid in pids(proc)]
    time.now += 10
    after = [int(stat(proc, f"{pid}/stat")[1][11]) for pid in pids(proc)]

    assert all(b <= a for b, a in zip(before, after, strict=True))
    assert 500 < max(a - b for b, a in zip(before, after, strict=True)) < 2000


def test_the_threads_of_a_process_add_up_to_it() -> None:
    proc = box("training").proc
    tasks = [stat(proc, f"48276/task/{tid}/stat")[1] for tid in proc.list("48276/task")]
    whole = int(stat(proc, "48276/stat")[1][11])

    assert whole - len(tasks) <= sum(int(fields[11]) for fields in tasks) <= whole
    assert stat(proc, f"48276/task/{proc.list('48276/task')[2]}/stat")[0] == "pt_autograd_0"


def test_the_age_of_a_process_follows_from_btime_and_start_time() -> None:
    proc = box("training").proc
    btime = next(int(line.split()[1]) for line in text(proc, "stat").splitlines() if line.startswith("btime"))
    started = btime + int(stat(proc, "48211/stat")[1][19]) / 100

    assert WALL_S - started == pytest.approx(9.3 * 3600, abs=2)


def test_cores_idle_or_work_all_the_time_and_never_backwards() -> None:
    time = Time()
    proc = box("training", time).proc
    before = core_ticks(proc)
    time.now += 5
    after = core_ticks(proc)

    assert len(before) == 64
    for old, new in zip(before, after, strict=True):
        assert all(o <= n for o, n in zip(old, new, strict=True))
        assert sum(new) - sum(old) == pytest.approx(500, abs=8)


def core_ticks(proc: Proc) -> list[list[int]]:
    lines = [line.split() for line in text(proc, "stat").splitlines()]
    return [[int(ticks) for ticks in line[1:]] for line in lines if line[0].startswith("cpu") and line[0] != "cpu"]


@pytest.mark.parametrize("name", BOXES)
def test_the_processes_fit_into_memory(name: str) -> None:
    proc = box(name).proc
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in text(proc, "meminfo").splitlines()}
    resident = sum(int(text(proc, f"{pid}/statm").split()[1]) * 4 for pid in pids(proc))

    assert 0 < kilobytes["MemFree"] < kilobytes["MemAvailable"] < kilobytes["MemTotal"]
    assert kilobytes["MemTotal"] - kilobytes["MemAvailable"] > resident


@pytest.mark.parametrize("path", ["loadavg", "uptime", "pressure/cpu", "pressure/memory", "pressure/io"])
def test_the_host_has_it(path: str) -> None:
    assert text(box("training").proc, path).endswith("\n")


def test_the_box_is_in_the_initial_pid_namespace() -> None:
    assert box("training").proc.link("self/ns/pid") == "pid:[4026531836]"


def test_the_environment_of_others_is_refused() -> None:
    made = box("training")

    assert "LOCAL_RANK=3\0" in text(made.proc, "48279/environ")
    with pytest.raises(PermissionError):
        made.proc.read(by_pid(made, "ipykernel") + "/environ")


def test_comm_may_hold_blanks_and_parentheses() -> None:
    dying, workstation = box("dying"), box("workstation")

    assert stat(dying.proc, "7240/stat")[0] == "\x1b[1mbad) S ("
    assert "RDD Process" in {stat(workstation.proc, f"{pid}/stat")[0] for pid in pids(workstation.proc)}


def test_there_is_a_hostile_command_line_and_one_in_other_scripts() -> None:
    assert b"\x1b]0;" in box("dying").proc.read("7240/cmdline")
    assert b"\xff" in box("dying").proc.read("7240/cmdline")
    assert "тренировка" in text(box("mig").proc, "30562/cmdline")


@pytest.mark.parametrize("name", BOXES)
def test_every_user_has_a_name(name: str) -> None:
    made = box(name)
    statuses = [text(made.proc, f"{pid}/status") for pid in pids(made.proc)]
    uids = {int(line.split()[1]) for status in statuses for line in status.splitlines() if line.startswith("Uid:")}

    assert uids <= made.users.keys()
