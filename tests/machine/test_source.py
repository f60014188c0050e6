"""The machine as a source: sick GPUs, GPUs that come and go, and what is asked of the others meanwhile."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from fake_driver import FakeFunctions, NVMLError
from fake_proc import FakeProc

from gputop.core.model.catalogue import TEMPERATURE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuState, Host, HostProcess, Presence, Sample
from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import Driver, NoDriverError
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource

PATIENCE_S = 30.0  # what is waited for a GPU that does answer; a hanging one is not waited for


class Hand:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeHost:
    def read(self, _: float) -> Host:
        return Host(name="node7")


class FakeProcesses:
    """Processes that have started at the moment of reading."""

    left_out: tuple[str, ...] = ()

    def ticks(self) -> int:
        return 0

    def read(self, uses: dict[int, Any], now: float, *_: Any) -> tuple[HostProcess, ...]:
        return tuple(HostProcess(pid=pid, started_s=now, gpus=held) for pid, held in sorted(uses.items()))

    def renewed(self) -> set[int]:
        return set()

    def relatives(self, _: Any, now: float) -> tuple[HostProcess, ...]:
        return (HostProcess(pid=1, started_s=now),)


def source(
    functions: FakeFunctions,
    clock: Hand,
    patience_s: float = PATIENCE_S,
    processes: FakeProcesses | None = None,
    hung_s: float = 3.0,
    **options: Any,
) -> MachineSource:
    return MachineSource(
        Driver(functions),
        cast("HostReader", FakeHost()),
        cast("ProcessReader", processes or FakeProcesses()),
        limits=Limits(patience_s=patience_s, hung_s=hung_s),
        clock=clock,
        wall=clock,
        **options,
    )


def functions(gpus: int, **answers: Any) -> FakeFunctions:
    return FakeFunctions(
        nvmlDeviceGetCount=gpus,
        nvmlDeviceGetTemperatureV=60,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [(100 + int(handle[-1]), 1024, None, None)],
        **answers,
    )


def states(sample: Sample) -> list[GpuState]:
    return [gpu.state for gpu in sample.gpus]


@contextmanager
def hanging(held: FakeFunctions, index: int) -> Iterator[None]:
    """Make a GPU hang in its next call until the block ends."""
    gate = threading.Event()

    def temperature(handle: str, _: int) -> int:
        if handle.endswith(str(index)):
            gate.wait()
        return 60

    held.answers["nvmlDeviceGetTemperatureV"] = temperature
    try:
        yield
    finally:
        gate.set()


def test_every_gpu_and_its_processes_are_read() -> None:
    held = source(functions(3), Hand())
    held.open()
    sample = held.read()

    assert [gpu.uuid for gpu in sample.gpus] == ["GPU-0", "GPU-1", "GPU-2"]
    assert [gpu[TEMPERATURE] for gpu in sample.gpus] == [60, 60, 60]
    assert [process.pid for process in sample.processes] == [100, 101, 102]


def test_a_process_on_several_gpus_is_one_process_with_several_uses() -> None:
    held = source(functions(2), Hand())
    held.driver._functions.answers["nvmlDeviceGetComputeRunningProcesses"] = [(7, 1024, None, None)]
    held.open()
    (process,) = held.read().processes

    assert [use.gpu_index for use in process.gpus] == [0, 1]


def test_without_a_driver_opening_says_what_is_missing() -> None:
    with pytest.raises(NoDriverError, match=r"libnvidia-ml\.so\.1"):
        source(FakeFunctions(nvmlInit=NVMLError(12)), Hand()).open()


def test_a_box_without_gpus_is_a_sample_without_gpus() -> None:
    held = source(FakeFunctions(nvmlDeviceGetCount=0), Hand())
    held.open()

    assert held.read().gpus == ()


def test_a_gpu_that_does_not_answer_is_hung_while_the_others_go_on() -> None:
    clock, driver = Hand(), functions(3)
    held = source(driver, clock, patience_s=0.2)
    held.open()
    held.read()
    with hanging(driver, 1):
        clock.now += 1
        held.read()
        clock.now += 4
        sample = held.read()

        assert states(sample) == [GpuState.OK, GpuState.HUNG, GpuState.OK]
        assert sample.gpus[1].why(TEMPERATURE) is Missing.HUNG
        assert sample.gpus[1].read_s == 1000.0
        assert sample.gpus[0].read_s == 1005.0


def test_a_late_gpu_is_shown_as_it_was_until_it_counts_as_hung() -> None:
    clock, driver = Hand(), functions(2)
    held = source(driver, clock, patience_s=0.2)
    held.open()
    held.read()
    with hanging(driver, 1):
        clock.now += 1
        held.read()
        clock.now += 1
        sample = held.read()

        assert states(sample) == [GpuState.OK, GpuState.OK]
        assert sample.gpus[1][TEMPERATURE] == 60
        assert sample.gpus[1].read_s == 1000.0


def test_the_processes_of_a_hung_gpu_stay_listed_without_values() -> None:
    clock, driver = Hand(), functions(2)
    held = source(driver, clock, patience_s=0.2)
    held.open()
    held.read()
    with hanging(driver, 1):
        clock.now += 1
        held.read()
        clock.now += 4
        uses = {process.pid: process.gpus[0] for process in held.read().processes}

        assert uses[100].memory_bytes == 1024
        assert uses[101].memory_bytes is None
        assert uses[101].missing["memory_bytes"] is Missing.HUNG


def test_a_gpu_that_answers_again_is_back() -> None:
    clock, driver = Hand(), functions(2)
    held = source(driver, clock, patience_s=0.2)
    held.open()
    held.read()
    with hanging(driver, 1):
        clock.now += 1
        held.read()
        clock.now += 4
        held.read()
    held.limits = Limits(patience_s=PATIENCE_S, hung_s=3.0)
    held._slots["GPU-1"].worker.take(PATIENCE_S)  # the late answer
    clock.now += 1

    assert states(held.read()) == [GpuState.OK, GpuState.OK]


def test_a_gpu_whose_registration_for_events_hangs_hides_the_xids_of_the_others() -> None:
    gate, events = threading.Event(), {"set-1": [("GPU-1", 0x8, 79)]}
    sets: dict[str, str] = {}

    def register(handle: str, _: int, event_set: str) -> None:
        if handle == "handle-0":
            gate.wait()
        sets[event_set] = handle

    def wait(event_set: str, _: int) -> Any:
        assert event_set in sets, "it waits for a set whose registration hangs"
        queued = events.get(sets[event_set].replace("handle", "set"), [])
        return queued.pop() if queued else NVMLError(10)

    clock = Hand()
    created = iter(range(9))
    driver = functions(
        2, nvmlDeviceGetSupportedEventTypes=0x8, nvmlEventSetCreate=lambda: f"set {next(created)}",
        nvmlDeviceRegisterEvents=register, nvmlEventSetWait=wait,
    )  # fmt: skip
    held = source(driver, clock)
    held.open()
    held.read()
    held._events._workers["GPU-1"].take(PATIENCE_S)
    clock.now += 1
    sample = held.read()
    gate.set()

    assert [[event.xid for event in gpu.xids] for gpu in sample.gpus] == [[], [79]]


def test_a_driver_that_hangs_at_the_start_is_a_sample_that_says_so() -> None:
    gate = threading.Event()
    held = source(FakeFunctions(nvmlInit=gate.wait), Hand(), patience_s=0.1)
    held.limits = Limits(patience_s=0.1, hung_s=0.1)
    held.open()
    sample = held.read()
    gate.set()

    assert sample.gpus == ()
    assert sample.driver.missing["version"] is Missing.HUNG


def test_a_lost_gpu_keeps_its_place_and_its_processes_and_others_go_on() -> None:
    clock, driver = Hand(), functions(2)
    held = source(driver, clock)
    held.open()
    held.read()
    driver.answers["nvmlDeviceGetTemperatureV"] = lambda handle, _: NVMLError(15) if handle == "handle-1" else 60
    clock.now += 1
    sample = held.read()

    assert states(sample) == [GpuState.OK, GpuState.LOST]
    assert sample.gpus[1].name == "NVIDIA H100"
    assert sample.gpus[1].why(TEMPERATURE) is Missing.LOST
    assert [process.pid for process in sample.processes] == [100, 101]


def test_a_gpu_that_is_lost_before_the_start_is_shown_with_its_index() -> None:
    handle = {0: "handle-0", 1: NVMLError(15)}
    held = source(functions(2, nvmlDeviceGetHandleByIndex=lambda index: handle[index]), Hand())
    held.open()
    sample = held.read()

    assert [(gpu.index, gpu.state) for gpu in sample.gpus] == [(0, GpuState.OK), (1, GpuState.LOST)]


def test_gpus_that_appear_and_vanish_are_followed() -> None:
    clock, driver = Hand(), functions(1)
    held = source(driver, clock)
    held.open()
    seen = []
    for count in (3, 2):
        driver.answers["nvmlDeviceGetCount"] = count
        clock.now += 60
        held.read()  # asks for the count
        held._settle(held._inventory_worker.take(PATIENCE_S))
        clock.now += 1
        seen.append(len(held.read().gpus))

    assert seen == [3, 2]


def test_only_the_selected_gpus_are_touched() -> None:
    driver = functions(3)
    held = source(driver, Hand(), selection=Selection(gpus=("1",)))
    held.open()
    sample = held.read()

    assert [gpu.index for gpu in sample.gpus] == [1]
    assert driver.calls["nvmlDeviceGetTemperatureV"] == 1


def test_a_selected_gpu_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"no such GPU: 7, GPU-x␛\. Available: 0 \(GPU-0, 00000000:00:00\.0\)"):
        source(functions(1), Hand(), selection=Selection(gpus=("7", "0", "GPU-x\x1b"))).open()


def test_pids_of_an_old_driver_are_not_taken_for_our_own() -> None:
    assert source(FakeFunctions(), Hand())._is_translated()  # unknown until it was asked

    old = source(FakeFunctions(nvmlSystemGetDriverVersion="535.104.05"), Hand())
    new = source(FakeFunctions(nvmlSystemGetDriverVersion="535.113.01"), Hand())
    old.open()
    new.open()

    assert [old._is_translated(), new._is_translated()] == [False, True]


def test_cpu_time_of_processes_is_measured_up_to_the_moment_of_their_reading() -> None:
    clock = Hand()

    def slow(_: str, __: int) -> int:
        clock.now += 0.4
        return 60

    driver = functions(1)
    driver.answers["nvmlDeviceGetTemperatureV"] = slow
    held = source(driver, clock)
    held.open()
    before = clock.now

    assert held.read().processes[0].started_s == before + 0.4


def test_a_process_that_keeps_its_reader_waiting_does_not_keep_the_gpus() -> None:
    class Stuck(FakeProcesses):
        gate = threading.Event()
        is_stuck = False

        def read(self, uses: dict[int, Any], now: float, *rest: Any) -> tuple[HostProcess, ...]:
            if self.is_stuck:
                self.gate.wait()
            return super().read(uses, now, *rest)

    clock, processes = Hand(), Stuck()
    held = source(functions(1), clock, processes=processes)
    held.open()
    held.read()
    held.limits = Limits(patience_s=PATIENCE_S, hung_s=0.1)
    processes.is_stuck = True
    clock.now += 1
    held.read()
    clock.now += 4
    sample = held.read()
    processes.gate.set()

    assert sample.gpus[0].read_s == 1005.0
    assert [process.pid for process in sample.processes] == [100]
    assert sample.problems == ("/proc has not answered for 4s: processes are shown as they were",)
    assert sample.host.missing["processes"] is Missing.BLOCKED


@pytest.mark.parametrize(
    ("pids", "named"),
    [
        ((), ()),
        ((4,), ("the command line of process 4",)),
        (range(1, 8), ("the command lines of processes 1, 2, 3, 4, 5 and 2 more",)),
    ],
)
def test_blocked_processes_and_relatives_are_not_passed_over_in_silence(
    pids: Iterable[int], named: tuple[str, ...]
) -> None:
    class Blocked(FakeProcesses):
        def relatives(self, _: Any, now: float) -> tuple[HostProcess, ...]:
            return tuple(HostProcess(pid=pid, started_s=now, missing={"command": Missing.BLOCKED}) for pid in pids)

    held = source(functions(1), Hand(), processes=Blocked())
    held.open()

    assert held.read().problems == tuple(f"cannot read {whose}: {Missing.BLOCKED.text}" for whose in named)


def test_gpus_do_not_vanish_because_the_driver_does_not_say_how_many_there_are() -> None:
    clock, driver = Hand(), functions(2)
    held = source(driver, clock)
    held.open()
    held.read()
    seen = []
    for count in (NVMLError(999), 2):
        driver.answers["nvmlDeviceGetCount"] = count
        clock.now += 60
        held.read()  # asks for the count
        held._settle(held._inventory_worker.take(PATIENCE_S))
        seen.append(held.read())

    assert [states(sample) for sample in seen] == [[GpuState.OK] * 2] * 2
    assert [sample.problems for sample in seen] == [
        ("the driver does not list its GPUs: the driver answered with an error or an impossible value",), (),
    ]  # fmt: skip


def test_a_driver_that_was_loaded_anew_is_started_anew() -> None:
    clock, driver = Hand(), functions(1)
    held = source(driver, clock)
    held.open()
    driver.answers["nvmlDeviceGetCount"] = NVMLError(1)
    for _ in range(3):
        clock.now += 60
        held.read()
        held._settle(held._inventory_worker.take(PATIENCE_S))

    assert driver.calls["nvmlInit"] > 1


def test_a_gpu_that_does_not_say_who_it_is_has_the_reason() -> None:
    held = source(
        functions(2, nvmlDeviceGetUUID=lambda handle: NVMLError(999) if handle == "handle-1" else "GPU-0"), Hand()
    )
    held.open()

    silent = held.read().gpus[1]

    assert [silent.missing[key] for key in ("uuid", "name", "bus_id")] == [Missing.FAULT] * 3
    assert (silent[TEMPERATURE], silent.why(TEMPERATURE)) == (None, Missing.FAULT)


@contextmanager
def hanging_look_up(held: FakeFunctions, *indices: int) -> Iterator[list[int]]:
    """Let the driver hang when it is asked for these GPUs, until the block ends; yield which were asked for."""
    gate = threading.Event()
    asked: list[int] = []

    def handle(index: int) -> str:
        asked.append(index)
        if index in indices:
            gate.wait(PATIENCE_S)
        return f"handle-{index}"

    held.answers["nvmlDeviceGetHandleByIndex"] = handle
    try:
        yield asked
    finally:
        gate.set()


@pytest.mark.parametrize("hung", [(0,), (1, 2)])
def test_a_gpu_that_hangs_at_the_start_does_not_hide_the_others(hung: tuple[int, ...]) -> None:
    driver = functions(4)
    with hanging_look_up(driver, *hung):
        held = source(driver, Hand(), hung_s=1.5)
        held.open()
        sample = held.read()

    assert [gpu.index for gpu in sample.gpus] == [0, 1, 2, 3]
    assert {gpu.index for gpu in sample.gpus if gpu.state is GpuState.HUNG} == set(hung)
    assert {gpu.why(TEMPERATURE) for gpu in sample.gpus if gpu.index in hung} == {Missing.HUNG}
    assert {gpu[TEMPERATURE] for gpu in sample.gpus if gpu.index not in hung} == {60}
    assert [process.pid for process in sample.processes] == [100 + i for i in range(4) if i not in hung]


def test_a_gpu_that_hung_at_the_start_and_answers_is_not_hung_for_ever() -> None:
    clock, driver = Hand(), functions(2)
    with hanging_look_up(driver, 1):
        held = source(driver, clock, hung_s=1.5)
        held.open()
        before = states(held.read())
    end = time.monotonic() + PATIENCE_S
    while (now := states(held.read())) != [GpuState.OK] * 2 and time.monotonic() < end:
        clock.now += 10
        held._settle(held._inventory_worker.take(PATIENCE_S))

    assert (before, now) == ([GpuState.OK, GpuState.HUNG], [GpuState.OK] * 2)


def test_a_look_up_that_hangs_is_not_started_again_and_again() -> None:
    clock, driver = Hand(), functions(2)
    with hanging_look_up(driver, 1) as asked:
        held = source(driver, clock, hung_s=0.2)
        held.open()
        for _ in range(5):
            clock.now += 10
            held.read()
            held._settle(held._inventory_worker.take(PATIENCE_S))

        assert asked.count(1) == 1


@pytest.mark.parametrize("wish", ["1", "GPU-00000001"])
def test_a_selected_gpu_that_hangs_at_the_start_is_not_called_absent(wish: str) -> None:
    driver = functions(2)
    with hanging_look_up(driver, 1):
        held = source(driver, Hand(), hung_s=1.5, selection=Selection(gpus=(wish,)))
        held.open()
        sample = held.read()

    assert [(gpu.index, gpu.state) for gpu in sample.gpus] == [(1, GpuState.HUNG)]


def test_of_a_gpu_that_never_answered_every_metric_has_its_reason() -> None:
    clock, driver = Hand(), functions(2)
    held = source(driver, clock, patience_s=0.2)
    held.open()
    with hanging(driver, 1):
        first = held.read().gpus[1]
        clock.now += 4
        then = held.read().gpus[1]

        assert (first.state, set(first.missing.values())) == (GpuState.OK, {Missing.NOT_YET})
        assert (then.state, set(then.missing.values())) == (GpuState.HUNG, {Missing.HUNG})
        assert first.metrics.keys() == then.metrics.keys() == held.read().gpus[0].metrics.keys()


def test_a_gpu_that_is_lost_before_the_start_does_not_stand_behind_all_others() -> None:
    handles = {0: "handle-0", 1: NVMLError(15), 2: "handle-2"}
    held = source(functions(3, nvmlDeviceGetHandleByIndex=lambda index: handles[index]), Hand())
    held.open()

    assert [gpu.index for gpu in held.read().gpus] == [0, 1, 2]


def test_a_process_that_takes_the_pid_after_the_driver_was_asked_passes_for_the_listed_one() -> None:
    proc = FakeProc()
    proc.add(100, start=5000)
    proc.now_ticks = 6000

    def listed(_: str) -> list[tuple[int, int, None, None]]:
        if proc.now_ticks == 6000:
            proc.add(100, start=6010)
        proc.now_ticks += 100
        return [(100, 1024, None, None)]

    driver = functions(1)
    driver.answers["nvmlDeviceGetComputeRunningProcesses"] = listed
    held = source(driver, Hand(), processes=cast("FakeProcesses", ProcessReader(proc, lambda _: "ann")))
    held.open()

    assert [process.start_ticks for process in held.read().processes] == [None]
    assert [process.start_ticks for process in held.read().processes] == [6010]


def test_a_selection_by_user_leaves_out_processes_without_a_known_user_without_a_word() -> None:
    class Half(FakeProcesses):
        left_out = ("some relatives are not shown",)

        def read(self, _: dict[int, Any], now: float, *__: Any) -> tuple[HostProcess, ...]:
            return (HostProcess(pid=8, presence=Presence.HIDDEN), HostProcess(pid=9, user="ann", started_s=now))

    held = source(functions(1), Hand(), processes=Half(), selection=Selection(users=("ann",)))
    held.open()
    sample = held.read()

    assert [process.pid for process in sample.processes] == [9]
    assert sample.left_out == (
        "cannot tell whether 1 process matches --user: unknown values of PID 8", "some relatives are not shown",
    )  # fmt: skip
    assert sample.problems == ()
