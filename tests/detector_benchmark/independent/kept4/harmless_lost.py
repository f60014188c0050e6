"""Boards and drivers that answer badly for a moment, and are there."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
    B200,
    H100,
    L4,
    L40S,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import Conditions
from detector_benchmark.independent.disturbances import (
    Disturbance,
    bad_gpu_zeros,
    bad_process_zeros,
    clock_jump,
    faults,
    gaps,
    hidden_hosts,
    lost_memory,
    no_process_values,
    often_gaps,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import from_then, mib_of, notebook, scene
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, since, train

_BATCH: Any = {"variables": {}, "terminal": 0}


def _answers(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    disturb: Sequence[Disturbance],
    *,
    size: int = 1,
    conditions: dict[int, Conditions] | None = None,
    interval_s: float = 1.0,
    until_s: float = 1200,
) -> Scene:
    draw = Draw(seed, name)
    steps = train(draw.work(work), step_s=0.9, is_alone=size == 1)
    actors = ranks(range(size), lambda rank: rippling(draw, steps), mib_of(board, 0.6))
    return scene(seed, [board] * size, actors, until_s, disturb=disturb, conditions=conditions, interval_s=interval_s)


def host_that_slept_for_a_minute(seed: int) -> Scene:
    """gputop gets no sample for a minute, three times, from a busy host with eight H100; the training is well."""
    draw = Draw(seed, "k4there1+")
    spans = [(draw.between(200, 300), 60.0), (draw.between(500, 600), 75.0), (draw.between(900, 1000), 55.0)]
    return _answers(seed, "k4there1", H100, LLM, [gaps(*spans)], size=8)


def clock_that_was_set(seed: int) -> Scene:
    """The clock of a host with two A100 is set forward by an hour, and back by a minute later."""
    draw = Draw(seed, "k4there2+")
    jumps = [clock_jump(draw.between(200, 400), 3600.0), clock_jump(draw.between(600, 700), -60.0)]
    return _answers(seed, "k4there2", A100, LLM, jumps, size=2)


def sensors_that_fail_now_and_then(seed: int) -> Scene:
    """A TITAN X fails to say its power, temperature and load in a tenth of the looks."""
    names = ("power_average_w", "power_instant_w", "temperature_c", "gpu_utilization_percent")
    return _answers(seed, "k4there3", TITAN_X, CNN, [faults(seed, 0.1, *names)])


def zeros_of_a_board_in_single_looks(seed: int) -> Scene:
    """An L40S says 0 % and 0 W in one look of fifty, and nothing of its processes in some others."""
    disturb = [bad_gpu_zeros(seed, 0.02), no_process_values(seed, 0.05), bad_process_zeros(seed, 0.03)]
    return _answers(seed, "k4there4", L40S, FP32, disturb)


def errors_of_an_application(seed: int) -> Scene:
    """A program on a V100 makes Xid 13, 31 and 43 by its own faults and is started anew; the board is in order."""
    draw = Draw(seed, "k4there5")
    at_s = draw.between(200, 400)
    work = drifting(draw, draw.work(FP32))
    first = program("first", "python test.py", 0, work, level(3000), until_s=at_s, **_BATCH)
    again = program("again", "python test.py", 0, since(at_s + 20, work), level(3000), from_s=at_s + 20, **_BATCH)
    notes = from_then(at_s - 1, xids=((at_s - 1, 13), (at_s, 31), (at_s, 43)))
    return scene(seed, [V100], [first, again], 1000, conditions={0: notes})


def restarts_of_a_job(seed: int) -> Scene:
    """A job on four B200 is started anew three times within twenty minutes, with new pids, as its author wants it."""
    draw = Draw(seed, "k4there6")
    work, from_s = rippling(draw, train(draw.work(LLM), step_s=0.9)), 0.0
    actors = list[Actor]()
    for turn in range(3):
        end_s = from_s + draw.between(300, 380)
        more: Any = {"from_s": from_s, "until_s": end_s, "age_s": 0.0, "name": f"turn{turn}."}
        actors += ranks(range(4), lambda rank: work, mib_of(B200, 0.5), **more)
        from_s = end_s + draw.between(15, 40)
    return scene(seed, [B200] * 4, actors, 1100)


def processes_of_other_users(seed: int) -> Scene:
    """gputop is no root: it cannot see what the processes of others on an RTX 4090 and their threads do."""
    draw = Draw(seed, "k4there7")
    ann = program("ann", "python train.py", 0, drifting(draw, draw.work(LORA)), level(9000))
    bob = program(
        "bob",
        "python serve.py --port 80",
        0,
        serves(draw, draw.work(DECODE), each_s=9, for_s=5),
        level(7000),
        user="bob",
    )
    actors = [ann, bob]
    return scene(seed, [RTX_4090], actors, 1200, disturb=[hidden_hosts(4037)])


def slices_of_three_users(seed: int) -> Scene:
    """Three users work in the slices of an A100, whose driver gives neither load nor traffic; memory fails at times."""
    draw = Draw(seed, "k4there8")
    actors = [
        program("a", "python train.py", 0, draw.work(LORA).but(share=0.3), level(30000), instance=1),
        *notebook("b", 0, serves(draw, draw.work(CNN).but(share=0.2), each_s=30, for_s=20), level(9000), instance=2, user="bob"),
        program("c", "python api.py --port 80", 0, serves(draw, DECODE.but(share=0.1), each_s=8, for_s=4), level(6000),
                instance=3, user="carl"),
    ]  # fmt: skip
    return scene(seed, [A100_MIG], actors, 1200, disturb=[lost_memory(seed, 0.05)], interval_s=2)


def slow_looks_at_small_boards(seed: int) -> Scene:
    """gputop looks at four T4 every five seconds, misses some looks, and their training is well."""
    disturb = [often_gaps(seed, each_s=120, from_s=8, to_s=25)]
    return _answers(seed, "k4there9", T4, CNN, disturb, size=4, interval_s=5.0, until_s=2000)


def empty_boards_of_a_node(seed: int) -> Scene:
    """Eight L4 have nothing to do, and no process, for twenty minutes; samples are missing."""
    draw = Draw(seed, "k4there10")
    disturb = [often_gaps(draw.seed(), each_s=100, from_s=3, to_s=30)]
    return scene(seed, [L4] * 8, [], 1200, disturb=disturb)
