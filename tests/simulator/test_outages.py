"""The dying box: a GPU that is lost and comes back, its event, and one that hangs."""

import pytest
from simulated import Time, box, code

LOST, HUNG = 2, 1
XID_EVENT = 0x8


@pytest.mark.parametrize(
    ("after_s", "expected"), [(0, 0), (19.9, 0), (20, 15), (79.9, 15), (80, 0), (170, 15), (230, 0)]
)
def test_the_lost_gpu_is_gone_for_a_minute_and_comes_back(after_s: float, expected: int) -> None:
    time = Time()
    driver = box("dying", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(LOST)
    uuid = driver.nvmlDeviceGetUUID(handle)
    time.now += after_s

    assert code(driver, "nvmlDeviceGetUtilizationRates", handle) == expected
    assert code(driver, "nvmlDeviceGetFieldValues", handle, [(83, 0)]) == expected
    assert code(driver, "nvmlDeviceGetComputeRunningProcesses", handle) == expected
    assert code(driver, "nvmlDeviceGetHandleByIndex", LOST) == expected
    assert code(driver, "nvmlDeviceGetHandleByUUID", uuid) == expected
    assert driver.nvmlDeviceGetCount() == 4
    assert code(driver, "nvmlDeviceGetUtilizationRates", driver.nvmlDeviceGetHandleByIndex(0)) == 0


def test_the_loss_is_told_once_as_xid_79() -> None:
    time = Time()
    driver = box("dying", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(LOST)
    uuid = driver.nvmlDeviceGetUUID(handle)
    events = driver.nvmlEventSetCreate()
    driver.nvmlDeviceRegisterEvents(handle, driver.nvmlDeviceGetSupportedEventTypes(handle), events)

    assert code(driver, "nvmlEventSetWait", events, 1000) == 10
    assert time.slept == [1.0]
    assert driver.nvmlEventSetWait(events, 60_000) == (uuid, XID_EVENT, 79)
    assert time.now == 5000.0 + 20
    assert code(driver, "nvmlEventSetWait", events, 5000) == 10
    assert driver.nvmlEventSetWait(events, 600_000) == (uuid, XID_EVENT, 79)
    assert time.now == 5000.0 + 170


def test_an_event_is_told_late_rather_than_lost() -> None:
    time = Time()
    driver = box("dying", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(LOST)
    events = driver.nvmlEventSetCreate()
    driver.nvmlDeviceRegisterEvents(handle, XID_EVENT, events)
    time.now += 50

    assert driver.nvmlEventSetWait(events, 1000)[2] == 79
    assert time.slept == []


def test_a_healthy_box_has_no_events_and_the_wait_takes_its_time() -> None:
    time = Time()
    driver = box("training", time).driver
    events = driver.nvmlEventSetCreate()
    driver.nvmlDeviceRegisterEvents(driver.nvmlDeviceGetHandleByIndex(0), XID_EVENT, events)

    assert code(driver, "nvmlEventSetWait", events, 1500) == 10
    assert time.slept == [1.5]


def test_a_call_of_the_hanging_gpu_returns_when_the_hang_ends() -> None:
    time = Time()
    driver = box("dying", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(HUNG)
    time.now += 50

    assert code(driver, "nvmlDeviceGetMemoryInfo", handle) == 0
    assert time.slept == [25.0]
    assert code(driver, "nvmlDeviceGetMemoryInfo", handle) == 0
    assert time.slept == [25.0]


def test_the_others_do_not_wait_for_the_hanging_one() -> None:
    time = Time()
    driver = box("dying", time).driver
    time.now += 50

    assert code(driver, "nvmlDeviceGetMemoryInfo", driver.nvmlDeviceGetHandleByIndex(0)) == 0
    assert time.slept == []


def test_the_worn_gpu_says_what_to_do() -> None:
    driver = box("dying").driver
    handle = driver.nvmlDeviceGetHandleByIndex(3)

    assert driver.nvmlDeviceGetRemappedRows(handle)[2] == 1
    assert driver.nvmlDeviceGetFieldValues(handle, [(230, 0)])[0][1] == 1
    assert driver.nvmlDeviceGetTotalEccErrors(handle, 1, 0) == 2
    assert [driver.nvmlDeviceGetNvLinkState(handle, link) for link in range(18)].count(0) == 1
