"""The independent traces: their labels fit their worlds, their boards are like real ones, gputop judges a clear one."""

import pytest
from detector_benchmark.independent.__main__ import DEV, KEPT
from detector_benchmark.independent.activity import COLLECTIVE, IDLE, LLM, TRICKLE, Activity
from detector_benchmark.independent.boards import H100
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.trace import KINDS, traces_in
from detector_benchmark.independent.verdicts import judged
from detector_benchmark.independent.world import World

TRACES = {trace.name: trace for trace in (*traces_in(DEV), *traces_in(KEPT))}


def test_two_traces_share_a_name() -> None:
    assert len(TRACES) == len(traces_in(DEV)) + len(traces_in(KEPT))


@pytest.mark.parametrize("name", TRACES)
def test_processes_hold_more_memory_than_a_board_has(name: str) -> None:
    scene = TRACES[name].make(1)
    world = scene.world

    for n, board in enumerate(world.boards):
        most = max(world.people.memory(n, t_s) for t_s in range(int(world.now_s), int(scene.until_s), 5))
        assert most <= board.memory_mib - board.reserved_mib


@pytest.mark.parametrize("name", TRACES)
def test_a_label_names_something_that_its_world_does_not_have(name: str) -> None:
    trace = TRACES[name]
    scene = trace.make(1)
    sample = scene.world.read()
    known = {*scene.world.people.actors, *(f"gpu:{n}" for n in range(len(scene.world.uuids)))}

    assert trace.truth.endswith(".")
    assert sample.gpus
    for want in scene.wants:
        assert set(want.kinds) <= set(KINDS)
        assert want.names
        assert want.names <= known
        assert 0 <= want.from_s < want.by_s <= scene.until_s
        assert want.still_s is None or want.still_s < scene.until_s
    for allow in scene.allows:
        assert allow.kind in KINDS
        assert allow.names <= known


@pytest.mark.parametrize(
    ("activity", "watts", "percent"),
    [  # of recordings of 8 H100: a context that does nothing, a wait in NCCL, small requests, training at the power cap
        (IDLE, (119, 122), (0, 0)),
        (COLLECTIVE, (145, 158), (100, 100)),
        (TRICKLE, (124, 135), (2, 11)),
        (LLM, (680, 699), (98, 100)),
    ],
)
def test_a_board_draws_power_that_no_real_one_does(
    activity: Activity, watts: tuple[float, float], percent: tuple[float, float]
) -> None:
    world = World([H100], [program("python", "python x.py", 0, activity, level(16000))], seed=3)

    for _ in range(120):
        gpu = world.read().gpus[0].metrics
        power_w, utilization = gpu["power_average_w"], gpu["gpu_utilization_percent"]
        assert isinstance(power_w, float)
        assert isinstance(utilization, int)
        assert watts[0] <= power_w <= watts[1]
        assert percent[0] <= utilization <= percent[1]


@pytest.mark.parametrize("name", ["all_ranks_of_an_h100_node_wait"])
def test_a_clear_trace_is_judged_wrongly(name: str) -> None:
    verdict = judged(TRACES[name], seed=1)

    assert not verdict.missed
    assert not [line for _, is_only_seen, line in verdict.false if not is_only_seen]
