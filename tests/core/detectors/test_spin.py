"""A thread that runs while the GPU does nothing."""

from __future__ import annotations

from behaviours import IDLE, SPIN, WORK, codes, found, last, lone, rank, stages
from msgspec.structs import replace

from gputop.core.model.finding import Stage

CODE = "spin.host"


def test_it_is_worth_a_line_after_a_minute_and_a_suspect_after_five() -> None:
    first = stages(found(lone((WORK, 60), (SPIN, 400))), CODE)

    assert 118 <= first[Stage.OBSERVATION] <= 122
    assert 355 <= first[Stage.SUSPECT] <= 365
    assert Stage.ALARM not in first


def test_the_numbers_are_told() -> None:
    finding = last(found(lone((WORK, 60), (SPIN, 100))), CODE)

    assert finding.summary.startswith("spinning on the CPU for ")
    assert "for 1m40 without GPU work: busiest thread at 99% of a core" in finding.summary
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
    held = found(*[rank(at, 4, (WORK, 60), (SPIN, 100)) for at in range(4)])

    assert [one.code for one in held[-1]] == [CODE]
    assert held[-1][0].summary.startswith("4 of 4 ranks ")
