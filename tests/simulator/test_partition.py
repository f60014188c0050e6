"""MIG of the simulated driver can be changed, and it refuses what a driver refuses."""

from typing import Any

import pytest
from simulated import box, code

IN_USE, RESET_REQUIRED, INSUFFICIENT, INVALID = 19, 16, 23, 2


@pytest.fixture
def driver() -> Any:
    return box("mig").driver


def listed(driver: Any, gpu: Any) -> list[tuple[int, int, int, int]]:
    found = [one for number in (0, 5, 9, 14, 15, 19, 20) for one in driver.nvmlDeviceGetGpuInstances(gpu, number, 7)]
    return sorted(driver.nvmlGpuInstanceGetInfo(one) for one in found)


def test_instances_say_where_they_are(driver: Any) -> None:
    assert listed(driver, driver.nvmlDeviceGetHandleByIndex(0)) == [
        (1, 9, 4, 4),
        (3, 14, 0, 2),
        (9, 19, 2, 1),
        (11, 19, 3, 1),
    ]


def test_profiles_have_ids_that_are_not_their_kinds_and_there_are_holes(driver: Any) -> None:
    gpu = driver.nvmlDeviceGetHandleByIndex(0)

    assert driver.nvmlDeviceGetGpuInstanceProfileInfo(gpu, 0x2) == (9, 3, 2, 42, 19_968, "3g.20gb")
    assert code(driver, "nvmlDeviceGetGpuInstanceProfileInfo", gpu, 0x5) == 3
    assert code(driver, "nvmlDeviceGetGpuInstanceProfileInfo", gpu, 0x12) == INVALID
    assert driver.nvmlDeviceGetGpuInstancePossiblePlacements(gpu, 9) == [(0, 4), (4, 4)]


def test_what_has_no_room_and_what_is_no_place_are_refused(driver: Any) -> None:
    gpu = driver.nvmlDeviceGetHandleByIndex(2)
    (gone,) = driver.nvmlDeviceGetGpuInstances(gpu, 19, 7)

    assert code(driver, "nvmlDeviceCreateGpuInstanceWithPlacement", gpu, 20, 6, 1) == INSUFFICIENT
    assert code(driver, "nvmlDeviceCreateGpuInstanceWithPlacement", gpu, 15, 5, 2) == INVALID
    assert code(driver, "nvmlGpuInstanceDestroy", gone) == IN_USE


def test_an_idle_instance_is_destroyed_and_made_again(driver: Any) -> None:
    gpu = driver.nvmlDeviceGetHandleByIndex(0)
    before = listed(driver, gpu)
    (idle,) = [
        one for one in driver.nvmlDeviceGetGpuInstances(gpu, 19, 7) if driver.nvmlGpuInstanceGetInfo(one)[0] == 11
    ]
    (compute,) = driver.nvmlGpuInstanceGetComputeInstances(idle, 0)

    assert code(driver, "nvmlGpuInstanceDestroy", idle) == IN_USE  # it has a compute instance
    driver.nvmlComputeInstanceDestroy(compute)
    assert code(driver, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, 5) == 6
    driver.nvmlGpuInstanceDestroy(idle)
    assert code(driver, "nvmlGpuInstanceGetInfo", idle) == INVALID
    made = driver.nvmlDeviceCreateGpuInstanceWithPlacement(gpu, 19, 3, 1)
    assert code(driver, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, 1) == 6  # nothing can be used yet
    driver.nvmlGpuInstanceCreateComputeInstanceWithPlacement(made, 0, 0, 1)
    device = driver.nvmlDeviceGetMigDeviceHandleByIndex(gpu, 1)
    assert driver.nvmlDeviceGetName(device).endswith("MIG 1g.5gb")
    assert sorted(row[1:] for row in listed(driver, gpu)) == sorted(row[1:] for row in before)


def test_a_process_keeps_its_instance(driver: Any) -> None:
    gpu = driver.nvmlDeviceGetHandleByIndex(0)
    (busy,) = driver.nvmlDeviceGetGpuInstances(gpu, 9, 2)
    (compute,) = driver.nvmlGpuInstanceGetComputeInstances(busy, 2)

    assert code(driver, "nvmlComputeInstanceDestroy", compute) == IN_USE


def test_the_mode_of_ampere_waits_for_a_reset_and_that_of_a_busy_gpu_for_its_processes() -> None:
    driver = box("mig").driver
    split, busy = (driver.nvmlDeviceGetHandleByIndex(n) for n in range(2))

    assert driver.nvmlDeviceSetMigMode(busy, 1) == IN_USE
    assert driver.nvmlDeviceGetMigMode(busy) == [0, 1]
    busy.uses.clear()
    assert driver.nvmlDeviceSetMigMode(busy, 1) == RESET_REQUIRED
    busy.partition.reset()
    assert driver.nvmlDeviceGetMigMode(busy) == [1, 1]
    assert code(driver, "nvmlDeviceSetMigMode", split, 0) == IN_USE  # it has instances


def test_the_mode_of_hopper_changes_at_once_and_is_told_as_an_event() -> None:
    driver = box("training").driver
    gpu = driver.nvmlDeviceGetHandleByIndex(7)
    gpu.uses.clear()
    events = driver.nvmlEventSetCreate()
    driver.nvmlDeviceRegisterEvents(gpu, 0x108, events)

    assert driver.nvmlDeviceSetMigMode(gpu, 1) == 0
    assert driver.nvmlDeviceGetMigMode(gpu) == [1, 1]
    assert driver.nvmlEventSetWait(events, 0)[:2] == (gpu.uuid, 0x100)
    assert code(driver, "nvmlEventSetWait", events, 0) == 10


def test_the_driver_counts_what_is_left(driver: Any) -> None:
    gpu = driver.nvmlDeviceGetHandleByIndex(2)

    assert driver.nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, 19) == 0
    assert driver.nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, 15) == 0
    assert code(driver, "nvmlDeviceGetGpuInstanceRemainingCapacity", driver.nvmlDeviceGetHandleByIndex(1), 19) == 3
