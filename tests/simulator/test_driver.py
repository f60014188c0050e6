"""The simulated driver answers as a driver does: in its shapes, with its errors, and the same again."""

from typing import Any

import pytest
from simulated import WALL_S, Time, box, code, handles

from gputop.core.model.catalogue import CATALOGUE, POWER_MODULE
from gputop.core.model.metric import Field, FieldRate, Gpm, NvmlCall
from gputop.simulator import BOXES, simulate

COUNTERS = tuple((origin.id, origin.scope) for m in CATALOGUE for origin in m.origins if isinstance(origin, FieldRate))
MORE_COUNTERS = ((83, 0), (74, 0), (269, 0))
SPAN_S = 1000
NO_ANSWER_ON_H100 = {
    "nvmlDeviceGetFanSpeed",  # it has no fan
    29, 30, 31,  # retired pages, before Ampere
    202, 204,  # NVLink 5
}  # fmt: skip


def every_answer(driver: Any) -> list[str]:
    origins = [origin for metric in CATALOGUE for origin in metric.origins if isinstance(origin, NvmlCall)]
    answers = []
    for handle in handles(driver):
        supported = [origin for origin in origins if not code(driver, origin.name, handle, *origin.args)]
        answers += [repr(getattr(driver, origin.name)(handle, *origin.args)) for origin in supported]
        answers.append(repr(driver.nvmlDeviceGetFieldValues(handle, [*COUNTERS, *MORE_COUNTERS])))
        answers.append(repr(driver.nvmlDeviceGetComputeRunningProcesses(handle)))
    return answers


@pytest.mark.parametrize("name", BOXES)
def test_at_the_same_time_a_box_answers_the_same(name: str) -> None:
    first, second = Time(), Time()
    one, other = box(name, first), box(name, second)
    first.now += 13.7
    second.now += 13.7

    assert every_answer(one.driver) == every_answer(other.driver)


def test_a_busy_gpu_is_not_the_same_a_second_later() -> None:
    time = Time()
    driver = box("training", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(0)
    before = driver.nvmlDeviceGetPowerUsage(handle)
    time.now += 1

    assert driver.nvmlDeviceGetPowerUsage(handle) != before


def test_an_unknown_box_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(ValueError, match=r"nonsense.*training, h200, mig, workstation, trouble, dying"):
        simulate("nonsense")


def test_without_init_nothing_is_answered() -> None:
    driver = simulate("training").driver

    assert code(driver, "nvmlDeviceGetCount") == 1


@pytest.mark.parametrize("metric", [one for one in CATALOGUE if one is not POWER_MODULE], ids=lambda metric: metric.key)
def test_the_h100_answers_every_origin_of_the_catalogue_in_range(metric: Any) -> None:
    time = Time()
    driver = box("training", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(5)
    older, newer = driver.nvmlGpmSampleAlloc(), driver.nvmlGpmSampleAlloc()
    driver.nvmlGpmSampleGet(handle, older)
    time.now += 1
    driver.nvmlGpmSampleGet(handle, newer)
    for origin in metric.origins:
        match origin:
            case NvmlCall(name=name) if name not in NO_ANSWER_ON_H100:
                value = origin.to(getattr(driver, name)(handle, *origin.args))
                assert metric.unit.allows(value)
            case Field() | FieldRate() if origin.id not in NO_ANSWER_ON_H100:
                ((status, value, stamp),) = driver.nvmlDeviceGetFieldValues(handle, [(origin.id, origin.scope)])
                assert status == 0
                assert abs(stamp / 1e6 - WALL_S) < 3
                assert isinstance(origin, FieldRate) or metric.unit.allows(origin.to(value))
            case Gpm():
                ((status, value),) = driver.nvmlGpmMetricsGet(older, newer, [origin.id])
                assert status == 0
                assert metric.unit.allows(value)


@pytest.mark.parametrize("name", BOXES)
def test_counters_never_go_backwards(name: str) -> None:
    time = Time()
    driver = box(name, time).driver
    gpus = handles(driver)
    before: dict[Any, Any] = {}
    for step in range(400):
        time.now += 0.07 if step % 2 else 1.31
        for n, gpu in enumerate(gpus):
            if code(driver, "nvmlDeviceGetUUID", gpu):
                continue  # lost for the moment
            answers = driver.nvmlDeviceGetFieldValues(gpu, [*COUNTERS, *MORE_COUNTERS])
            for key, (_, value, _) in zip((*COUNTERS, *MORE_COUNTERS), answers, strict=True):
                assert value >= before.get((n, key), 0)
                before[n, key] = value


def test_energy_is_the_integral_of_power() -> None:
    time = Time()
    driver = box("h200", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(0)
    start, watts = driver.nvmlDeviceGetTotalEnergyConsumption(handle), 0.0
    for _ in range(60):
        time.now += 1
        watts += driver.nvmlDeviceGetPowerUsage(handle) / 1000
    spent = (driver.nvmlDeviceGetTotalEnergyConsumption(handle) - start) / 1000

    assert spent == pytest.approx(watts, rel=0.001)


@pytest.mark.parametrize("name", BOXES)
def test_load_and_power_stay_within_what_a_board_can_do(name: str) -> None:
    time = Time()
    driver = box(name, time).driver
    for _ in range(500):
        time.now += 1.7
        for gpu in driver._gpus:
            now = gpu.clock.now()
            for field in ("gpu", "memory", "sm", "tensor", "dram", "encoder", "decoder"):
                assert -1e-6 <= getattr(gpu.activity, field).at(now) <= 100
            assert gpu.board.idle_w <= gpu.power.at(now) <= gpu.limit_w
            assert 20 <= gpu.chip_c(now) < gpu.board.thresholds_c[1]


@pytest.mark.parametrize("name", BOXES)
def test_memory_used_is_at_least_what_the_processes_hold(name: str) -> None:
    time = Time()
    driver = box(name, time).driver
    for _ in range(20):
        time.now += 97.0
        for gpu in handles_that_answer(driver):
            info = driver.nvmlDeviceGetMemoryInfo(gpu, version=2)
            compute = {p[0]: p[1] for p in driver.nvmlDeviceGetComputeRunningProcesses(gpu)}
            graphics = {p[0]: p[1] for p in driver.nvmlDeviceGetGraphicsRunningProcesses(gpu)}

            assert info.used >= sum((compute | graphics).values())
            assert info.total == info.used + info.free + info.reserved
            assert info.free > 0


def handles_that_answer(driver: Any) -> list[Any]:
    return [gpu for gpu in driver._gpus if not code(driver, "nvmlDeviceGetUUID", gpu)]


def test_the_first_version_of_memory_info_counts_what_is_reserved_as_used() -> None:
    driver = box("h200").driver
    handle = driver.nvmlDeviceGetHandleByIndex(0)
    first, second = driver.nvmlDeviceGetMemoryInfo(handle), driver.nvmlDeviceGetMemoryInfo(handle, 0x02000028)

    assert first.used == second.used + second.reserved
    assert first.total == first.used + first.free


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("nvmlDeviceGetEccMode", ()), ("nvmlDeviceGetTotalEccErrors", (0, 0)), ("nvmlDeviceGetRemappedRows", ()),
        ("nvmlDeviceGetNvLinkState", (0,)), ("nvmlDeviceGetMigMode", ()), ("nvmlDeviceGetSerial", ()),
        ("nvmlDeviceGetTemperatureThreshold", (2,)), ("nvmlDeviceGetMigDeviceHandleByIndex", (0,)),
    ],
)  # fmt: skip
def test_a_consumer_board_does_not_support_it(name: str, args: tuple[int, ...]) -> None:
    driver = box("workstation").driver

    assert [code(driver, name, handle, *args) for handle in handles(driver)] == [3, 3]


def test_a_consumer_board_has_no_profiling() -> None:
    driver = box("workstation").driver
    handle = driver.nvmlDeviceGetHandleByIndex(0)

    assert driver.nvmlGpmQueryDeviceSupport(handle) is False
    assert code(driver, "nvmlGpmSampleGet", handle, driver.nvmlGpmSampleAlloc()) == 3


def test_an_older_driver_lacks_newer_functions() -> None:
    driver = box("mig").driver
    handle = driver.nvmlDeviceGetHandleByIndex(1)

    assert code(driver, "nvmlDeviceGetTemperatureV", handle, 0) == 13
    assert code(driver, "nvmlDeviceGetTemperature", handle, 0) == 0


def test_what_is_no_function_is_no_attribute() -> None:
    assert not hasattr(box("h200").driver, "nvmlDeviceGetHoroscope")


def test_a_gpu_is_found_by_uuid() -> None:
    driver = box("training").driver
    third = driver.nvmlDeviceGetHandleByIndex(3)

    assert driver.nvmlDeviceGetHandleByUUID(driver.nvmlDeviceGetUUID(third)) is third
    assert code(driver, "nvmlDeviceGetHandleByUUID", "GPU-0") == 6
    assert code(driver, "nvmlDeviceGetHandleByIndex", 8) == 2


def test_uuids_are_all_different() -> None:
    uuids = [driver.nvmlDeviceGetUUID(h) for name in BOXES for driver in [box(name).driver] for h in handles(driver)]

    assert len(set(uuids)) == len(uuids)


def test_only_processes_that_did_something_have_utilization_and_only_since_the_last_time() -> None:
    time = Time()
    driver = box("training", time).driver
    handle = driver.nvmlDeviceGetHandleByIndex(2)  # a rank, and a notebook that holds memory
    listed = {entry[0] for entry in driver.nvmlDeviceGetComputeRunningProcesses(handle)}
    entries = driver.nvmlDeviceGetProcessUtilization(handle, 0)
    newest = max(entry[1] for entry in entries)

    assert {entry[0] for entry in entries} < listed
    assert all(0 < entry[2] <= 100 for entry in entries)
    assert driver.nvmlDeviceGetProcessUtilization(handle, newest) == []
    time.now += 1
    assert driver.nvmlDeviceGetProcessUtilization(handle, newest)[0][1] > newest


def test_graphics_processes_are_of_both_kinds_and_one_encodes() -> None:
    driver = box("workstation").driver
    handle = driver.nvmlDeviceGetHandleByIndex(0)
    compute = {entry[0] for entry in driver.nvmlDeviceGetComputeRunningProcesses(handle)}
    graphics = {entry[0] for entry in driver.nvmlDeviceGetGraphicsRunningProcesses(handle)}

    assert compute & graphics
    assert graphics - compute
    assert driver.nvmlDeviceGetEncoderUtilization(handle)[0] > 0
    assert any(entry[4] > 0 for entry in driver.nvmlDeviceGetProcessUtilization(handle, 0))
