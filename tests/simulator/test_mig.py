"""MIG of the simulated driver: gaps, instances with their own memory and processes, and what MIG takes away."""

from typing import Any

import pytest
from simulated import Time, box, code, handles


def slots(driver: Any, gpu: Any) -> dict[int, Any]:
    count = driver.nvmlDeviceGetMaxMigDeviceCount(gpu)
    present = [n for n in range(count) if not code(driver, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, n)]
    return {n: driver.nvmlDeviceGetMigDeviceHandleByIndex(gpu, n) for n in present}


def test_the_index_has_gaps_that_answer_not_found() -> None:
    driver = box("mig").driver
    gpu = driver.nvmlDeviceGetHandleByIndex(0)

    assert list(slots(driver, gpu)) == [0, 2, 3, 5]
    assert code(driver, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, 1) == 6
    assert code(driver, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, 7) == 2


def test_a_whole_gpu_has_no_instances() -> None:
    driver = box("mig").driver
    gpu = driver.nvmlDeviceGetHandleByIndex(1)

    assert driver.nvmlDeviceGetMigMode(gpu) == [0, 0]
    assert driver.nvmlDeviceGetMaxMigDeviceCount(gpu) == 0


def test_a_mig_device_says_what_it_is() -> None:
    driver = box("mig").driver
    device = slots(driver, driver.nvmlDeviceGetHandleByIndex(0))[0]
    attributes = driver.nvmlDeviceGetAttributes_v2(device)

    assert driver.nvmlDeviceGetName(device) == "NVIDIA A100-SXM4-40GB MIG 3g.20gb"
    assert driver.nvmlDeviceGetUUID(device).startswith("MIG-")
    assert (driver.nvmlDeviceGetGpuInstanceId(device), driver.nvmlDeviceGetComputeInstanceId(device)) == (1, 0)
    assert (attributes.multiprocessorCount, attributes.gpuInstanceSliceCount) == (42, 3)


def test_two_compute_instances_share_the_memory_of_their_gpu_instance_and_halve_its_multiprocessors() -> None:
    driver = box("mig").driver
    devices = slots(driver, driver.nvmlDeviceGetHandleByIndex(2))
    one, other = devices[0], devices[1]

    assert driver.nvmlDeviceGetGpuInstanceId(one) == driver.nvmlDeviceGetGpuInstanceId(other)
    assert driver.nvmlDeviceGetMemoryInfo(one).used == driver.nvmlDeviceGetMemoryInfo(other).used
    assert driver.nvmlDeviceGetAttributes_v2(one).multiprocessorCount == 32
    assert driver.nvmlDeviceGetAttributes_v2(one).computeInstanceSliceCount == 2
    assert driver.nvmlDeviceGetComputeRunningProcesses(one) != driver.nvmlDeviceGetComputeRunningProcesses(other)


@pytest.mark.parametrize("index", [0, 2])
def test_processes_of_the_instances_are_those_of_the_gpu(index: int) -> None:
    driver = box("mig").driver
    gpu = driver.nvmlDeviceGetHandleByIndex(index)
    of_instances = []
    for device in slots(driver, gpu).values():
        listed = driver.nvmlDeviceGetComputeRunningProcesses(device)
        info = driver.nvmlDeviceGetMemoryInfo(device, version=2)
        of_instances += listed

        assert all(entry[2] == driver.nvmlDeviceGetGpuInstanceId(device) for entry in listed)
        assert info.total > info.used >= sum(entry[1] for entry in listed)
    assert sorted(of_instances) == sorted(driver.nvmlDeviceGetComputeRunningProcesses(gpu))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("nvmlDeviceGetUtilizationRates", ()), ("nvmlDeviceGetEncoderUtilization", ()),
        ("nvmlDeviceGetDecoderUtilization", ()), ("nvmlDeviceGetProcessUtilization", (0,)),
    ],
)  # fmt: skip
def test_a_split_gpu_has_no_utilization(name: str, args: tuple[int, ...]) -> None:
    driver = box("mig").driver

    assert [code(driver, name, handle, *args) for handle in handles(driver)] == [3, 0, 3]


def test_power_is_of_the_gpu_alone() -> None:
    driver = box("mig").driver
    gpu = driver.nvmlDeviceGetHandleByIndex(0)

    assert code(driver, "nvmlDeviceGetPowerUsage", gpu) == 0
    assert code(driver, "nvmlDeviceGetPowerUsage", slots(driver, gpu)[0]) == 3


def test_profiling_is_per_gpu_instance_on_hopper_and_not_on_ampere() -> None:
    time = Time()
    driver = box("mig", time).driver
    ampere, hopper = driver.nvmlDeviceGetHandleByIndex(0), driver.nvmlDeviceGetHandleByIndex(2)
    older, newer = driver.nvmlGpmSampleAlloc(), driver.nvmlGpmSampleAlloc()
    driver.nvmlGpmMigSampleGet(hopper, 6, older)
    time.now += 1
    driver.nvmlGpmMigSampleGet(hopper, 6, newer)
    ((status, sm_active),) = driver.nvmlGpmMetricsGet(older, newer, [2])

    assert status == 0
    assert 10 < sm_active < 100
    assert code(driver, "nvmlGpmMigSampleGet", ampere, 1, older) == 3
    assert code(driver, "nvmlGpmMigSampleGet", hopper, 99, older) == 2


def test_mps_clients_are_in_their_own_list() -> None:
    driver = box("mig").driver
    gpu = driver.nvmlDeviceGetHandleByIndex(1)
    clients = {entry[0] for entry in driver.nvmlDeviceGetMPSComputeRunningProcesses(gpu)}

    assert len(clients) == 2
    assert clients.isdisjoint(entry[0] for entry in driver.nvmlDeviceGetComputeRunningProcesses(gpu))
