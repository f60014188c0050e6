"""What figures and findings mean, by values made by hand."""

from typing import Any

import pytest
from msgspec.structs import replace

from gputop.core.probing.judge import Known, judge
from gputop.core.probing.probe import Level, Measure, Probe, ProbeTest, Purpose
from gputop.core.probing.reference import Entry, Expected
from gputop.core.probing.result import DeviceResult, Figure, TestFinding, TestResult, TestStatus, exit_status

PROBE = Probe(
    key="p", help="", folder="", worker="w",
    tests=(
        ProbeTest(
            key="gemm.bf16", question="", purpose=Purpose.CORRECTNESS, seconds={Level.QUICK: 1},
            measures=(Measure(name="tflops", expected="bf16"),),
        ),
        ProbeTest(
            key="copy", question="", purpose=Purpose.SPEED, seconds={Level.QUICK: 1},
            measures=(Measure(name="pinned", siblings=(0.85, 0.7), expected="pcie"),),
        ),
        ProbeTest(
            key="launch", question="", purpose=Purpose.SPEED, seconds={Level.QUICK: 1},
            measures=(Measure(name="trip", siblings=(0.5, 0.0), most=(10, 60), is_cost=True),),
        ),
        ProbeTest(key="memory.random", question="", purpose=Purpose.CORRECTNESS, seconds={Level.QUICK: 1}),
    ),
)  # fmt: skip
TABLE = (Entry("H100", {"bf16": Expected(800, "S", "measured")}), Entry("T4", {"bf16": Expected(800, "", "spec")}))


def passed(key: str = "gemm.bf16", figures: dict[str, float] | None = None, **fields: Any) -> TestResult:
    made = tuple(Figure(name=name, value=value, unit="x") for name, value in (figures or {}).items())
    return TestResult(key=key, status=TestStatus.PASS, figures=made, **fields)


def device(*tests: TestResult, n: int = 0, **fields: Any) -> DeviceResult:
    given: dict[str, Any] = {
        "label": f"GPU {n}",
        "uuid": f"GPU-{n}",
        "name": "NVIDIA H100",
        "kind": "cuda",
        "total_bytes": 100,
    }
    return DeviceResult(**(given | {"tests": tests} | fields))


def codes(found: DeviceResult) -> list[tuple[str, str]]:
    return [(finding.code, finding.status.value) for test in found.tests for finding in test.findings]


@pytest.mark.parametrize(
    ("name", "tflops", "status"),
    [
        ("NVIDIA H100", 720, "pass"), ("NVIDIA H100", 719, "warn"), ("NVIDIA H100", 639, "fail"),
        ("NVIDIA T4", 639, "warn"), ("NVIDIA Unheard", 1, "pass"),
    ],
)  # fmt: skip
def test_a_figure_is_compared_with_the_table_and_a_guess_never_fails(name: str, tflops: float, status: str) -> None:
    found = judge([device(passed(figures={"tflops": tflops}), name=name)], PROBE, Known(entries=TABLE))[0]

    assert found.status.value == status


def test_the_worst_of_three_siblings_is_told() -> None:
    devices = [device(passed(figures={"tflops": value}), n=n) for n, value in enumerate((100, 101, 89))]
    found = judge(devices, PROBE, Known())

    assert [one.status.value for one in found] == ["pass", "pass", "fail"]
    assert codes(found[2]) == [("straggler.tflops", "fail")]


def test_of_two_siblings_the_better_one_is_the_measure() -> None:
    devices = [device(passed(figures={"tflops": value}), n=n) for n, value in enumerate((100, 94))]
    found = judge(devices, PROBE, Known())

    assert [one.status.value for one in found] == ["pass", "warn"]


def test_gpus_of_another_model_are_no_siblings() -> None:
    found = judge(
        [device(passed(figures={"tflops": 100})), device(passed(figures={"tflops": 10}), n=1, name="T4")],
        PROBE, Known(),
    )  # fmt: skip

    assert [one.status.value for one in found] == ["pass", "pass"]


def test_a_time_that_is_too_long_is_told_in_both_ways() -> None:
    tests = [(passed(), passed("launch", {"trip": value})) for value in (1, 11)]
    found = judge([device(*held, n=n) for n, held in enumerate(tests)], PROBE, Known())

    assert codes(found[1]) == [("limit.trip", "warn"), ("straggler.trip", "warn")]


def test_a_link_is_judged_by_what_it_and_its_slot_can_do() -> None:
    tests = (passed(), passed("copy", {"pinned": 10e9}))
    found = judge([device(*tests), device(*tests, n=1)], PROBE, Known(links={"GPU-0": (4, 16), "GPU-1": (3, 16)}))

    assert codes(found[0]) == [("expected.pinned", "fail")]
    assert codes(found[1]) == []


def test_the_minority_of_a_vote_fails_and_two_that_disagree_are_suspects() -> None:
    three = [device(passed(digests={"fp32": value}), n=n) for n, value in enumerate("aab")]
    two = three[1:]

    assert [one.status.value for one in judge(three, PROBE, Known())] == ["pass", "pass", "fail"]
    assert [one.status.value for one in judge(two, PROBE, Known())] == ["inconclusive", "inconclusive"]


def test_the_own_past_is_a_measure() -> None:
    past = {"GPU-0": {"gemm.bf16.tflops": 100.0}}

    for value, status in ((96, "pass"), (94, "warn"), (89, "fail")):
        found = judge([device(passed(figures={"tflops": value}))], PROBE, Known(past=past))
        assert found[0].status.value == status


def test_speed_is_unclear_while_others_use_the_gpu_and_wrong_results_are_not() -> None:
    bad = TestFinding(code="memory.wrong", status=TestStatus.FAIL, text="")
    slow = passed(figures={"tflops": 1})
    wrong = TestResult(key="memory.random", status=TestStatus.FAIL, findings=(bad,))
    known = Known(entries=TABLE, busy={"GPU-0"})

    assert judge([device(slow)], PROBE, known)[0].status is TestStatus.INCONCLUSIVE
    assert judge([device(slow, wrong)], PROBE, known)[0].status is TestStatus.FAIL


def test_a_product_that_is_wrong_everywhere_on_all_gpus_is_our_error() -> None:
    uniform = TestFinding(code="gemm.uniform", status=TestStatus.FAIL, text="")
    wrong = TestResult(key="gemm.bf16", status=TestStatus.FAIL, findings=(uniform,))

    assert judge([device(wrong), device(wrong, n=1)], PROBE, Known())[0].status is TestStatus.INCONCLUSIVE
    assert judge([device(wrong), device(passed(), n=1)], PROBE, Known())[0].status is TestStatus.FAIL


def test_part_of_the_memory_is_a_warning_where_all_was_wanted() -> None:
    tested = passed("memory.random", params={"bytes": 79})

    assert judge([device(tested)], PROBE, Known(wants_coverage=True))[0].status is TestStatus.WARN
    assert judge([device(tested)], PROBE, Known())[0].status is TestStatus.PASS


def test_nothing_that_was_not_tested_is_a_pass() -> None:
    skipped = replace(passed(), status=TestStatus.SKIP)

    assert judge([device()], PROBE, Known())[0].status is TestStatus.SKIP
    assert judge([device(skipped)], PROBE, Known())[0].status is TestStatus.SKIP
    assert judge([device(passed("launch", {"trip": 1}))], PROBE, Known())[0].status is TestStatus.SKIP
    assert judge([device(skipped, passed("memory.random"))], PROBE, Known())[0].status is TestStatus.PASS


@pytest.mark.parametrize(
    ("statuses", "is_strict", "status"),
    [
        ((), False, 5), ((TestStatus.PASS,), False, 0), ((TestStatus.PASS, TestStatus.WARN), False, 1),
        ((TestStatus.WARN,), True, 2),
        ((TestStatus.FAIL, TestStatus.ERROR), False, 2), ((TestStatus.ERROR, TestStatus.WARN), False, 3),
        ((TestStatus.SKIP,), False, 5),
        ((TestStatus.REFUSED, TestStatus.PASS), False, 4), ((TestStatus.ABORTED, TestStatus.PASS), False, 130),
        ((TestStatus.INCONCLUSIVE,), False, 1), ((TestStatus.SKIP,), True, 2),
    ],
)  # fmt: skip
def test_the_exit_status_is_that_of_the_worst(
    statuses: tuple[TestStatus, ...], *, is_strict: bool, status: int
) -> None:
    assert exit_status(statuses, has_skips=False, is_strict=is_strict) == status


def test_a_test_that_was_skipped_fails_a_strict_run() -> None:
    assert exit_status([TestStatus.PASS], has_skips=True, is_strict=True) == 2
