"""A thread that runs while the GPU does nothing."""

from __future__ import annotations

from behaviours import IDLE, SPIN, WAIT, WORK, codes, found, last, lone, rank, stages
from msgspec.structs import replace

from gputop.core.model.finding import Stage

CODE = "spin.host"


def test_it_is_worth_a_line_after_two_minutes_and_a_suspect_after_ten() -> None:
    first = stages(found(lone((WORK, 60), (SPIN, 700))), CODE)

    assert 178 <= first[Stage.OBSERVATION] <= 182
    assert 655 <= first[Stage.SUSPECT] <= 665
    assert Stage.ALARM not in first


def test_the_numbers_are_told() -> None:
    finding = last(found(lone((WORK, 60), (SPIN, 130))), CODE)

    assert finding.summary.startswith("spinning on the CPU for ")
    assert "for 2m10 without GPU work: busiest thread at 98% of a core" in finding.summary
    assert "py-spy dump --pid 1000" in finding.remedy


def test_a_server_that_polls_is_an_observation_for_ever() -> None:
    held = found(lone((SPIN, 700), framework="SGLang", command="sglang::scheduler"))

    assert stages(held, CODE).keys() == {Stage.OBSERVATION}


def test_preparing_for_minutes_as_before_is_no_suspect() -> None:
    assert Stage.SUSPECT not in stages(found(lone((WORK, 60), (SPIN, 280), (WORK, 60), (SPIN, 400))), CODE)


def test_who_works_on_the_gpu_or_sleeps_does_not_spin() -> None:
    assert CODE not in codes(found(lone((replace(WORK, thread=100.0), 300))))
    assert CODE not in codes(found(lone((WORK, 60), (IDLE, 300))))


def test_a_job_whose_ranks_all_spin_is_one_finding() -> None:
    held = found(*[rank(at, 4, (WORK, 60), (SPIN, 130)) for at in range(4)])

    assert [one.code for one in held[-1]] == [CODE]
    assert held[-1][0].summary.startswith("4 of 4 ranks ")


def test_one_rank_that_computes_on_the_cpu_while_the_others_wait_does_not_spin() -> None:
    held = found(rank(0, 4, (WORK, 60), (SPIN, 400)), *[rank(at, 4, (WORK, 60), (WAIT, 400)) for at in range(1, 4)])

    assert CODE not in codes(held)
