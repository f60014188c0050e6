"""What bounds a job, one verdict each, with the numbers behind it."""

from __future__ import annotations

import pytest
from behaviours import IDLE, WAIT, WORK, codes, found, last, lone, rank, stages
from detector_benchmark.behaviour_frames import Rank
from detector_benchmark.behaviour_shapes import V100, Second
from examples import process
from msgspec.structs import replace

from gputop.core.model.catalogue import MEMORY_UTILIZATION, PCIE_RX, PCIE_TX, POWER_AVERAGE
from gputop.core.model.finding import Stage
from gputop.core.model.sample import Sample

LAUNCH = Second(gu=90, mu=4, effort=0.2, sm=20, occupancy=4, thread=100, state="R")
DECODE = Second(gu=97, mu=85, effort=0.6, sm=75, occupancy=30, tensor=5, dram=75, thread=90)
TALK = Second(gu=99, mu=30, effort=0.35, nvlink=90_000, sm=40, occupancy=15, tensor=10, dram=20, thread=70)
STARVED = Second(gu=40, mu=12, effort=0.3, sm=30, tensor=20, dram=8, thread=20, workers=((97.0, "R"),) * 4)
STORAGE = replace(STARVED, workers=((10.0, "D"), (10.0, "S")))
ALONE = Second(gu=20, mu=5, effort=0.12, pcie=20.0, sm=15, tensor=8, thread=99, state="R")
FAKE = Second(gu=100, mu=1, effort=0.05, sm=9, occupancy=3, thread=99, state="R")


def verdict(second: Second, **fields: object) -> str:
    held = found(lone((second, 200), **fields))

    assert len(held[-1]) == 1
    assert held[-1][0].stage is Stage.OBSERVATION
    return held[-1][0].code


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (WORK, "bound.compute"),
        (DECODE, "bound.memory"),
        (LAUNCH, "bound.launch"),
        (STARVED, "bound.input"),
        (STORAGE, "bound.input"),
        (FAKE, "busy.fake"),
    ],
)
def test_the_verdict_of_a_process(second: Second, code: str) -> None:
    assert verdict(second) == code


def test_only_ranks_can_be_bound_by_communication() -> None:
    assert verdict(TALK, rank=0, world=8) == "bound.communication"
    assert found(lone((TALK, 200)))[-1] == ()


def test_numbers_and_what_to_try() -> None:
    starved, fake = (
        last(found(lone((one, 200))), code) for one, code in ((STARVED, "bound.input"), (FAKE, "busy.fake"))
    )

    assert starved.summary == "input-bound: 4 data loader workers at 97% of a core each, GPU at 40%"
    assert starved.remedy.startswith("Use more workers (this host has 64 cores, load 9)")
    assert fake.summary.startswith("looks busy, does almost nothing: GPU at 100%, ")
    assert " W (idle about " in fake.summary
    assert {"gpu_utilization_percent", "power_range_percent", "over_s"} <= {one.name for one in fake.evidence}


def test_a_verdict_comes_after_a_minute_and_not_before() -> None:
    held = found(lone((WORK, 90)))

    assert [bool(one) for one in held].index(True) in range(60, 75)


def test_a_moment_of_something_else_does_not_change_it() -> None:
    parts = [(WORK, 200), *[part for _ in range(3) for part in ((IDLE, 15), (WORK, 100))]]

    assert codes(found(lone(*parts))) == {"bound.compute"}


def test_a_change_that_lasts_changes_it() -> None:
    held = found(lone((WORK, 200), (LAUNCH, 400)))

    assert codes(held) >= {"bound.compute", "bound.launch"}
    assert [one.code for one in held[-1]] == ["bound.launch"]


def test_a_job_has_one_verdict() -> None:
    finding = last(found(*[rank(at, 8, (TALK, 200)) for at in range(8)]), "bound.communication")

    assert finding.subject.job
    assert finding.summary.startswith("8 of 8 GPUs communication-bound: ")


def test_while_it_waits_idles_or_shares_its_gpu_there_is_no_verdict() -> None:
    assert found(lone((WORK, 200), (IDLE, 200)))[-1] == ()
    assert found(lone((WORK, 200)), lone((WORK, 200)))[-1] == ()
    waiting = [rank(at, 2, (WORK, 200), (WAIT, 260)) for at in range(2)]
    assert [one.code for one in found(*waiting)[-1]] == ["stuck.collective"]


def test_without_power_it_says_what_is_lacking() -> None:
    def dark(_: int, sample: Sample) -> Sample:
        keys = {POWER_AVERAGE.key: None, MEMORY_UTILIZATION.key: None}
        return replace(sample, gpus=tuple(replace(gpu, metrics=gpu.metrics | keys) for gpu in sample.gpus))

    finding = last(found(lone((STARVED, 200)), board=V100, change=dark), "bound.input")

    assert finding.lacking == ("power draw", "memory utilization")
    assert (finding.confidence or 1.0) <= 0.6
    assert found(lone((LAUNCH, 200)), board=V100, change=dark)[-1] == ()


def test_starving_below_a_second_is_seen_without_teeth() -> None:
    flat = Rank([replace(STARVED, gu=50.0)] * 200)

    assert [one.code for one in found(flat)[-1]] == ["bound.input"]


def test_a_standstill_of_loaders_or_storage_is_called_input_bound() -> None:
    feeds = replace(WORK, workers=((30.0, "S"), (30.0, "S")))
    hangs = replace(IDLE, state="D", workers=((0.0, "D"), (0.0, "D")))
    burns = replace(IDLE, workers=((99.0, "R"), (98.0, "R")))

    for rest in (hangs, burns):
        assert "bound.input" not in codes(found(lone((feeds, 300), (rest, 400))))


def test_pauses_for_data_that_a_job_always_has_are_left_out() -> None:
    waits = replace(IDLE, workers=((95.0, "R"), (96.0, "R")))
    steps = [part for _ in range(8) for part in ((WORK, 20), (waits, 40))]

    assert last(found(lone(*steps)), "bound.input")


def test_the_start_of_a_program_is_called_input_bound() -> None:
    copies = Second(gu=3, mu=2, effort=0.02, pcie=5200, thread=98, state="R")
    starts = ((replace(IDLE, thread=97.0), 15), (copies, 20), (replace(IDLE, thread=99.0), 20), (WORK, 300))

    assert codes(found(lone(*starts))) == {"bound.compute"}


def test_a_program_that_computes_on_the_cpu_is_launch_bound_in_its_first_idle_seconds() -> None:
    both = Second(gu=72, mu=9, effort=0.35, sm=50, occupancy=30, thread=97, state="R", workers=())

    def busy(_: int, sample: Sample) -> Sample:
        used = [replace(one, cpu_percent=790.0 if one.state == "R" else 0.0) for one in sample.processes]
        return replace(sample, processes=tuple(used))

    assert not codes(found(lone((both, 300), (IDLE, 200)), names=("bound",), change=busy))


def test_a_program_that_computes_on_the_cpu_is_input_bound() -> None:
    def busy(_: int, sample: Sample) -> Sample:
        return replace(sample, processes=tuple(replace(one, cpu_percent=790.0) for one in sample.processes))

    loads, searches = lone((ALONE, 400)), lone((replace(ALONE, pcie=1.0), 400))

    assert 360 < stages(found(loads), "bound.input")[Stage.OBSERVATION] < 380
    assert "bound.input" not in codes(found(lone((ALONE, 200), (WORK, 200))))
    assert "bound.input" not in codes(found(loads, change=busy))
    assert "bound.input" not in codes(found(searches))


def test_a_thread_that_may_launch_or_load_is_called_a_loader_where_neither_power_nor_traffic_is_known() -> None:
    def without(_: int, sample: Sample) -> Sample:
        missing = {PCIE_RX.key: None, PCIE_TX.key: None, POWER_AVERAGE.key: None}
        return replace(sample, gpus=tuple(replace(gpu, metrics=gpu.metrics | missing) for gpu in sample.gpus))

    assert not codes(found(lone((ALONE, 200)), change=without))


def test_the_wait_of_a_group_for_requests_is_called_launch_bound() -> None:
    parts = ((DECODE, 40), (WAIT, 100)) * 4
    ranks = [
        lone(*parts, gpu=at, framework="vLLM", command=f"VLLM::Worker_TP{at}", has_launcher=True) for at in range(4)
    ]

    assert codes(found(*ranks, names=("bound",))) <= {"bound.memory"}


def test_a_notebook_is_taken_for_its_server_that_may_poll() -> None:
    lab = process(700, command="/opt/env/bin/python /opt/env/bin/jupyter-lab --port 8899", gpus=(), user="ann")

    def below(_: int, sample: Sample) -> Sample:
        kernels = tuple(replace(one, parent_pid=700) for one in sample.processes)
        return replace(sample, processes=kernels, relatives=(lab,))

    slow, command = replace(LAUNCH, effort=0.1), "python -m ipykernel_launcher -f kernel.json"

    assert "bound.launch" in codes(found(lone((slow, 200), command=command), change=below))


def test_a_threshold_can_be_set() -> None:
    held = found(lone((WORK, 200)), dials={"bound": {"memory_percent": 15}})

    assert [one.code for one in held[-1]] == ["bound.memory"]
