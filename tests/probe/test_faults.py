"""Every detector of faults fires, and a clean run is clean: the tests of the plugin, on a CPU, with faults injected."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from tempfile import gettempdir

import pytest
from gputop_cuda_probe.plugin import PLUGIN, TESTS

from gputop.core.probing.joint import Group
from gputop.core.probing.judge import Known, judge
from gputop.core.probing.plan import PlannedTest, WorkerPlan
from gputop.core.probing.result import DeviceResult, TestResult, TestStatus
from gputop.machine.probe.python import worker_environment
from gputop.machine.probe.runner import Limits, Task, WorkerJob, run, worker_command

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make probe-tests")

PROBE = PLUGIN.probes[0]
SINGLE = tuple(test.key for test in TESTS if not (test.is_joint or test.sees_all))
JOINT = tuple(test.key for test in TESTS if test.is_joint)
GEMM = tuple(key for key in SINGLE if key.startswith("gemm."))
VOTE = ("vote.fp32", "vote.bf16")
MEMORY = tuple(key for key in SINGLE if key.startswith("memory."))
COPY = tuple(key for key in SINGLE if key.startswith("bandwidth."))
ALIASED = ("memory.address", "memory.random", "memory.move")
FADING = ("memory.retention", "memory.resume", "gemm.bf16", "soak", "memory.kept")
LIMITS = Limits(start_s=120, silence_s=15)
SECONDS = 0.15
CPUS = Group(kind="cpu", name="CPU")


def quiet(_: Sequence[WorkerJob]) -> None:
    """Be told, and do nothing."""


@cache
def ran(inject: str, tests: tuple[str, ...], count: int = 1, silence_s: float = 15.0) -> tuple[DeviceResult, ...]:
    """Run tests on so many CPUs, with faults; return them judged."""
    environment = worker_environment(os.environ, "", gettempdir()) | {"GPUTOP_PROBE_INJECT": inject}
    planned = tuple(PlannedTest(key, SECONDS) for key in tests)
    tasks = [
        Task(
            label=f"CPU {n}", command=worker_command(sys.executable, PROBE), environment=environment,
            plan=WorkerPlan(device="cpu", uuid=f"CPU-{n}", index=n, tests=planned, threads=1),
        )
        for n in range(count)
    ]  # fmt: skip
    jobs = run(tasks, quiet, Limits(start_s=120, silence_s=silence_s))
    devices = [
        DeviceResult(label=job.task.label, uuid=job.task.plan.uuid, name="CPU", kind="cpu", tests=job.record.results())
        for job in jobs
    ]
    return judge(devices, PROBE, Known())


def injected(kind: str, tests: tuple[str, ...]) -> tuple[DeviceResult, ...]:
    return ran(",".join(f"{kind}@{test}" for test in tests), tests)


def result(device: DeviceResult, key: str) -> TestResult:
    return next(test for test in device.tests if test.key == key)


def codes(test: TestResult) -> set[str]:
    return {finding.code for finding in test.findings}


@pytest.mark.parametrize("key", SINGLE)
def test_a_clean_run_is_clean(key: str) -> None:
    found = result(ran("", SINGLE)[0], key)

    assert (found.status, found.findings) == (TestStatus.PASS, ())


@pytest.mark.parametrize("key", SINGLE)
def test_a_bit_that_flips_is_found_by_every_test(key: str) -> None:
    found = result(injected("flip", SINGLE)[0], key)

    assert found.status is TestStatus.FAIL or key in VOTE  # a vote takes siblings: below
    assert found.findings or key in VOTE


@pytest.mark.parametrize("key", GEMM)
def test_the_flipped_bit_of_a_product_is_located(key: str) -> None:
    finding = result(injected("flip", SINGLE)[0], key).findings[0]

    assert finding.code == "gemm.wrong"
    assert (finding.data["tile"], finding.data["place"]) == ([0, 0], [1, 2])
    assert int(str(finding.data["xor"]), 16) == 1
    assert finding.data["is_repeated"] is False


@pytest.mark.parametrize("key", [key for key in (*GEMM, *VOTE) if key != "gemm.int8"])
def test_what_is_not_a_number_fails(key: str) -> None:
    assert result(injected("nan", (*GEMM, *VOTE))[0], key).status is TestStatus.FAIL


@pytest.mark.parametrize("key", MEMORY)
def test_the_flipped_bit_of_memory_is_told_with_its_address(key: str) -> None:
    found = result(injected("flip", SINGLE)[0], key)
    words = [finding for finding in found.findings if finding.code == "memory.wrong"]
    total = next(finding for finding in found.findings if finding.code == "memory.errors")

    assert {(one.data["chunk"], one.data["word"]) for one in words} == {(0, 12_345)}
    assert {int(str(one.data["xor"]), 16) for one in words} == {1 << 37}
    assert (total.data["bits"], total.data["flips"], total.data["words"]) == ({"37": 1}, {"1": 1}, 1)


@pytest.mark.parametrize("key", ALIASED)
def test_a_word_that_is_read_from_another_address_is_found(key: str) -> None:
    assert result(injected("alias", ALIASED)[0], key).status is TestStatus.FAIL


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("memory.retention", "memory.wrong"), ("memory.resume", "memory.wrong"), ("memory.kept", "memory.wrong"),
        ("gemm.bf16", "gemm.operands"), ("soak", "soak.outputs"),
    ],
)  # fmt: skip
def test_memory_that_forgets_is_found(key: str, code: str) -> None:
    assert code in codes(result(injected("fade", FADING)[0], key))


def test_what_is_lost_is_told_with_the_test_after_which_it_was() -> None:
    found = result(injected("fade", FADING)[0], "memory.kept")

    assert found.findings[0].data["pattern"] == "written at the start, read after memory.resume"


@pytest.mark.parametrize("key", [*GEMM, *MEMORY])
def test_what_is_wrong_once_and_right_when_read_again_is_found(key: str) -> None:
    found = result(injected("misread", (*GEMM, *MEMORY))[0], key)

    assert found.status is TestStatus.FAIL
    assert codes(found) == {f"{key.partition('.')[0]}.misread"}


def test_how_much_was_made_is_told() -> None:
    found = ran("", ("memory.modulo", "gemm.fp32"))[0]
    modulo, gemm = (result(found, key).params for key in ("memory.modulo", "gemm.fp32"))

    assert modulo["of"] == 4
    assert int(str(modulo["passes"])) >= 1
    assert isinstance(gemm["layouts"], list)
    assert gemm["layouts"] == ["nn", "tn", "nt", "tt", "odd", "batch"][: len(gemm["layouts"])]


def test_a_product_that_is_wrong_alike_on_all_gpus_is_our_own_error_and_on_one_is_its() -> None:
    own, its = ran("odd@gemm.fp32", ("gemm.fp32",), 2), ran("odd@gemm.fp32#1", ("gemm.fp32",), 2)

    assert [device.status for device in own] == [TestStatus.INCONCLUSIVE, TestStatus.INCONCLUSIVE]
    assert [device.status for device in its] == [TestStatus.PASS, TestStatus.FAIL]


def test_special_functions_that_repeat_and_differ_from_siblings_are_found() -> None:
    found = ran("odd@ops#2", ("ops",), 3)

    assert [device.status for device in found] == [TestStatus.PASS, TestStatus.PASS, TestStatus.FAIL]
    assert codes(found[2].tests[0]) == {"vote.minority"}


def test_a_vote_is_clean_among_siblings_that_agree() -> None:
    assert {device.status for device in ran("", VOTE, 3)} == {TestStatus.PASS}


def test_the_sibling_that_computes_other_bits_is_found_though_it_agrees_with_itself() -> None:
    found = ran("flip@vote#1", VOTE, 3)

    assert [device.status for device in found] == [TestStatus.PASS, TestStatus.FAIL, TestStatus.PASS]
    assert codes(result(found[1], "vote.fp32")) == {"vote.minority"}


@pytest.mark.parametrize("key", ["launch", "gemm.fp32", *COPY, "soak"])
def test_a_straggler_is_found_among_its_siblings(key: str) -> None:
    tests = ("launch", "gemm.fp32", *COPY, "soak")
    found = ran(",".join(f"slow@{test}#1" for test in tests), tests, 2)

    assert any(code.startswith("straggler.") for code in codes(result(found[1], key)))
    assert not any(code.startswith("straggler.") for code in codes(result(found[0], key)))


def test_a_context_that_takes_long_is_found() -> None:
    assert codes(result(injected("slow", ("context",))[0], "context")) == {"limit.context"}


def test_speed_that_falls_is_found() -> None:
    assert "limit.droop" in codes(result(injected("droop", ("soak",))[0], "soak"))


@pytest.mark.parametrize("key", ["context", "gemm.fp32", "memory.kept"])
def test_a_crash_is_a_result(key: str) -> None:
    found = ran(f"crash@{key}", (key,))[0]

    assert found.status is TestStatus.FAIL
    assert codes(found.tests[0]) == {"worker.crash"}


def test_a_worker_that_hangs_is_told_and_the_rest_is_run_by_a_fresh_one() -> None:
    found = ran("hang@ops", ("ops", "memory.address"), silence_s=3.0)[0]

    assert [(test.key, test.status) for test in found.tests] == [
        ("ops", TestStatus.FAIL), ("memory.address", TestStatus.PASS),
    ]  # fmt: skip
    assert codes(found.tests[0]) == {"hang"}


def test_a_fault_that_is_misspelt_is_an_error_as_it_would_prove_nothing() -> None:
    found = ran("flop@ops", ("ops",))[0]

    assert found.status is TestStatus.ERROR
    assert "'flop@ops' is not KIND@TEST" in found.tests[0].reason


def test_the_budget_of_memory_is_kept() -> None:
    plan = WorkerPlan(
        device="cpu", uuid="", index=0, tests=(PlannedTest("memory.random", SECONDS),), threads=1, budget=8 << 20
    )
    task = Task(
        label="x", command=worker_command(sys.executable, PROBE), plan=plan,
        environment=worker_environment(os.environ, "", gettempdir()),
    )  # fmt: skip

    assert run([task], quiet, LIMITS)[0].record.results()[0].params["bytes"] == 8 << 20
