"""Boards and drivers that answer badly for a moment, or are seen badly, and are there."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, PREFILL, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A10G,
    A30_MIG,
    A100,
    B200,
    GH200,
    GTX_1080_TI,
    H100,
    H100_MIG,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import Conditions
from detector_benchmark.independent.disturbances import (
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
from detector_benchmark.independent.sketches import BATCH, from_then, mib_of, notebook, scene, team
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, since, train


def _there(
    seed: int,
    name: str,
    board: Board,
    size: int,
    work: Activity,
    disturb: Callable[[Draw], Sequence[Any]],
    *,
    until_s: float = 1100,
    **more: Any,
) -> Scene:
    """Let a job train on boards that are seen badly."""
    draw = Draw(seed, name)
    steps = rippling(draw, train(draw.work(work), step_s=0.9, is_alone=size == 1))
    return team(seed, [board] * size, lambda rank: steps, mib_of(board, 0.6), until_s, disturb=disturb(draw), **more)


def laptop_lid_that_was_closed(seed: int) -> Scene:
    """A workstation with two RTX 5090 slept twice for minutes in the middle of a training, and went on."""
    spans = lambda draw: [gaps((draw.between(200, 300), 240), (draw.between(700, 800), 150))]
    return _there(seed, "k5there1", RTX_5090, 2, LORA, spans)


def clock_set_by_a_time_server(seed: int) -> Scene:
    """A time server sets the clock of a host with four A100 back by two hours, and forward by a minute soon after."""
    jumps = lambda draw: [clock_jump(draw.between(200, 380), -7200.0), clock_jump(-6500.0, 60.0)]
    return _there(seed, "k5there2", A100, 4, LLM, jumps, interval_s=2.0)


def sensors_of_an_old_board(seed: int) -> Scene:
    """A GTX 1080 Ti fails to report power, clock and temperature in each tenth sample, and is well."""
    names = ("power_average_w", "power_instant_w", "temperature_c", "clock_sm_hz")
    return _there(seed, "k5there3", GTX_1080_TI, 1, CNN, lambda draw: [faults(draw.seed(), 0.1, *names)])


def zeros_in_single_samples(seed: int) -> Scene:
    """Eight L40S report 0 % and 0 W in single samples, and their processes nothing in others; the training is well."""
    bad = lambda draw: [
        bad_gpu_zeros(draw.seed(), 0.015),
        no_process_values(draw.seed(), 0.04),
        bad_process_zeros(draw.seed(), 0.02),
    ]
    return _there(seed, "k5there4", L40S, 8, CNN, bad, interval_s=2.0)


def recording_with_a_sample_in_fifteen_seconds(seed: int) -> Scene:
    """A recording of four GH200 has a sample in fifteen seconds, and some are missing; the training is well."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=400, from_s=15, to_s=50)]
    return _there(seed, "k5there5", GH200, 4, LLM, bad, until_s=3000, interval_s=15.0)


def faults_of_a_program_that_is_developed(seed: int) -> Scene:
    """A programmer's kernel on a 3090 makes Xid 31 and 43, the program is started again twice, and the board is in order."""
    draw = Draw(seed, "k5there6")
    work, from_s = drifting(draw, draw.work(FP32)), 0.0
    actors: list[Actor] = []
    notes: list[tuple[float, int]] = []
    for turn in range(3):
        end_s = from_s + draw.between(200, 300)
        life: Any = {"from_s": from_s, "until_s": end_s}
        actors.append(program(f"try{turn}", "./kernel_test", 0, since(from_s, work), level(2600), **BATCH | life))
        notes += [(end_s - 1, 31), (end_s - 1, 43)]
        from_s = end_s + draw.between(15, 40)
    bad: Conditions = lambda t_s: from_then(0, xids=tuple(note for note in notes if note[0] <= t_s))(t_s)
    return scene(seed, [RTX_3090], actors, 1000, conditions={0: bad})


def array_of_short_jobs(seed: int) -> Scene:
    """An array of Slurm jobs on two V100: each job works for two minutes and ends, and the next one begins with a new pid."""
    draw = Draw(seed, "k5there7")
    work, from_s = train(draw.work(CNN), step_s=0.8), 0.0
    actors: list[Actor] = []
    for turn in range(6):
        end_s = from_s + draw.between(110, 150)
        more: Any = {"from_s": from_s, "until_s": end_s, "name": f"job{turn}.", "launcher": "srun"}
        actors += ranks(range(2), lambda rank: work, mib_of(V100, 0.5), **more)
        from_s = end_s + draw.between(5, 25)
    return scene(seed, [V100] * 2, actors, 900)


def others_on_a_shared_node(seed: int) -> Scene:
    """gputop is no root on a shared node: it sees neither the threads nor the load of the processes of others on two H100."""
    draw = Draw(seed, "k5there8")
    mine = program("mine", "python train.py", 0, drifting(draw, draw.work(LORA)), mib_of(H100, 0.5))
    other = program(
        "other",
        "python serve.py --port 80",
        1,
        serves(draw, draw.work(DECODE), each_s=8, for_s=6),
        level(60000),
        user="eve",
    )
    return scene(seed, [H100] * 2, [mine, other], 1100, disturb=[hidden_hosts(4037)])


def slices_of_a_large_board(seed: int) -> Scene:
    """Two users work in the slices of an H100, whose driver reports no load of processes; their memory fails at times."""
    draw = Draw(seed, "k5there9")
    actors = [
        program("a", "python tune.py", 0, draw.work(LORA).but(share=0.4), level(33000), instance=1, **BATCH),
        *notebook(
            "b",
            0,
            serves(draw, draw.work(PREFILL).but(share=0.3), each_s=25, for_s=18),
            level(12000),
            instance=2,
            user="bo",
        ),
    ]
    return scene(seed, [H100_MIG], actors, 1200, disturb=[lost_memory(draw.seed(), 0.05)], interval_s=2)


def small_slices_at_work(seed: int) -> Scene:
    """Three services work in the slices of an A30, whose driver reports neither load nor traffic; samples are lost."""
    draw = Draw(seed, "k5there10")
    actors = [
        program(f"api{n}", f"python api.py --port {8000 + n}", 0, serves(draw, draw.work(CNN).but(share=0.15), each_s=9, for_s=7),
                level(mib), instance=instance, **BATCH)
        for n, (instance, mib) in enumerate(((3, 7000), (5, 3000), (6, 2500)))
    ]  # fmt: skip
    return scene(
        seed, [A30_MIG], actors, 1200, disturb=[often_gaps(draw.seed(), each_s=70, from_s=3, to_s=10)], interval_s=2
    )


def node_without_any_work(seed: int) -> Scene:
    """Eight H200 have no process for twenty minutes; power fails in some samples."""
    draw = Draw(seed, "k5there11")
    return scene(seed, [H200] * 8, [], 1200, disturb=[faults(draw.seed(), 0.05, "power_average_w")], interval_s=2)


def driver_without_most_readings(seed: int) -> Scene:
    """A driver of four T4 reports neither power, nor traffic, nor the load of processes; their training is well."""
    board = T4.without("power", "pcie", "process utilization")
    return _there(seed, "k5there12", board, 4, CNN, lambda draw: [], interval_s=2.0)


def board_without_the_memory_of_processes(seed: int) -> Scene:
    """A driver of a B200 reports no memory of processes; one of them trains, and a small one comes and goes."""
    draw = Draw(seed, "k5there13")
    board = B200.without("process memory")
    job = program("job", "python train.py", 0, drifting(draw, draw.work(LLM)), mib_of(B200, 0.6), **BATCH)
    at_s = draw.between(300, 400)
    life: Any = {"from_s": at_s, "until_s": at_s + 200}
    small = program("small", "python plot.py", 0, draw.work(CNN).at(0.1), level(3000), **BATCH | life)
    return scene(seed, [board], [job, small], 1000)


def service_that_is_updated(seed: int) -> Scene:
    """A service on an A10G is stopped, replaced and started again within a minute, as in each update."""
    draw = Draw(seed, "k5there14")
    at_s = draw.between(300, 450)
    busy = serves(draw, draw.work(DECODE), each_s=10, for_s=8)
    command = "python api.py --port 8080"
    old = program("old", command, 0, busy, mib_of(A10G, 0.6), until_s=at_s, **BATCH)
    new = program("new", command, 0, busy, mib_of(A10G, 0.6), from_s=at_s + 35, **BATCH)
    return scene(seed, [A10G], [old, new], 1000)
