"""A GPU with its instances and processes."""

from types import SimpleNamespace
from typing import Any

from fake_driver import FakeFunctions, NVMLError

from gputop.core.model.catalogue import MEMORY_USED, SM_ACTIVE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuState
from gputop.machine.gpu.device import DeviceReader
from gputop.machine.nvml.driver import Driver

MIB = 1024**2


def device(functions: FakeFunctions) -> DeviceReader:
    return DeviceReader(Driver(functions), "handle-0", 0, ("GPU-0", "NVIDIA H100", "00000000:00:00.0"))


def mig(slots: dict[int, tuple[int, int, str]]) -> FakeFunctions:
    """Return a GPU in MIG mode: slot → (GPU instance, compute instance, profile)."""

    def handle(_: Any, slot: int) -> Any:
        return f"mig-{slot}" if slot in slots else NVMLError(6)

    def of(handle: str) -> tuple[int, int, str]:
        return slots[int(handle.removeprefix("mig-"))]

    functions = FakeFunctions(
        nvmlDeviceGetMigMode=[1, 1],
        nvmlDeviceGetMaxMigDeviceCount=7,
        nvmlDeviceGetMigDeviceHandleByIndex=handle,
        nvmlDeviceGetGpuInstanceId=lambda handle: of(handle)[0],
        nvmlDeviceGetComputeInstanceId=lambda handle: of(handle)[1],
        nvmlDeviceGetName=lambda handle: f"NVIDIA H100 80GB HBM3 MIG {of(handle)[2]}",
        nvmlDeviceGetUUID=lambda handle: handle.replace("mig", "MIG").replace("handle", "GPU"),
        nvmlDeviceGetAttributes_v2=SimpleNamespace(multiprocessorCount=16),
        nvmlDeviceGetMemoryInfo=lambda handle, _: (
            SimpleNamespace(total=100 * MIB, reserved=0, used=of(handle)[0] * MIB, free=0)
            if handle.startswith("mig")
            else NVMLError(4)
        ),
        nvmlGpmQueryDeviceSupport=True,
        nvmlGpmSampleAlloc=lambda: [0],
        nvmlGpmMigSampleGet=lambda _, gi, sample: sample.__setitem__(0, gi),
        nvmlGpmMetricsGet=lambda _, newer, ids: [(0, float(newer[0])) for _ in ids],
    )
    functions.answers["nvmlDeviceGetComputeRunningProcesses"] = lambda handle: (
        [(100 + of(handle)[0], MIB, of(handle)[0], of(handle)[1])] if handle.startswith("mig") else NVMLError(4)
    )
    return functions


def test_instances_are_found_across_empty_slots() -> None:
    reading = device(mig({0: (7, 0, "1g.10gb"), 2: (3, 0, "2g.20gb"), 6: (9, 0, "1g.10gb")})).read(0.0, 0.0)

    assert [(i.id, i.profile) for i in reading.gpu.instances] == [(3, "2g.20gb"), (7, "1g.10gb"), (9, "1g.10gb")]


def test_compute_instances_that_share_a_gpu_instance_stand_under_it() -> None:
    reading = device(mig({0: (3, 0, "1c.2g.20gb"), 1: (3, 1, "1c.2g.20gb")})).read(0.0, 0.0)

    (instance,) = reading.gpu.instances
    assert instance.profile == "2g.20gb"
    assert [(c.id, c.name, c.uuid) for c in instance.compute_instances] == [
        (0, "1c.2g.20gb", "MIG-0"),
        (1, "1c.2g.20gb", "MIG-1"),
    ]


def test_an_instance_has_its_own_memory_activity_and_processes() -> None:
    gpu = device(mig({0: (3, 0, "2g.20gb"), 1: (5, 0, "2g.20gb")}))
    gpu.read(0.0, 0.0)
    reading = gpu.read(1.0, 0.0)

    assert [i[MEMORY_USED] for i in reading.gpu.instances] == [3 * MIB, 5 * MIB]
    assert [i[SM_ACTIVE] for i in reading.gpu.instances] == [3.0, 5.0]
    assert {pid: uses[0].gpu_instance for pid, uses in reading.uses.items()} == {103: 3, 105: 5}


def test_utilization_of_a_process_on_an_instance_is_absent_and_not_zero() -> None:
    (use,) = device(mig({0: (3, 0, "2g.20gb")})).read(0.0, 0.0).uses[103]

    assert use.sm_percent is None
    assert use.missing["sm_percent"] is Missing.UNSUPPORTED


def test_a_change_of_the_layout_is_followed_when_the_driver_reports_it() -> None:
    slots = {0: (3, 0, "2g.20gb")}
    gpu = device(mig(slots))
    gpu.read(0.0, 0.0)
    slots[1] = (5, 0, "1g.10gb")
    unaware = gpu.read(1.0, 0.0)
    gpu.is_changed = True
    aware = gpu.read(2.0, 0.0)

    assert [i.id for i in unaware.gpu.instances] == [3]
    assert [i.id for i in aware.gpu.instances] == [3, 5]


def test_a_gpu_that_was_split_anew_is_shown_so_with_the_next_reading() -> None:
    functions = mig({0: (1, 0, "3g.40gb")})
    functions.answers["nvmlDeviceGetMigMode"] = [0, 0]
    reader = device(functions)
    reader.read(0.0, 0.0)
    functions.answers["nvmlDeviceGetMigMode"] = [1, 1]
    unaware = reader.read(0.1, 0.1).gpu.instances
    reader.is_split_anew = True

    assert unaware == ()
    assert [instance.profile for instance in reader.read(0.2, 0.2).gpu.instances] == ["3g.40gb"]


def test_a_pid_in_two_lists_is_one_use() -> None:
    functions = FakeFunctions(
        nvmlDeviceGetComputeRunningProcesses=[(7, 3 * MIB, None, None)],
        nvmlDeviceGetGraphicsRunningProcesses=[(7, 3 * MIB, None, None), (8, None, None, None)],
        nvmlDeviceGetMPSComputeRunningProcesses=[(9, MIB, None, None)],
    )
    uses = device(functions).read(0.0, 0.0).uses

    assert {pid: use.type for pid, (use,) in uses.items()} == {7: "C+G", 8: "G", 9: "M"}
    assert uses[8][0].missing["memory_bytes"] is Missing.UNSUPPORTED


def test_pids_out_of_range_are_garbage_of_another_structure() -> None:
    functions = FakeFunctions(nvmlDeviceGetComputeRunningProcesses=[(0, 1, None, None), (2**31, 1, None, None)])

    assert device(functions).read(0.0, 0.0).uses == {}


def test_a_gpu_that_lists_no_processes_says_why() -> None:
    functions = FakeFunctions(nvmlDeviceGetComputeRunningProcesses=NVMLError(3))

    assert device(functions).read(0.0, 0.0).gpu.missing["processes"] is Missing.UNSUPPORTED


def test_a_lost_gpu_is_left_alone_and_comes_back_with_a_new_handle() -> None:
    functions = FakeFunctions(nvmlDeviceGetSerial="42")
    gpu = device(functions)
    gpu.read(0.0, 0.0)
    functions.answers["nvmlDeviceGetUtilizationRates"] = NVMLError(15)
    functions.answers["nvmlDeviceGetMigMode"] = NVMLError(15)
    gpu = device(functions)
    lost = gpu.read(1.0, 0.0)
    calls = sum(functions.calls.values())
    gpu.read(2.0, 0.0)

    assert lost.gpu.state is GpuState.LOST
    assert sum(functions.calls.values()) == calls

    functions.answers["nvmlDeviceGetUtilizationRates"] = NVMLError(3)
    functions.answers["nvmlDeviceGetMigMode"] = NVMLError(3)
    back = gpu.read(7.0, 0.0)

    assert back.gpu.state is GpuState.OK
    assert functions.calls["nvmlDeviceGetHandleByUUID"] == 1


def test_a_list_that_cannot_be_read_is_said_and_one_that_does_not_exist_is_not() -> None:
    lists = {"nvmlDeviceGetComputeRunningProcesses": [], "nvmlDeviceGetMPSComputeRunningProcesses": NVMLError(3)}
    whole = device(FakeFunctions(**lists, nvmlDeviceGetGraphicsRunningProcesses=[])).read(0.0, 0.0).gpu
    part = device(FakeFunctions(**lists, nvmlDeviceGetGraphicsRunningProcesses=NVMLError(4))).read(0.0, 0.0).gpu

    assert "other_processes" not in whole.missing
    assert part.missing["other_processes"] is Missing.FORBIDDEN


def nameless(*answers: Any) -> tuple[DeviceReader, list[str]]:
    """Return a GPU that did not tell its name at the first look, and what was asked of it."""
    asked: list[str] = []

    def name(_: Any) -> Any:
        asked.append("name")
        return answers[min(len(asked), len(answers)) - 1]

    reader = DeviceReader(
        Driver(FakeFunctions(nvmlDeviceGetName=name)), "handle-0", 0, ("GPU-0", "", "00000000:00:00.0")
    )
    return reader, asked


def test_a_name_that_was_not_told_at_the_first_look_is_asked_for_until_it_is() -> None:
    reader, asked = nameless(NVMLError(999), "NVIDIA \x1b[1mH100", "another")
    readings = [reader.read(float(second), 0.0).gpu for second in range(4)]

    assert [(gpu.name, gpu.missing.get("name")) for gpu in readings] == [
        ("", Missing.FAULT),
        *[("NVIDIA ␛[1mH100", None)] * 3,
    ]
    assert len(asked) == 2


def test_a_name_that_there_is_not_is_absent_with_its_reason_and_not_asked_for_again() -> None:
    reader, asked = nameless(NVMLError(3))
    readings = [reader.read(float(second), 0.0).gpu for second in range(3)]

    assert [gpu.missing.get("name") for gpu in readings] == [Missing.UNSUPPORTED] * 3
    assert len(asked) == 1
