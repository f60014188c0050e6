"""Tests over all devices, on CPUs, with faults injected: every detector of faults fires, and a clean run is clean."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from tempfile import gettempdir

import pytest
from gputop_cuda_probe.plugin import PLUGIN, TESTS

from gputop.core.probing.joint import Group, judge_together
from gputop.core.probing.plan import PlannedTest, WorkerPlan
from gputop.core.probing.result import TestResult, TestStatus
from gputop.core.probing.slurm import station
from gputop.machine.probe.python import worker_environment
from gputop.machine.probe.runner import Limits, Task, WorkerJob, joint_command, run, worker_command

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make probe-tests")

PROBE = PLUGIN.probes[0]
JOINT = tuple(test.key for test in TESTS if test.is_joint)
LIMITS = Limits(start_s=120, silence_s=15)
SECONDS = 0.15
CPUS = Group(kind="cpu", name="CPU")
SAID: dict[str, set[tuple[str, str]]] = {}  # by the ranks of a run, while it ran: the test, and what it said


def quiet(_: Sequence[WorkerJob]) -> None:
    """Be told, and do nothing."""


def codes(test: TestResult) -> set[str]:
    return {finding.code for finding in test.findings}


@cache
def paired(inject: str, count: int = 3) -> TestResult:
    """Copy between so many CPUs; return the result judged."""
    environment = worker_environment(os.environ, "", gettempdir()) | {"GPUTOP_PROBE_INJECT": inject}
    plan = WorkerPlan(device="cpu", uuid="", index=0, tests=(PlannedTest("pairs", 1.0),), threads=1, count=count)
    task = Task(label="all", command=worker_command(sys.executable, PROBE), plan=plan, environment=environment)
    return judge_together(run([task], quiet, LIMITS)[0].record.results(), PROBE, CPUS)[0]


def test_copies_between_all_pairs_are_clean() -> None:
    found = paired("")

    assert (found.status, found.findings) == (TestStatus.PASS, ())
    assert {figure.name for figure in found.figures} == {
        *(f"peer.{a}-{b}" for a in range(3) for b in range(3) if a != b), "peer_both.0-1", "peer_both.0-2",
        "peer_both.1-2", *(f"{way}_alone.{a}" for a in range(3) for way in ("h2d", "d2h")),
    }  # fmt: skip


def test_data_that_changes_on_its_way_between_gpus_is_told_with_the_pair() -> None:
    found = paired("flip@pairs").findings

    assert {(finding.code, finding.data["word"], finding.data["xor"]) for finding in found} == {
        ("pairs.data", 4711, "0x0000000000200000")
    }
    assert {(finding.data["source"], finding.data["target"]) for finding in found} == {
        *((a, b) for a in "012" for b in "012" if a != b), *(("host", a) for a in "012"),
    }  # fmt: skip


def test_a_pair_that_is_slower_than_the_others_is_told() -> None:
    found = paired("slow@pairs")

    assert [finding.text.partition(":")[0] for finding in found.findings] == ["peer.0-1"]
    assert found.status is TestStatus.WARN


def test_pairs_are_told_by_the_indices_of_their_gpus() -> None:
    plan = WorkerPlan(
        device="cpu", uuid="", index=0, tests=(PlannedTest("pairs", SECONDS),), threads=1, count=2, numbers=(4, 7)
    )
    task = Task(
        label="all", command=worker_command(sys.executable, PROBE), plan=plan,
        environment=worker_environment(os.environ, "", gettempdir()),
    )  # fmt: skip
    names = [figure.name for figure in run([task], quiet, LIMITS)[0].record.results()[0].figures]

    assert names == [
        "h2d_alone.4",
        "d2h_alone.4",
        "h2d_alone.7",
        "d2h_alone.7",
        "peer.4-7",
        "peer_both.4-7",
        "peer.7-4",
    ]


def test_one_gpu_has_no_pair() -> None:
    assert paired("", 1).status is TestStatus.SKIP


@cache
def joined(inject: str, count: int = 3, tests: tuple[str, ...] = JOINT) -> tuple[TestResult, ...]:
    """Make collectives with so many ranks; return the results judged."""
    plan = WorkerPlan(device="cpu", uuid="", index=0, tests=tuple(PlannedTest(key, SECONDS) for key in tests))
    task = Task(
        label="all", command=joint_command(sys.executable, PROBE, count), plan=plan, is_joint=True,
        environment=ranks_environment(inject),
    )  # fmt: skip

    def listen(jobs: Sequence[WorkerJob]) -> None:
        told.update((job.record.current, job.record.text) for job in jobs if job.record.current and job.record.text)

    told = SAID.setdefault(inject, set())
    return judge_together(run([task], listen, LIMITS)[0].record.results(), PROBE, CPUS)


def ranks_environment(inject: str) -> dict[str, str]:
    return worker_environment(os.environ, "", gettempdir()) | {"GPUTOP_PROBE_INJECT": inject, "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("number", range(len(JOINT)))
def test_collectives_over_ranks_are_exact(number: int) -> None:
    found = joined("")[number]

    assert found.status in (TestStatus.PASS, TestStatus.WARN)
    assert {finding.code for finding in found.findings} <= {"straggler.rank"}  # ranks share the cores of this machine
    assert found.params["ranks"] == 3


@pytest.mark.parametrize("number", range(len(JOINT)))
def test_ranks_with_wrong_results_are_told(number: int) -> None:
    found = joined("flip@collective#1,nan@collective#2")[number]
    wrong = [finding for finding in found.findings if finding.code == "collective.wrong"]

    assert found.status is TestStatus.FAIL
    assert {finding.data["rank"] for finding in wrong} == {1, 2}


def test_how_fast_ranks_go_is_told_while_they_run() -> None:
    joined("")
    rates = {(key, text.partition(" ")[2].partition(",")[0]) for key, text in SAID[""]}

    assert {key for key, unit in rates if unit in ("B/s", "MB/s", "GB/s", "TB/s")} == set(JOINT)


def test_the_rank_that_is_slow_with_all_partners_is_told() -> None:
    found = joined("slow@collective.sendrecv#1", 3, ("collective.sendrecv",))[0]

    assert [(finding.code, finding.text.partition(":")[0]) for finding in found.findings] == [
        ("straggler.rank", "rank.1")
    ]


def test_sums_below_what_was_asked_for_fail() -> None:
    held = joined("")
    group = Group(kind="cpu", name="CPU", least_busbw=1e15)

    assert [found.status is TestStatus.FAIL for found in judge_together(held, PROBE, group)] == [True, *[False] * 4]


def test_a_rank_that_crashes_ends_them_all_and_is_an_error() -> None:
    assert joined("crash@collective.allreduce#1", 2, ("collective.allreduce",))[0].status is TestStatus.ERROR


def test_a_rank_that_hangs_is_told() -> None:
    plan = WorkerPlan(device="cpu", uuid="", index=0, tests=(PlannedTest("collective.allreduce", SECONDS),))
    task = Task(
        label="all", command=joint_command(sys.executable, PROBE, 2), plan=plan, is_joint=True,
        environment=ranks_environment("hang@collective.allreduce#1"),
    )  # fmt: skip
    found = run([task], quiet, Limits(start_s=120, silence_s=3.0, stop_s=1.0, end_s=1.0))[0].record.results()[0]

    assert (found.status, codes(found)) == (TestStatus.FAIL, {"hang"})


def test_boxes_of_a_slurm_job_sum_together_and_each_tells_it() -> None:
    slurm = {"SLURM_NNODES": "2", "SLURM_NTASKS": "2", "SLURM_JOB_NODELIST": "localhost", "SLURM_JOB_ID": "4711"}
    tasks = [
        Task(
            label=f"box {number}", is_joint=True, environment=ranks_environment("flip@collective#3"),
            command=joint_command(sys.executable, PROBE, 2, station(slurm | {"SLURM_NODEID": str(number)})),
            plan=WorkerPlan(
                device="cpu", uuid="", index=0, tests=(PlannedTest("collective.allreduce", SECONDS),)
            ),
        )
        for number in range(2)
    ]  # fmt: skip
    found = [job.record.results()[0] for job in run(tasks, quiet, LIMITS)]

    assert [one.params["ranks"] for one in found] == [4, 4]
    assert [one.findings[0].data["rank"] for one in found] == [3, 3]
