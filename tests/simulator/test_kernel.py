"""What changes do to the processes of a simulated box, and that they reach no others."""

import os
import signal
from itertools import pairwise
from typing import Any

import pytest
from children import child, start_ticks
from msgspec.structs import replace
from simulated import Time, box, handles

from gputop.core.protocol.command import IoClass, Renice, SendSignal, SetAffinity, SetIoClass, Target
from gputop.core.protocol.outcome import Outcome, Status
from gputop.machine.control.kernel import Kernel, KernelCalls
from gputop.machine.proc.stat import ProcessStat, parse_stat
from gputop.simulator import Box
from gputop.simulator.control import control_of_box

RANK, LOADERS, LAUNCHER, OTHERS = 48_277, (48_644, 48_645, 48_646, 48_647), 48_210, 31_877
RANKS = tuple(range(48_276, 48_284))


def stat(held: Box, pid: int) -> ProcessStat:
    found = parse_stat(held.proc.read(f"{pid}/stat"))
    assert found
    return found


def target(held: Box, pid: int) -> Target:
    return Target(pid, stat(held, pid).start_ticks)


def send(held: Box, pid: int, name: str = "SIGTERM") -> Outcome:
    return control_of_box(held).execute(SendSignal(id="a", signal=name, targets=(target(held, pid),)))


def pids(held: Box) -> set[int]:
    return {int(name) for name in held.proc.list("") if name.isdecimal()}


def on_gpu(held: Box, index: int = 1) -> list[int]:
    return [entry[0] for entry in held.driver.nvmlDeviceGetComputeRunningProcesses(handles(held.driver)[index])]


def counters(held: Box, index: int = 1) -> list[Any]:
    gpu = handles(held.driver)[index]
    energy = held.driver.nvmlDeviceGetTotalEnergyConsumption(gpu)
    ticks = [int(word) for word in held.proc.read("stat").split(b"\n", 1)[0].split()[1:5]]
    return [energy, *ticks]


def test_sigterm_ends_a_simulated_process_and_frees_its_gpu_memory() -> None:
    time = Time()
    held = box("training", time)
    gpu = handles(held.driver)[1]
    before = held.driver.nvmlDeviceGetMemoryInfo(gpu).used
    outcome = send(held, RANK)
    time.now += 2

    assert outcome.all_worked
    assert outcome.what == "SIMULATED SIGTERM"
    assert not pids(held) & {RANK, *LOADERS}
    assert on_gpu(held) == []
    assert held.driver.nvmlDeviceGetMemoryInfo(gpu).used < before - 60 * 1024**3
    assert held.driver.nvmlDeviceGetUtilizationRates(gpu).gpu == 0


def test_what_was_counted_before_stays_counted() -> None:
    time = Time()
    held = box("training", time)
    seen = [counters(held)]
    for name in ("SIGSTOP", "SIGCONT", "SIGTERM"):
        send(held, RANK, name)
        seen.append(counters(held))
        time.now += 3
        seen.append(counters(held))

    for earlier, later in pairwise(seen):
        assert all(was <= is_ for was, is_ in zip(earlier, later, strict=True))
    assert seen[-1][0] - seen[0][0] > 0


def test_a_gpu_that_nobody_uses_any_more_cools_down() -> None:
    time = Time()
    held = box("training", time)
    gpu = handles(held.driver)[1]
    warm = held.driver.nvmlDeviceGetTemperature(gpu, 0)
    send(held, RANK)
    just_after = held.driver.nvmlDeviceGetTemperature(gpu, 0)
    time.now += 300

    assert abs(warm - just_after) <= 1
    assert held.driver.nvmlDeviceGetTemperature(gpu, 0) < warm - 15


def test_a_stopped_process_keeps_its_memory_and_goes_on() -> None:
    time = Time()
    held = box("training", time)
    gpu = handles(held.driver)[1]
    send(held, RANK, "SIGSTOP")
    time.now += 5
    spent = stat(held, RANK).cpu_ticks
    stopped = stat(held, RANK).state, on_gpu(held), held.driver.nvmlDeviceGetUtilizationRates(gpu).gpu
    time.now += 5
    spent_while_stopped = stat(held, RANK).cpu_ticks - spent
    send(held, RANK, "SIGCONT")
    time.now += 5

    assert stopped == ("T", [RANK], 0)
    assert spent_while_stopped == 0
    assert stat(held, RANK).state == "R"
    assert stat(held, RANK).cpu_ticks > spent
    assert held.driver.nvmlDeviceGetUtilizationRates(gpu).gpu > 0


def test_a_stopped_process_ends_when_it_goes_on_and_is_killed_at_once() -> None:
    held = box("training")
    send(held, RANK, "SIGSTOP")
    outcome = send(held, RANK)
    waits = RANK in pids(held)
    send(held, RANK, "SIGCONT")
    send(held, RANK + 1, "SIGSTOP")
    send(held, RANK + 1, "SIGKILL")

    assert "takes effect after SIGCONT" in outcome.results[0].detail
    assert waits
    assert not pids(held) & {RANK, RANK + 1}


def test_a_launcher_that_is_asked_to_end_ends_its_ranks_and_one_that_is_killed_leaves_orphans() -> None:
    asked, killed = box("training"), box("training")
    send(asked, launcher(asked))
    send(killed, launcher(killed), "SIGKILL")

    assert not pids(asked) & set(RANKS)
    assert {stat(killed, pid).parent_pid for pid in RANKS} == {1}


def launcher(held: Box) -> int:
    return stat(held, RANK).parent_pid


def test_the_process_of_another_user_is_not_permitted_and_nor_is_a_higher_priority() -> None:
    held = box("training")
    door = control_of_box(held)
    higher = door.execute(Renice(id="a", nice=-1, targets=(target(held, RANK),)))

    assert send(held, OTHERS, "SIGKILL").results[0].status is Status.NOT_PERMITTED
    assert OTHERS in pids(held)
    assert higher.results[0].status is Status.NOT_PERMITTED


def test_nice_io_class_and_cpus_are_set_and_read_back() -> None:
    held = box("training")
    door, whom = control_of_box(held), (target(held, RANK),)
    nice = door.execute(Renice(id="a", nice=7, targets=whom)).results[0]
    io_class = door.execute(SetIoClass(id="b", io_class=IoClass.IDLE, targets=whom)).results[0]
    cpus = door.execute(SetAffinity(id="c", cpus=(3, 4, 900), targets=whom)).results[0]
    none = door.execute(SetAffinity(id="d", cpus=(900,), targets=whom)).results[0]

    assert (nice.before, nice.after, stat(held, RANK).nice) == ("0", "7", 7)
    assert (io_class.before, io_class.after) == ("none", "idle")
    assert (cpus.before, cpus.after) == ("0-63", "3-4")
    assert none.status is Status.FAILED


def test_a_process_that_waits_in_the_kernel_outlives_sigkill() -> None:
    held = box("dying")
    state = stat(held, 7355).state
    held.kernel._plan = replace(held.kernel._plan, viewer=0)  # type: ignore[attr-defined] # root may
    outcome = send(held, 7355, "SIGKILL")

    assert state == "D"
    assert "uninterruptible sleep" in outcome.results[0].detail
    assert 7355 in pids(held)


def test_a_mig_instance_gets_its_memory_back() -> None:
    time = Time()
    held = box("mig", time)
    gpu = handles(held.driver)[0]
    inside = held.driver.nvmlDeviceGetMigDeviceHandleByIndex(gpu, 0)
    mine = held.driver.nvmlDeviceGetComputeRunningProcesses(inside)[0][0]
    before = held.driver.nvmlDeviceGetMemoryInfo(inside).used
    send(held, mine)

    assert held.driver.nvmlDeviceGetMemoryInfo(inside).used < before
    assert mine not in [entry[0] for entry in held.driver.nvmlDeviceGetComputeRunningProcesses(inside)]


def test_the_pid_of_a_real_process_means_nothing_on_a_simulated_box() -> None:
    held = box("training")
    with child("SIGUSR1") as real:
        own = Target(os.getpid(), start_ticks(os.getpid()))
        change = SendSignal(id="a", signal="SIGUSR1", targets=(real.target, own))
        outcome = control_of_box(held).execute(change)

        assert {result.status for result in outcome.results} == {Status.GONE}
        with pytest.raises(ProcessLookupError):
            held.kernel.kill(real.pid, signal.SIGKILL)
        assert real.process.poll() is None


def test_it_has_every_call_of_the_real_kernel_and_is_none() -> None:
    kernel = box("training").kernel
    calls = {name for name in vars(KernelCalls) if not name.startswith("_")}

    assert calls == {name for name in vars(Kernel) if not name.startswith("_")}
    assert calls <= set(vars(type(kernel)))
    assert not isinstance(kernel, Kernel)


def test_nothing_is_written_into_the_audit_log(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    outcome = send(box("training"), RANK)

    assert outcome.note == ""
    assert list(tmp_path.iterdir()) == []
