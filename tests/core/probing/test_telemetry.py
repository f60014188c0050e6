"""What the driver says of a GPU that is tested: counters by test, heat, links, and who comes meanwhile."""

from typing import Any

import pytest
from examples import NOW, gpu, process
from msgspec.structs import replace

from gputop.core.model.catalogue import (
    CLOCK_SM,
    ECC_VOLATILE_CORRECTED,
    PCIE_GENERATION,
    PCIE_GENERATION_MAX,
    PCIE_WIDTH,
    PCIE_WIDTH_MAX,
    POWER_AVERAGE,
    POWER_INSTANT,
    POWER_LIMIT,
    TEMPERATURE,
    THROTTLED_HW_THERMAL,
)
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import DriverInfo, Gpu, Host, Presence, Sample, XidEvent
from gputop.core.probing.counters import Board, counters
from gputop.core.probing.newcomers import newcomers
from gputop.core.probing.result import TestStatus
from gputop.core.probing.telemetry import link, negotiated, series, soak

QUIET = {"pcie_replays": 0}


def counted(seconds: float = 0, **values: Any) -> Gpu:
    made = gpu(read_s=NOW + seconds)
    return replace(made, metrics=made.metrics | QUIET | values)


def loaded(seconds: float, values: dict[Metric[Any], Any] | None = None) -> Gpu:
    usual: dict[Metric[Any], Any] = {CLOCK_SM: 1.9e9, POWER_AVERAGE: 650.0, POWER_LIMIT: 700.0}
    return gpu(values=usual | (values or {}), read_s=NOW + seconds)


def test_a_counter_that_grew_is_told_with_the_tests_in_which_it_did() -> None:
    key = "ecc_volatile_corrected"
    marks = [(name, counted(n * 10, **{key: value})) for n, (name, value) in enumerate((("a", 5), ("b", 8), ("c", 8)))]
    found = counters(counted(**{key: 5}), counted(60, **{key: 9}), marks)

    assert [finding.text for finding in found.findings] == [f"{key} rose by 4 during the probe: b +3, afterwards +1"]


def test_counters_are_kept_as_they_were_and_what_is_not_told_has_its_reason() -> None:
    after = gpu(values={ECC_VOLATILE_CORRECTED: Missing.UNSUPPORTED})
    found = counters(counted(), replace(after, metrics=after.metrics | {"pcie_replays": 3})).params

    assert [found[part]["pcie_replays"] for part in ("before", "after", "delta")] == [0, 3, 3]  # type: ignore[call-overload,index]  # a table
    assert found["delta"]["ecc_volatile_corrected"] is None  # type: ignore[call-overload,index]  # a table
    assert found["missing"]["ecc_volatile_corrected"] == "unsupported"  # type: ignore[call-overload,index]  # a table


def test_what_is_read_after_the_load_has_ended_is_no_part_of_the_soak() -> None:  # seen on an H100
    hot = [loaded(second, {TEMPERATURE: 60 + second // 3}) for second in range(30)]
    after = ((30, 411.0, 590.8), (31, 384.7, 403.2))
    cool = [loaded(at, {TEMPERATURE: 48, POWER_INSTANT: now, POWER_AVERAGE: mean}) for at, now, mean in after]
    figures = {figure.name: figure.value for figure in soak([*hot, *cool])[0]}

    assert figures["temperature_slope"] > 0


@pytest.mark.parametrize(("seconds", "status"), [(60, "warn"), (600, "pass")])
def test_replays_are_judged_by_the_minute(seconds: float, status: str) -> None:
    assert counters(counted(), counted(seconds, pcie_replays=20)).status.value == status


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"retired_pages_single_bit": 10, "retired_pages_double_bit": 4}, "pass"),
        ({"retired_pages_single_bit": 10, "retired_pages_double_bit": 5}, "warn"),
        ({"retired_pages_double_bit": 63}, "fail"), ({"remapped_rows_uncorrectable": 512}, "fail"),
        ({"recovery_action": "none"}, "pass"), ({"recovery_action": "GPU reset"}, "fail"),
        ({"retired_pages_pending": True}, "fail"), ({"remapped_rows_failed": True}, "fail"),
    ],
)  # fmt: skip
def test_what_is_alarming_is_so_whenever_it_came(values: dict[str, Any], status: str) -> None:
    assert counters(counted(**values), counted(**values)).status.value == status


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ({"nvlink_links_down": 0}, {"nvlink_links_down": 1}, "fail"), ({"nvlink_links_down": 4},) * 2 + ("pass",),
        ({"nvlink_crc_errors": 0}, {"nvlink_crc_errors": 999}, "pass"),
        ({"nvlink_crc_errors": 0}, {"nvlink_crc_errors": 1000}, "fail"),
        ({"pcie_non_fatal_errors": 0}, {"pcie_non_fatal_errors": 1}, "warn"),
        ({"nvlink_replay_errors": 0}, {"nvlink_replay_errors": 900}, "warn"),
        ({"pcie_replays": 9}, {"pcie_replays": 0}, "pass"),
    ],
)  # fmt: skip
def test_links_are_judged_by_what_was_lost_meanwhile(before: Any, after: Any, status: str) -> None:
    assert counters(counted(**before), counted(10, **after)).status.value == status


def test_what_a_board_says_of_its_spares_and_its_sram_counts() -> None:
    assert counters(counted(), counted(), (), Board(banks_without_spares=1)).status is TestStatus.WARN
    assert counters(counted(), counted(), (), Board(sram_exceeded=True)).status is TestStatus.FAIL
    assert counters(counted(), counted(), (), Board(sram_exceeded=False)).status is TestStatus.PASS


@pytest.mark.parametrize(("xid", "status"), [(79, "fail"), (48, "fail"), (13, "fail"), (43, "warn")])
def test_an_xid_is_told_with_its_test_and_what_our_own_end_leaves_is_no_failure(xid: int, status: str) -> None:
    old, new = XidEvent(time_s=NOW - 9, xid=79), XidEvent(time_s=NOW + 5, xid=xid)
    before, after = replace(counted(), xids=(old,)), replace(counted(60), xids=(old, new))
    found = counters(before, after, [("a", counted(3)), ("memory.random", counted(7))]).findings

    assert [(finding.code, finding.status.value) for finding in found] == [(f"counters.xid_{xid}", status)]
    assert "during memory.random" in found[0].text


def test_an_xid_that_only_tells_of_another_error_is_not_told() -> None:
    assert counters(counted(), replace(counted(60), xids=(XidEvent(time_s=NOW, xid=45),))).findings == ()


def test_how_fast_the_temperature_rises_is_told_and_judged_where_there_was_time_to_settle() -> None:
    rising = [loaded(n * 10, {TEMPERATURE: 60 + n // 3}) for n in range(36)]
    short, long = soak(rising[:12]), soak(rising)

    assert {figure.name: round(figure.value) for figure in long[0]}["temperature_slope"] == 2
    assert [finding.code for finding in long[1]] == ["soak.not_settled"]
    assert short[1] == ()


def test_a_temperature_that_has_settled_is_well() -> None:
    assert soak([loaded(n * 10, {TEMPERATURE: 70}) for n in range(36)])[1] == ()


def test_power_that_was_reached_and_time_that_was_lost_are_figures() -> None:
    samples = [loaded(n, {THROTTLED_HW_THERMAL: 100 + n * 0.25}) for n in range(9)]
    figures = {figure.name: round(figure.value) for figure in soak(samples)[0]}

    assert figures["power_reached"] == 93
    assert figures["throttled_hardware_thermal"] == 25


def test_what_was_seen_is_kept_for_plots_and_not_without_end() -> None:
    found = series([loaded(n) for n in range(5000)])

    assert len(found["time_s"]) <= 2000
    assert {len(values) for values in found.values()} == {len(found["time_s"])}
    assert found["power_average_w"][0] == 650
    assert "memory_temperature_c" not in found
    assert series([]) == {}


def linked(generation: int, width: int) -> Gpu:
    return gpu(
        values={PCIE_GENERATION: generation, PCIE_WIDTH: width, PCIE_GENERATION_MAX: 5, PCIE_WIDTH_MAX: 16},
    )  # fmt: skip


def test_a_link_is_judged_at_its_best_under_load() -> None:
    idle, best, poor = linked(1, 16), linked(5, 16), linked(5, 8)

    assert link([idle, best]) == ()
    assert negotiated([idle, best]) == (5, 16)
    assert [finding.code for finding in link([idle])] == ["link.generation"]
    assert [finding.code for finding in link([poor])] == ["link.width"]


def test_whoever_comes_to_a_gpu_is_told_and_our_own_workers_are_not() -> None:
    sample = Sample(
        time_s=NOW, interval_s=1, driver=DriverInfo(), host=Host(name="box"), gpus=(gpu(),),
        processes=(
            process(1), process(2), process(3, parent_pid=50), process(50),
            process(4, presence=Presence.HIDDEN), process(5, 1),
        ),
    )  # fmt: skip

    found = newcomers(sample, sample.gpus[0], {50}, {process(1).id})

    assert [line.split(",")[0] for line in found] == ["pid 2"]
