"""One rank that is slower than its siblings."""

from __future__ import annotations

from behaviours import GONE, IDLE, WAIT, WORK, codes, found, last, lone, rank, stages
from detector_benchmark.behaviour_frames import Rank, pid_of
from detector_benchmark.behaviour_shapes import Second
from msgspec.structs import replace

from gputop.core.model.finding import Stage
from gputop.core.model.process_id import ProcessId

GPU, HOST = "straggler.gpu", "straggler.host"
CLOCK = replace(WORK, clock=0.7, reasons=("software thermal",))
BEHIND = replace(WORK, gu=55.0)
FULL = replace(WORK, gu=99.0)


def job(odd: Second, *, of: int = 4, seconds: int = 300, usual: Second = FULL) -> list[Rank]:
    return [rank(at, of, (odd if at == 2 else usual, seconds)) for at in range(of)]


def test_a_lower_clock_is_a_suspect_after_2_minutes_with_its_reason() -> None:
    held = found(*job(CLOCK))
    finding = last(held, GPU)

    assert 118 <= stages(held, GPU)[Stage.SUSPECT] <= 125
    assert (finding.subject.process or ProcessId(0, 0)).pid == pid_of(2)
    assert "runs at 1386 MHz, 73% of the SM clock of the other ranks" in finding.summary
    assert "reason: heat" in finding.summary


def test_much_slower_for_long_is_an_alarm() -> None:
    assert stages(found(*job(replace(CLOCK, clock=0.5), seconds=700)), GPU).keys() == {Stage.SUSPECT, Stage.ALARM}
    assert stages(found(*job(CLOCK, seconds=700)), GPU).keys() == {Stage.SUSPECT}


def test_a_rank_that_keeps_its_gpu_less_busy_is_the_slow_one() -> None:
    finding = last(found(*job(BEHIND)), HOST)

    assert "keeps its GPU busy for 55% of the time, the other ranks for 99%, at the same clock" in finding.summary
    assert f"py-spy dump --pid {pid_of(2)}" in finding.remedy


def test_a_neighbour_on_its_gpu_is_named_as_the_cause() -> None:
    guest = lone((replace(WORK, gu=40.0), 300), gpu=2, command="python -m lm_eval")

    assert "straggler.neighbour" in codes(found(*job(BEHIND), guest))


def test_all_slow_alike_is_no_straggler() -> None:
    assert found(*job(CLOCK, usual=CLOCK), names=("straggler",))[-1] == ()


def test_of_two_nobody_can_say_who_is_slow() -> None:
    ranks = [rank(0, 2, (FULL, 300)), rank(1, 2, (CLOCK, 300))]

    assert found(*ranks, names=("straggler",))[-1] == ()


def test_seconds_in_which_others_wait_pause_or_are_gone_are_not_compared() -> None:
    for rest in (WAIT, IDLE, GONE):
        ranks = [rank(at, 4, (FULL, 50), (FULL if at == 2 else rest, 600)) for at in range(4)]

        assert codes(found(*ranks, names=("straggler",))) == set()


def test_a_small_imbalance_counts_only_if_it_is_new() -> None:
    less = replace(FULL, gu=88.0)
    by_design = job(less, seconds=900)
    new = [rank(at, 4, (FULL, 650), (less if at == 2 else FULL, 400)) for at in range(4)]

    assert codes(found(*by_design, names=("straggler",))) == set()
    assert codes(found(*new, names=("straggler",))) == {HOST}


def test_servers_are_not_compared() -> None:
    ranks = [replace(one, framework="vLLM", rank=None, world=None) for one in job(BEHIND)]

    assert codes(found(*ranks, names=("straggler",))) == set()


def test_a_rank_that_works_while_the_others_poll_at_full_clock_and_utilization_is_the_slow_one() -> None:
    polls = replace(FULL, effort=0.5, mu=18.0, sm=50.0)
    held = found(*job(FULL, seconds=500, usual=polls))

    assert "than the other ranks; it works while they wait" in last(held, GPU).summary
    assert stages(held, GPU).keys() == {Stage.SUSPECT, Stage.ALARM}


def test_ranks_that_differ_by_design_have_no_straggler() -> None:
    first, last_one = replace(FULL, effort=0.65), replace(FULL, effort=0.6, mu=36.0)
    ranks = [rank(at, 4, ((first, last_one, FULL, FULL)[at], 900)) for at in range(4)]

    assert not {GPU, HOST} & codes(found(*ranks))


def test_a_stage_of_a_pipeline_that_takes_far_more_power_than_the_others_is_slow() -> None:
    lighter = replace(FULL, effort=0.5, mu=18.0, sm=50.0)

    assert not {GPU, HOST} & codes(found(*job(FULL, seconds=500, usual=replace(lighter, gu=92.0))))
    assert not {GPU, HOST} & codes(found(*job(FULL, seconds=500, usual=replace(lighter, mu=30.0))))


def test_a_rank_that_costs_a_third_of_the_speed_is_an_alarm() -> None:
    held = found(*job(BEHIND, seconds=400))

    assert stages(held, HOST)[Stage.ALARM] <= 310


def test_a_parameter_server_on_a_gpu_of_its_own_is_no_straggler() -> None:
    server = replace(FULL, gu=12.0, effort=0.07, mu=8.0, thread=90.0)

    assert not {GPU, HOST} & codes(found(*job(server, seconds=700), names=("straggler",)))


def test_a_rank_that_works_while_the_others_wait_for_seconds_in_each_step_is_missed() -> None:
    turns = ([FULL] * 18 + [WAIT] * 12) * 20
    ranks = [replace(rank(at, 4, (FULL, 1)), seconds=[FULL] * 600 if at == 2 else turns) for at in range(4)]

    finding = last(found(*ranks, names=("straggler",)), GPU)

    assert (finding.subject.process or ProcessId(0, 0)).pid == pid_of(2)
    assert "works alone for" in finding.summary


def test_a_rank_that_evaluates_for_the_others_now_and_then_is_a_straggler() -> None:
    turn = [FULL] * 280 + [WAIT] * 25
    peers = [replace(rank(at, 4, (FULL, 1)), seconds=turn * 3) for at in (1, 2, 3)]

    assert not codes(found(rank(0, 4, (FULL, 3 * len(turn))), *peers, names=("straggler",)))


def test_a_small_new_difference_in_a_job_that_became_slower_is_missed() -> None:
    peers, slow = replace(FULL, effort=0.5), replace(FULL, effort=0.45)
    ranks = [rank(at, 4, (FULL, 500), (slow if at == 2 else peers, 300)) for at in range(4)]
    alike = [rank(at, 4, (FULL, 500), (peers, 300)) for at in range(4)]
    as_fast = [rank(at, 4, (FULL, 500), (replace(FULL, effort=0.72) if at == 2 else FULL, 300)) for at in range(4)]

    assert {GPU, HOST} & codes(found(*ranks, names=("straggler",)))
    assert not codes(found(*alike, names=("straggler",)))
    assert not codes(found(*as_fast, names=("straggler",)))


def test_the_first_seconds_of_each_checkpoint_do_not_make_its_writer_slow() -> None:
    def does(at: int) -> list[tuple[Second, int]]:
        return [part for _ in range(60) for part in ((FULL, 4), (IDLE if at == 0 else WAIT, 16))]

    assert not codes(found(*[rank(at, 4, *does(at)) for at in range(4)])) & {GPU, HOST}
