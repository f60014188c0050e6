"""Jobs that came to a standstill."""

from __future__ import annotations

import pytest
from behaviours import IDLE, WAIT, WORK, codes, found, last, lone, rank, stages
from detector_benchmark.behaviour_shapes import Second
from msgspec.structs import replace

from gputop.core.model.finding import Stage

CODE = "stalled.process"
LOADERS = replace(IDLE, workers=((0.1, "S"), (0.0, "S")))


def test_nothing_for_5_minutes_after_steady_work_is_an_alarm_with_numbers() -> None:
    held = found(lone((WORK, 200), (LOADERS, 320)))
    finding = last(held, CODE)

    assert 495 < stages(held, CODE)[Stage.ALARM] < 505
    assert finding.summary == (
        "stalled for 5m20: GPU and CPU at 0%, 2 idle child processes, 20.0GiB held; worked for 3m19 before"
    )
    assert "gputop explain" in finding.remedy


def test_pauses_that_it_made_before_are_learned() -> None:
    held = found(lone((WORK, 100), (IDLE, 110), (WORK, 100), (IDLE, 400)))

    assert CODE not in codes(held)


def test_who_worked_in_bursts_is_a_suspect_first() -> None:
    bursts = [part for _ in range(30) for part in ((WORK, 10), (IDLE, 20))]

    assert stages(found(lone(*bursts, (LOADERS, 500))), CODE).keys() == {Stage.SUSPECT}


def test_what_is_still_at_work_on_the_cpu_is_not_stalled() -> None:
    busy = replace(IDLE, workers=((40.0, "R"),))

    assert codes(found(lone((WORK, 200), (replace(IDLE, thread=30.0), 400)))) & {CODE} == set()
    assert codes(found(lone((WORK, 200), (busy, 400)))) & {CODE} == set()


def test_a_single_child_that_burns_a_core_does_not_hide_a_standstill_for_ever() -> None:
    burns = replace(IDLE, workers=((99.0, "R"), (0.0, "S")))
    both = replace(IDLE, workers=((99.0, "R"), (98.0, "R")))

    assert stages(found(lone((WORK, 200), (burns, 950))), CODE).keys() == {Stage.SUSPECT}
    assert CODE not in codes(found(lone((WORK, 200), (both, 950))))


def test_a_notebook_and_a_server_may_wait() -> None:
    notebook = lone((WORK, 200), (IDLE, 900), framework="Jupyter kernel", command="python -m ipykernel_launcher")
    server = lone((WORK, 200), (IDLE, 900), command="python -m uvicorn app:app", framework="uvicorn")
    own = lone((WORK, 200), (IDLE, 900), command="python answer.py --http-port 8000")
    option = lone((WORK, 320), (IDLE, 900), command="python train.py -i data")

    assert CODE not in codes(found(notebook))
    assert CODE not in codes(found(server))
    assert CODE not in codes(found(own))
    assert CODE in codes(found(option))


def test_a_script_in_a_terminal_may_wait_for_somebody_to_type() -> None:
    briefly = lone((WORK, 400), (IDLE, 900), terminal="pts/1")
    for_long = lone((WORK, 1850), (IDLE, 900), terminal="pts/1")
    with_loaders = lone((WORK, 400), (LOADERS, 900), terminal="pts/1")

    assert codes(found(briefly)) & {CODE, "idle.holder"} == {"idle.holder"}
    assert stages(found(for_long), CODE).keys() == {Stage.SUSPECT}
    assert Stage.ALARM in stages(found(with_loaders), CODE)


def is_stalled(command: str) -> bool:
    return CODE in codes(found(lone((WORK, 320), (IDLE, 620), command=command)))


@pytest.mark.parametrize(
    "command", ["/opt/matlab/bin/MATLAB -desktop", "/usr/lib/R/bin/exec/R --no-save", "julia --project"]
)
def test_a_session_without_a_script_is_not_called_stalled(command: str) -> None:
    assert not is_stalled(command)


@pytest.mark.parametrize(
    "command", ["/opt/matlab/bin/MATLAB -batch run", "/usr/lib/R/bin/exec/R --file=fit.R", "julia train.jl"]
)
def test_a_session_with_a_script_can_stall(command: str) -> None:
    assert is_stalled(command)


def test_a_program_that_ends_after_a_short_time_of_work_is_not_called_stalled() -> None:
    assert codes(found(lone((WORK, 200), (IDLE, 900)))) & {CODE, "idle.holder"} == {"idle.holder"}


def test_dead_workers_make_it_surer() -> None:
    dead = Second(workers=((0.0, "Z"), (0.0, "S")))
    with_dead, without = (last(found(lone((WORK, 200), (rest, 320))), CODE) for rest in (dead, LOADERS))

    assert (with_dead.confidence or 0) > (without.confidence or 0)
    assert "1 of them dead" in with_dead.summary
    assert "A data loader worker died" in with_dead.remedy


def test_a_job_is_stalled_only_if_all_of_its_ranks_are() -> None:
    ranks = [rank(at, 3, (WORK, 200), (IDLE, 320)) for at in range(3)]
    some = [*ranks[:2], rank(2, 3, (WORK, 520))]

    assert [one.code for one in found(*ranks)[-1] if one.stage is Stage.ALARM] == ["stalled.job"]
    assert not codes(found(*some)) & {CODE, "stalled.job"}


def test_who_waits_inside_a_kernel_is_stuck_and_not_stalled() -> None:
    assert CODE not in codes(found(lone((WORK, 200), (WAIT, 320))))


def test_progress_that_goes_on_refutes_it() -> None:
    reports = lone((WORK, 0), framework=None)
    seconds = [replace(WORK, step=n) for n in range(200)] + [replace(IDLE, step=200 + n // 20) for n in range(400)]

    assert CODE not in codes(found(replace(reports, seconds=seconds)))


def test_thresholds_can_be_set() -> None:
    held = found(lone((WORK, 60), (LOADERS, 100)), dials={"stalled": {"pause_s": 60, "worked_s": 30}})

    assert Stage.ALARM in stages(held, CODE)


def test_a_checkpoint_that_is_still_being_written_is_no_standstill() -> None:
    writes = replace(IDLE, state="D", thread=0.6)

    assert CODE not in codes(found(lone((WORK, 200), (writes, 400))))


def test_a_moment_without_cpu_in_a_pause_full_of_it_is_no_standstill() -> None:
    seconds = [replace(IDLE, thread=0.0 if n % 10 == 0 else 40.0) for n in range(500)]

    assert CODE not in codes(found(replace(lone((WORK, 200)), seconds=[WORK] * 200 + seconds)))


def test_a_zombie_is_not_stalled() -> None:
    zombie = replace(IDLE, state="Z", thread=0.0)

    assert codes(found(lone((WORK, 200), (zombie, 800)), names=("stalled",))) == set()
