"""What gputop makes of a driver's answers about one GPU."""

from types import SimpleNamespace
from typing import Any

import pytest
from fake_driver import FakeFunctions, NVMLError, fields

from gputop.core.model.catalogue import (
    CATALOGUE,
    ENERGY,
    EVENT_REASONS,
    FAN,
    GPU_UTILIZATION,
    MEMORY_RESERVED,
    MEMORY_USED,
    NVLINK_TX,
    PCIE_TX,
    POWER_AVERAGE,
    SM_ACTIVE,
    TEMPERATURE,
)
from gputop.core.model.metric import Metric, Missing
from gputop.machine.gpu.metrics import GpuLostError, MetricReader
from gputop.machine.nvml.driver import Driver

GIB = 1024**3


def reader(functions: FakeFunctions) -> MetricReader:
    return MetricReader(Driver(functions), "handle-0", 0)


def one(metric: Metric[Any], functions: FakeFunctions) -> Any:
    values, missing = reader(functions).read(0.0)
    value = values[metric.key]
    return missing[metric.key] if value is None else value


def test_every_row_of_the_catalogue_has_a_value_or_a_reason() -> None:
    values, missing = reader(FakeFunctions()).read(0.0)

    assert values.keys() == {metric.key for metric in CATALOGUE}
    assert missing.keys() == {key for key, value in values.items() if value is None}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (3, Missing.UNSUPPORTED),
        (4, Missing.FORBIDDEN),
        (13, Missing.OUTDATED),
        (999, Missing.FAULT),
        (12345, Missing.FAULT),
    ],
)
def test_a_refused_call_is_absent_with_its_reason_and_never_zero(code: int, reason: Missing) -> None:
    assert one(FAN, FakeFunctions(nvmlDeviceGetFanSpeed=NVMLError(code))) is reason


@pytest.mark.parametrize("garbage", [255, -1, 2**64 - 1, 101])
def test_an_impossible_value_is_a_fault_and_not_shown(garbage: int) -> None:
    rates = SimpleNamespace(gpu=garbage, memory=3)

    assert one(GPU_UTILIZATION, FakeFunctions(nvmlDeviceGetUtilizationRates=rates)) is Missing.FAULT


@pytest.mark.parametrize("shape", [None, "text", (), object()])
def test_an_answer_of_another_shape_is_a_fault_and_not_a_crash(shape: object) -> None:
    assert one(GPU_UTILIZATION, FakeFunctions(nvmlDeviceGetUtilizationRates=lambda _: shape)) is Missing.FAULT


def test_what_is_not_supported_is_not_asked_again() -> None:
    functions = FakeFunctions()
    metrics = reader(functions)
    metrics.read(0.0)
    before = functions.calls.copy()
    metrics.read(3600.0)

    assert functions.calls == before


def test_a_fault_is_asked_again_and_forgotten_when_it_is_over() -> None:
    functions = FakeFunctions(nvmlDeviceGetTemperatureV=NVMLError(999))
    metrics = reader(functions)
    metrics.read(0.0)
    functions.answers["nvmlDeviceGetTemperatureV"] = 61
    values, missing = metrics.read(1.0)

    assert values[TEMPERATURE.key] == 61
    assert TEMPERATURE.key not in missing


def test_an_older_driver_is_asked_by_the_older_call() -> None:
    functions = FakeFunctions(nvmlDeviceGetTemperatureV=NVMLError(13), nvmlDeviceGetTemperature=58)

    assert one(TEMPERATURE, functions) == 58


def test_a_board_without_power_fields_is_asked_by_the_power_call() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=fields(), nvmlDeviceGetPowerUsage=321_500)

    assert one(POWER_AVERAGE, functions) == 321.5


def test_a_call_that_serves_two_metrics_is_made_once_in_a_reading() -> None:
    functions = FakeFunctions(nvmlDeviceGetUtilizationRates=SimpleNamespace(gpu=1, memory=2))
    reader(functions).read(0.0)

    assert functions.calls["nvmlDeviceGetUtilizationRates"] == 1


def test_all_field_values_that_are_due_come_in_one_call() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=fields(f185=(1000, 1), f83=(5000, 1)))
    metrics = reader(functions)
    metrics.read(0.0)
    functions.calls.clear()
    metrics.read(1.0)

    assert functions.calls["nvmlDeviceGetFieldValues"] == 1


def test_static_facts_are_asked_once_and_slow_ones_rarely() -> None:
    functions = FakeFunctions(nvmlDeviceGetSerial="42", nvmlDeviceGetFanSpeed=30)
    metrics = reader(functions)
    for second in range(60):
        metrics.read(float(second))

    assert functions.calls["nvmlDeviceGetSerial"] == 1
    assert 10 <= functions.calls["nvmlDeviceGetFanSpeed"] <= 12


def test_the_pcie_throughput_call_that_blocks_is_not_made_where_the_driver_counts() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=fields(f197=(1000, 1), f198=(1000, 1)))
    reader(functions).read(0.0)

    assert "nvmlDeviceGetPcieThroughput" not in functions.calls


@pytest.mark.parametrize("refusal", [2, 3])  # invalid argument: what drivers before R525 say of an unknown field
def test_pcie_traffic_of_an_old_driver_is_not_lost(refusal: int) -> None:
    functions = FakeFunctions(
        nvmlDeviceGetFieldValues=lambda _, ids: [(refusal, 0, 0) for _ in ids],
        nvmlDeviceGetPcieThroughput=lambda _, direction: (2048, 4096)[direction],
    )
    values, _ = reader(functions).read(0.0)

    assert (values["pcie_tx_bytes_per_s"], values["pcie_rx_bytes_per_s"]) == (2048 * 1024, 4096 * 1024)


def test_power_is_not_a_fault_where_the_driver_does_not_know_its_field() -> None:
    functions = FakeFunctions(
        nvmlDeviceGetFieldValues=lambda _, ids: [(2, 0, 0) for _ in ids], nvmlDeviceGetPowerUsage=66_840
    )

    assert one(POWER_AVERAGE, functions) == 66.84


def test_pcie_traffic_is_not_taken_from_counters_that_wrap_where_the_chip_measures_it() -> None:  # seen on an H100
    functions = FakeFunctions(
        nvmlGpmQueryDeviceSupport=True,
        nvmlGpmSampleAlloc=object,
        nvmlGpmSampleGet=lambda _, sample: sample,
        nvmlGpmMetricsGet=lambda _, __, ids: [(0, 6180.5 if metric_id == 20 else 0.0) for metric_id in ids],
        nvmlDeviceGetFieldValues=fields(f197=(1000, 1_000_000)),
    )
    metrics = reader(functions)
    metrics.read(0.0)
    values, _ = metrics.read(1.0)

    assert values[PCIE_TX.key] == 6180.5 * 1024**2


def test_a_rate_needs_two_readings_and_uses_the_drivers_own_clock() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=fields(f197=(1000, 1_000_000)))
    metrics = reader(functions)
    _, missing = metrics.read(0.0)
    functions.answers["nvmlDeviceGetFieldValues"] = fields(f197=(6000, 3_000_000))
    values, _ = metrics.read(1.0)

    assert missing[PCIE_TX.key] is Missing.NOT_YET
    assert values[PCIE_TX.key] == 2500.0


def test_a_counter_that_goes_back_starts_anew_and_shows_no_huge_rate() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=fields(f197=(10**9, 1_000_000)))
    metrics = reader(functions)
    metrics.read(0.0)
    functions.answers["nvmlDeviceGetFieldValues"] = fields(f197=(10, 2_000_000))
    values, missing = metrics.read(1.0)

    assert values[PCIE_TX.key] is None
    assert missing[PCIE_TX.key] is Missing.NOT_YET


def test_nvlink_counts_in_kibibytes() -> None:
    functions = FakeFunctions(nvmlDeviceGetFieldValues=fields(f138=(0, 1_000_000)))
    metrics = reader(functions)
    metrics.read(0.0)
    functions.answers["nvmlDeviceGetFieldValues"] = fields(f138=(3, 2_000_000))

    assert metrics.read(1.0)[0][NVLINK_TX.key] == 3072.0


def test_a_counter_is_converted_to_base_units() -> None:
    assert one(ENERGY, FakeFunctions(nvmlDeviceGetFieldValues=fields(f83=(7_500, 1)))) == 7.5


@pytest.mark.parametrize("includes_reserved", [True, False])
def test_memory_used_never_contains_what_the_driver_reserves(includes_reserved: bool) -> None:  # noqa: FBT001
    used = 40 * GIB + (GIB if includes_reserved else 0)
    info = SimpleNamespace(total=80 * GIB, reserved=GIB, used=used, free=39 * GIB)

    functions = FakeFunctions(nvmlDeviceGetMemoryInfo=info)

    assert one(MEMORY_USED, functions) == 40 * GIB
    assert one(MEMORY_RESERVED, functions) == GIB


def test_a_board_that_shares_the_hosts_memory_has_no_memory_of_zero() -> None:
    info = SimpleNamespace(total=0, reserved=0, used=0, free=0)

    assert one(next(m for m in CATALOGUE if m.key == "memory_total_bytes"),
               FakeFunctions(nvmlDeviceGetMemoryInfo=info)) is Missing.UNSUPPORTED  # fmt: skip


def test_reasons_that_are_newer_than_gputop_are_shown_in_hexadecimal() -> None:
    mask = 0x4 | 0x40 | 1 << 40

    assert one(EVENT_REASONS, FakeFunctions(nvmlDeviceGetCurrentClocksEventReasons=mask)) == (
        "power cap",
        "hardware thermal",
        "0x10000000000",
    )


def test_profiling_metrics_need_two_samples() -> None:
    functions = FakeFunctions(
        nvmlGpmQueryDeviceSupport=True,
        nvmlGpmSampleAlloc=object,
        nvmlGpmSampleGet=lambda _, sample: sample,
        nvmlGpmMetricsGet=lambda _, __, ids: [(0, float(metric_id)) for metric_id in ids],
    )
    metrics = reader(functions)
    _, missing = metrics.read(0.0)
    values, _ = metrics.read(1.0)

    assert missing[SM_ACTIVE.key] is Missing.NOT_YET
    assert values[SM_ACTIVE.key] == 2.0


def test_a_lost_gpu_ends_the_reading_at_its_first_call() -> None:
    functions = FakeFunctions(nvmlDeviceGetSerial=NVMLError(15))
    with pytest.raises(GpuLostError):
        reader(functions).read(0.0)
