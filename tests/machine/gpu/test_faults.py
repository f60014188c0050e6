"""What drivers did wrong, and what gputop made of it."""

import sys
import threading
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from fake_driver import FakeFunctions, NVMLError

from gputop.core.model.catalogue import CATALOGUE, FAN, NVLINK_TX, POWER_INSTANT
from gputop.core.model.metric import Missing
from gputop.machine.gpu.device import DeviceReader, DeviceReading
from gputop.machine.gpu.discovery import Discovery
from gputop.machine.gpu.gpm import GpmReader
from gputop.machine.gpu.instances import InstanceReader
from gputop.machine.gpu.metrics import GpuLostError, MetricReader
from gputop.machine.gpu.slot import Slot
from gputop.machine.gpu.utilization import UtilizationReader
from gputop.machine.nvml import binding
from gputop.machine.nvml.codes import NVMLError as DriverError
from gputop.machine.nvml.driver import Driver
from gputop.machine.worker import Worker

SECOND = 1_000_000
PROCESSES = "nvmlDeviceGetComputeRunningProcesses"
UTILIZATION = "nvmlDeviceGetProcessesUtilizationInfo"


class FakeLibrary:
    """A driver's library that has these functions and no others."""

    def __init__(self, **functions: Callable[..., int]) -> None:
        self._functions = functions

    def symbol(self, name: str) -> Callable[..., int]:
        if name not in self._functions:
            raise DriverError(13)
        return self._functions[name]

    def plain(self, _: str) -> None:
        return None


def bound(**functions: Callable[..., int]) -> binding.Binding:
    made = binding.Binding()
    made._library = FakeLibrary(**functions)
    return made


def wanting(rooms: list[int], wanted: int) -> Callable[..., int]:
    """Return a process list that never has room enough."""

    def call(_: object, count: Any, entries: Any) -> int:
        rooms.append(len(entries))
        count._obj.value = wanted
        return 7

    return call


@pytest.mark.parametrize("wanted", [0, 3, 2**32 - 1])
def test_a_list_that_never_has_room_enough_does_not_take_all_memory(wanted: int) -> None:
    rooms: list[int] = []
    with pytest.raises(DriverError) as refused:
        bound(**{f"{PROCESSES}_v3": wanting(rooms, wanted)}).nvmlDeviceGetComputeRunningProcesses(1)

    assert refused.value.value == 7
    assert max(rooms) < 2**22


def test_utilization_that_never_has_room_enough_does_not_take_all_memory() -> None:
    asked: list[int] = []

    def call(_: object, info: Any) -> int:
        asked.append(info._obj.count)
        return 7

    with pytest.raises(DriverError):
        bound(**{UTILIZATION: call}).nvmlDeviceGetProcessUtilization(1, 0)

    assert max(asked) <= 2**16


def test_a_driver_that_does_not_know_our_version_of_utilization_is_asked_the_older_way() -> None:
    def older(_: object, held: Any, count: Any, __: object) -> int:
        held[0:4] = (7).to_bytes(4, "little")
        held[16:20] = (80).to_bytes(4, "little")
        count._obj.value = 1
        return 0

    made = bound(**{UTILIZATION: lambda *_: 25, "nvmlDeviceGetProcessUtilization": older})

    assert made.nvmlDeviceGetProcessUtilization(1, 0) == [(7, 0, 80, 0, 0, 0)]


def test_a_count_beyond_the_room_is_no_reading_beyond_the_room() -> None:
    def call(_: object, count: Any, __: Any) -> int:
        count._obj.value = 2**32 - 1
        return 0

    found = bound(**{f"{PROCESSES}_v3": call}).nvmlDeviceGetComputeRunningProcesses(1)

    assert {entry[0] for entry in found} == {0}


def entries(size: int, *pids: int) -> Callable[..., int]:
    """Return a process list of a driver whose entries are of so many bytes."""

    def call(_: object, count: Any, held: Any) -> int:
        for n, pid in enumerate(pids):
            held[n * size : n * size + 4] = pid.to_bytes(4, "little")
            held[n * size + 8 : n * size + 16] = (pid * 1024).to_bytes(8, "little")
        count._obj.value = len(pids)
        return 0

    return call


@pytest.mark.parametrize(
    ("version", "size", "others"),
    [
        ("", 16, ()),  # R450 and older
        ("_v2", 24, ()),  # R470
        ("_v3", 24, ()),  # R510 and R525
        ("_v3", 32, ("nvmlDeviceGetConfComputeMemSizeInfo",)),  # the first of R535
        ("_v3", 24, ("nvmlDeviceGetConfComputeMemSizeInfo", "nvmlDeviceGetRunningProcessDetailList")),  # and since
    ],
)
def test_process_lists_of_all_drivers_are_read_as_they_are_laid_out(
    version: str, size: int, others: tuple[str, ...]
) -> None:
    functions = {PROCESSES + version: entries(size, 7, 8)} | dict.fromkeys(others, lambda: 0)
    found = bound(**functions).nvmlDeviceGetComputeRunningProcesses(1)

    assert [(pid, memory) for pid, memory, *_ in found] == [(7, 7168), (8, 8192)]


def test_a_broken_nvidia_ml_py_is_an_outdated_one_and_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", ModuleType("pynvml"))  # another package of this name
    driver = Driver(bound())

    assert driver.ask("nvmlDeviceGetRowRemapperHistogram", 1) is Missing.OUTDATED
    assert driver.ask("nvmlDeviceGetGpuInstances", 1, 0, 1) is Missing.OUTDATED


def test_a_driver_that_is_gone_when_nvidia_ml_py_starts_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class TheirError(Exception):
        value = 9

    def refuse() -> None:
        raise TheirError

    module = SimpleNamespace(
        NVMLError=TheirError, nvmlInit=refuse, nvmlDeviceGetRowRemapperHistogram=lambda _: "answer"
    )
    monkeypatch.setitem(sys.modules, "pynvml", module)
    driver = Driver(bound())
    refused = driver.ask("nvmlDeviceGetRowRemapperHistogram", 1)
    module.nvmlInit = lambda: None

    assert refused is Missing.FAULT
    assert driver.ask("nvmlDeviceGetRowRemapperHistogram", 1) == "answer"


def test_two_gpus_that_ask_at_once_start_nvidia_ml_py_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    inside, on = threading.Event(), threading.Event()

    def start() -> None:
        started.append(1)
        inside.set()
        on.wait(60)

    module = SimpleNamespace(NVMLError=Exception, nvmlInit=start, nvmlDeviceGetAttributes_v2=lambda _: "answer")
    monkeypatch.setitem(sys.modules, "pynvml", module)
    made = bound()
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.append(made.nvmlDeviceGetAttributes_v2(1)), daemon=True)
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    inside.wait(60)
    on.set()
    for thread in threads:
        thread.join(60)

    assert answers == ["answer", "answer"]
    assert started == [1]


@pytest.mark.parametrize(
    ("code", "reason"), [(4, Missing.FORBIDDEN), (21, Missing.NOT_YET), (25, Missing.OUTDATED), (999, Missing.FAULT)]
)
def test_fields_that_are_refused_together_are_not_told_to_be_unsupported(code: int, reason: Missing) -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=NVMLError(code))
    _, missing = MetricReader(Driver(functions), "handle-0", 0).read(0.0)

    assert missing[POWER_INSTANT.key] is reason
    assert missing[NVLINK_TX.key] is reason
    assert missing[FAN.key] is Missing.UNSUPPORTED


@pytest.mark.parametrize(("code", "reason"), [(4, Missing.FORBIDDEN), (13, Missing.OUTDATED), (999, Missing.FAULT)])
def test_profiling_that_is_refused_is_not_told_to_be_unsupported(code: int, reason: Missing) -> None:
    gpm = GpmReader(Driver(FakeFunctions(nvmlGpmQueryDeviceSupport=NVMLError(code))), "handle-0")

    assert gpm.read((2,), 0.0) == {2: reason}


def test_profiling_that_failed_once_is_asked_for_again() -> None:
    functions = FakeFunctions(
        nvmlGpmQueryDeviceSupport=NVMLError(999), nvmlGpmSampleAlloc="sample", nvmlGpmSampleGet=None
    )
    gpm = GpmReader(Driver(functions), "handle-0")
    gpm.read((2,), 0.0)
    functions.answers["nvmlGpmQueryDeviceSupport"] = True

    assert gpm.read((2,), 1.0) == {2: Missing.NOT_YET}


def test_a_gpu_that_is_lost_while_it_is_profiled_is_lost() -> None:
    functions = FakeFunctions(nvmlGpmQueryDeviceSupport=NVMLError(15))

    with pytest.raises(GpuLostError):
        MetricReader(Driver(functions), "handle-0", 0).read(0.0)


def test_a_field_of_a_lost_gpu_makes_it_lost() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=lambda _, ids: [(15, 0, 0)] * len(ids))

    with pytest.raises(GpuLostError):
        MetricReader(Driver(functions), "handle-0", 0).read(0.0)


def test_one_timestamp_of_garbage_does_not_hide_all_utilization_that_follows() -> None:
    answers = iter([[], [(7, 2**64 - 1, 50, 0, 0, 0)], [(7, 2 * SECOND, 80, 0, 0, 0)]])
    functions = FakeFunctions(nvmlDeviceGetProcessUtilization=lambda *_: next(answers))
    utilization = UtilizationReader(Driver(functions), "handle-0")
    said = [utilization.read({7}, float(second)) for second in range(3)]

    assert said[2] == (1.0, {7: (80.0, 0.0, 0.0, 0.0)})


PATIENCE_S = 30.0


@pytest.mark.parametrize("garbage", [2**32 - 1, 2**31])
def test_a_garbage_count_of_gpus_or_slots_does_not_keep_us_for_ever(garbage: int) -> None:
    functions = FakeFunctions(
        nvmlDeviceGetCount=garbage,
        nvmlDeviceGetHandleByIndex=lambda index: f"handle-{index}" if index < 2 else NVMLError(2),
        nvmlDeviceGetMaxMigDeviceCount=garbage,
    )
    box = Discovery(Driver(functions), None, PATIENCE_S).read()
    instances = InstanceReader(Driver(functions), "handle-0")
    instances.enumerate()

    assert [index for index, *_ in box.named] == [0, 1]
    assert instances.devices == ()
    assert functions.calls["nvmlDeviceGetMigDeviceHandleByIndex"] < 100


def test_gpus_that_a_job_may_not_use_are_not_told_to_be_lost() -> None:
    functions = FakeFunctions(
        nvmlDeviceGetCount=8,
        nvmlDeviceGetHandleByIndex=lambda index: "handle-3" if index == 3 else NVMLError(4),
    )
    box = Discovery(Driver(functions), None, PATIENCE_S).read()

    assert [index for index, *_ in box.gpus] == [3]
    assert box.silent == {}
    assert box.refusal is None


def test_a_user_without_any_right_is_told_and_not_shown_an_empty_box() -> None:
    functions = FakeFunctions(nvmlDeviceGetCount=2, nvmlDeviceGetHandleByIndex=NVMLError(4))

    assert Discovery(Driver(functions), None, PATIENCE_S).read().refusal is Missing.FORBIDDEN


def test_sizes_that_nobody_has_are_a_fault_and_not_a_crash() -> None:
    def ask(_: object) -> None:
        raise MemoryError

    assert Driver(FakeFunctions(nvmlDeviceGetFanSpeed=ask)).ask("nvmlDeviceGetFanSpeed", 1) is Missing.FAULT


@pytest.mark.parametrize("memory", [2**63, 2**64 - 2])
def test_memory_that_nobody_has_is_not_that_of_a_process(memory: int) -> None:
    functions = FakeFunctions(nvmlDeviceGetComputeRunningProcesses=[(7, memory, None, None)])
    device = DeviceReader(Driver(functions), "handle-0", 0, ("GPU-0", "", ""))
    (use,) = device.read(0.0, 0.0).uses[7]

    assert use.memory_bytes is None
    assert use.missing["memory_bytes"] is Missing.FAULT


def test_work_that_fails_is_tried_again_and_is_not_hung_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda _: told.set())
    answers = iter([KeyError("a mistake of ours"), "answer"])

    def work(_: float) -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    worker = Worker(work)
    worker.ask(0.0)
    first = worker.take(60)
    worker.ask(1.0)

    assert (first, worker.take(60)) == (None, "answer")
    assert told.wait(60)


def test_a_gpu_whose_reading_fails_is_not_shown_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda _: told.set())
    slot = Slot(DeviceReader(Driver(FakeFunctions()), "handle-0", 0, ("GPU-0", "", "")), lambda: 0.0)
    slot.start(0.0)
    slot.finish(60, 0.0, 3.0)

    def fail(now: float, wall_s: float) -> DeviceReading:
        raise KeyError(now, wall_s)

    monkeypatch.setattr(slot.reader, "read", fail)
    slot.start(1.0)
    gpu = slot.finish(60, 1.0, 3.0).gpu

    assert {gpu.why(metric) for metric in CATALOGUE} == {Missing.FAULT}
    assert told.wait(60)
