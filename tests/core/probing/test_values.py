"""Events, plans, the table of expected figures, baselines, and what the driver says meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from examples import GIB, gpu, process
from gputop_cuda_probe.plugin import PLUGIN, TESTS
from msgspec.structs import replace

from gputop.app.settings.toml_file import loads
from gputop.core.model.catalogue import (
    CLOCK_SM,
    CLOCK_SM_MAX,
    EVENT_REASONS,
    GPU_UTILIZATION,
    MEMORY_USED,
    POWER_AVERAGE,
)
from gputop.core.model.metric import Metric
from gputop.core.model.sample import DriverInfo, GpuInstance, GpuProcess, Host, Sample, XidEvent
from gputop.core.probing.baseline import Baseline, Run
from gputop.core.probing.counters import counters
from gputop.core.probing.events import Beat, read
from gputop.core.probing.newcomers import users
from gputop.core.probing.plan import START_S, chosen, starts, timed
from gputop.core.probing.probe import Level
from gputop.core.probing.record import Record, ended
from gputop.core.probing.reference import expected, link
from gputop.core.probing.reference import read as read_table
from gputop.core.probing.result import TestFinding, TestStatus, telling
from gputop.core.probing.telemetry import soak

REFERENCE = Path(PLUGIN.probes[0].reference)


def told(*lines: str, wanted: tuple[str, ...] = ("a", "b")) -> Record:
    record = Record(wanted)
    for line in lines:
        event = read(line.encode())
        assert event is not None
        record.take(event)
    return record


def test_what_is_not_known_is_passed_over_and_what_is_no_line_is_an_error() -> None:
    assert read(b'{"ev":"later","x":1}') is None
    assert read(b'{"ev":"hb","n":3,"new":1}') == Beat(n=3)
    for line in (b"hello", b"[]", b'{"ev":"hb"}', b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            read(line)


def test_a_test_that_does_not_end_is_an_error() -> None:
    record = told('{"ev":"start","id":"a"}')

    assert [(one.key, one.status) for one in record.results()] == [("a", TestStatus.ERROR)]
    assert record.left == ("b",)


def test_what_was_found_outweighs_what_the_worker_makes_of_it() -> None:
    record = told(
        '{"ev":"start","id":"a"}', '{"ev":"finding","id":"a","sev":"fail","code":"x"}',
        '{"ev":"end","id":"a","status":"pass"}',
    )  # fmt: skip

    assert record.results()[0].status is TestStatus.FAIL


def test_a_status_that_is_not_known_is_an_error_and_never_a_pass() -> None:
    record = told('{"ev":"start","id":"a"}', '{"ev":"end","id":"a","status":"great"}')

    assert record.results()[0].status is TestStatus.ERROR


@pytest.mark.parametrize(("code", "status"), [(700, "fail"), (214, "fail"), (2, "error"), (802, "error"), (0, "error")])
def test_an_error_of_cuda_says_whose_fault_it_is(code: int, status: str) -> None:
    record = told(
        '{"ev":"start","id":"a"}', f'{{"ev":"error","id":"a","code":{code},"text":"CUDA error"}}',
        '{"ev":"end","id":"a","status":"error"}',
    )  # fmt: skip

    assert record.results()[0].status.value == status


@pytest.mark.parametrize(
    ("status", "expected"), [(-6, "fail"), (-11, "fail"), (-9, "error"), (1, "error"), (0, "error")]
)
def test_how_a_worker_ended_is_a_result(status: int, expected: str) -> None:
    assert ended(status)[0].value == expected


def test_every_level_of_the_plugin_has_tests_of_correctness_and_fits_its_time() -> None:
    probe = PLUGIN.probes[0]
    for level, most in ((Level.QUICK, 30), (Level.STANDARD, 180), (Level.LONG, 900)):
        tests = chosen(probe, level, ())
        assert START_S * starts(tests) + sum(timed(tests, level, None).values()) <= most, level
    assert {"gemm.bf16", "memory.random"} <= {test.key for test in chosen(probe, Level.QUICK, ())}


def test_the_time_that_is_given_is_kept_and_the_soak_takes_what_is_left() -> None:
    probe = PLUGIN.probes[0]
    soaking = timed(chosen(probe, Level.SOAK, ()), Level.SOAK, 3600)
    tests = chosen(probe, Level.STANDARD, ())
    short = timed(tests, Level.STANDARD, 60)

    assert soaking["soak"] > 3500
    assert START_S + sum(soaking.values()) == pytest.approx(3600)
    assert START_S * starts(tests) + sum(short.values()) == pytest.approx(60, abs=2)


def test_the_time_is_shared_by_devices_that_are_tested_one_after_another() -> None:
    tests = chosen(PLUGIN.probes[0], Level.STANDARD, ())
    found = timed(tests, Level.STANDARD, 240, 4)
    whole = sum(found[test.key] * (1 if test.sees_all else 4) for test in tests)

    assert START_S * starts(tests, 4) + whole == pytest.approx(240, abs=2)


def test_a_test_is_named_by_its_name_or_the_beginning_of_it() -> None:
    probe = PLUGIN.probes[0]

    assert [one.key for one in chosen(probe, Level.QUICK, ["vote"])] == ["vote.fp32", "vote.bf16"]
    with pytest.raises(ValueError, match="Did you mean gemm"):
        chosen(probe, Level.QUICK, ["gem"])


def test_the_table_of_the_plugin_is_plausible() -> None:
    entries = read_table(loads(REFERENCE.read_text()))

    assert len(entries) > 20
    for entry in entries:
        assert entry.memory_spec is not None
        if "copy" in entry.figures:
            assert 0.5 <= entry.figures["copy"].value / entry.memory_spec <= 1.0, entry.name
        assert all(one.source and one.confidence in ("measured", "spec") for one in entry.figures.values())
        columns = {measure.expected for test in TESTS for measure in test.measures}
        assert entry.figures.keys() <= columns


@pytest.mark.parametrize(
    ("name", "value"), [("NVIDIA H200", 676), ("NVIDIA GH200 480GB", 828.6), ("NVIDIA B200", 1745), ("NVIDIA X1", None)]
)
def test_a_gpu_is_found_by_its_name(name: str, value: float | None) -> None:
    found = expected(read_table(loads(REFERENCE.read_text())), name, "bf16")

    assert (found and found.value) == value


@pytest.mark.parametrize(
    "table",
    [{"gpu": [{"bf16": {"value": 1}}]}, {"gpu": [{"name": "("}]}, {"gpu": [{"name": "x", "bf16": 7}]}, {"x": 1}],
)
def test_a_table_that_is_none_is_told(table: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_table(table)


def test_a_link_carries_by_its_lanes() -> None:
    found = link(4, 8)

    assert found is not None
    assert found.value == 12e9
    assert link(None, 16) is None


def test_a_baseline_is_the_median_of_its_runs_and_says_what_is_doubtful() -> None:
    held = Baseline(uuid="GPU-0")
    for value in (1.0, 5.0, 3.0):
        held = held.with_run(Run(saved_s=0, driver="1", figures={"a.b": value}))

    assert held.figures() == {"a.b": 3.0}
    assert held.doubts(Run(saved_s=0, driver="1"), "GPU 0") == ()
    assert "driver 1, now it is 2" in held.doubts(Run(saved_s=0, driver="2"), "GPU 0")[0]
    assert "no baseline for all together" in Baseline(uuid="x").doubts(Run(saved_s=0), "all together")[0]


def with_counters(**values: int | bool | str) -> Any:
    made = gpu()
    return replace(made, metrics=made.metrics | values)


@pytest.mark.parametrize(
    ("key", "before", "after", "status"),
    [
        ("ecc_volatile_corrected", 5, 5, "pass"), ("ecc_volatile_corrected", 5, 6, "warn"),
        ("ecc_volatile_corrected", 5, 105, "fail"), ("ecc_volatile_uncorrected", 0, 1, "fail"),
        ("pcie_replays", 0, 8, "pass"), ("pcie_replays", 0, 81, "fail"), ("nvlink_recovery_errors", 0, 1, "fail"),
    ],
)  # fmt: skip
def test_counters_are_judged_by_how_much_they_grew(key: str, before: int, after: int, status: str) -> None:
    assert counters(with_counters(**{key: before}), with_counters(**{key: after})).status.value == status


def test_an_xid_and_a_pending_row_fail_and_no_counters_are_no_pass() -> None:
    struck = replace(with_counters(pcie_replays=0), xids=(XidEvent(time_s=1, xid=79),))

    assert [one.code for one in counters(with_counters(pcie_replays=0), struck).findings] == ["counters.xid_79"]
    assert counters(gpu(), with_counters(remapped_rows_pending=True)).status is TestStatus.FAIL
    assert counters(gpu(), gpu()).status is TestStatus.SKIP


def loaded(values: dict[Metric[Any], Any]) -> Any:
    usual: dict[Metric[Any], Any] = {POWER_AVERAGE: 690.0, CLOCK_SM: 1.9e9, CLOCK_SM_MAX: 1.98e9}
    return gpu(values=usual | values)


def test_a_soak_at_the_power_limit_is_well() -> None:
    figures, findings = soak([loaded({EVENT_REASONS: ("power cap",)})] * 20)

    assert findings == ()
    assert {figure.name: figure.value for figure in figures}["power"] == 690


def test_a_soak_that_heats_up_is_told_and_a_moment_of_it_is_not() -> None:
    hot, well = loaded({EVENT_REASONS: ("hardware thermal",)}), loaded({})

    assert [(f.code, f.status.value) for f in soak([well] * 50 + [hot] * 5)[1]] == [("soak.hardware_thermal", "fail")]
    assert soak([well] * 50 + [hot] * 2)[1] == ()


@pytest.mark.parametrize(("watts", "clock", "status"), [(600, 1e9, "warn"), (400, 1.9e9, "warn"), (400, 1e9, "fail")])
def test_power_that_is_not_reached_fails_only_with_low_clocks(watts: float, clock: float, status: str) -> None:
    found = soak([loaded({POWER_AVERAGE: watts, CLOCK_SM: clock})] * 20)[1]

    assert [(f.code, f.status.value) for f in found] == [("soak.power", status)]


def test_a_gpu_in_use_is_told_with_who_and_traces_count_where_nobody_is_listed() -> None:
    idle = {MEMORY_USED: 0, GPU_UTILIZATION: 0}
    sample = Sample(
        time_s=0, interval_s=1, driver=DriverInfo(), host=Host(name="box"), processes=(process(4711, 0),),
        gpus=(gpu(0, idle), gpu(1, idle), gpu(2, {MEMORY_USED: 9 * GIB, GPU_UTILIZATION: 0})),
    )  # fmt: skip

    assert users(sample, sample.gpus[0], ()) == ("pid 4711, ann, 10.0GiB, python train.py --seed 4711",)
    assert users(sample, sample.gpus[0], (4711,)) == ()
    assert users(sample, sample.gpus[1], ()) == ()
    assert "by no listed process" in users(sample, sample.gpus[2], ())[0]


def test_a_part_of_a_gpu_is_not_in_use_because_its_neighbour_is() -> None:
    parts = tuple(GpuInstance(id=n, profile="1g.10gb") for n in (7, 8))
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", gpu_instance=7, memory_bytes=GIB)
    sample = Sample(
        time_s=0, interval_s=1, driver=DriverInfo(), host=Host(name="box"), gpus=(gpu(0, instances=parts),),
        processes=(process(4711, gpus=(use,)),),
    )  # fmt: skip

    assert len(users(sample, sample.gpus[0], (), 7)) == 1
    assert users(sample, sample.gpus[0], (), 8) == ()


def test_of_many_findings_one_of_each_code_is_told() -> None:
    words = [TestFinding(code="memory.wrong", status=TestStatus.FAIL, text=str(number)) for number in range(20)]
    total = TestFinding(code="memory.errors", status=TestStatus.FAIL, text="20 words are wrong")

    assert [finding.text for finding in telling((*words, total), 4)] == ["0", "1", "2", "20 words are wrong"]
    assert telling((*words, total), 99) == (*words, total)
    assert telling((), 4) == ()
