"""Harmless: bad samples, gaps, jumps of the clock, and boards that report little."""

from collections.abc import Sequence

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, PREFILL, Activity
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    GTX_1080_TI,
    H100,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
    Board,
)
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
    raw_255,
    zero_memory,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import saves, train
from detector_benchmark.independent.world import World


def _one(
    draw: Draw, seed: int, board: Board, work: Activity, bad: Sequence[Disturbance], until_s: float = 1300
) -> Scene:
    does = train(draw.work(work), step_s=draw.about(1.0, 2), is_alone=True)
    main = program("main", "python train.py", 0, does, level(draw.mib(board)), terminal=0)
    return Scene(world=World([board], [main], seed=seed), until_s=until_s, disturbances=bad)


def single_samples_of_255_percent(seed: int) -> Scene:
    """An old driver says 255 % for a process in one of a hundred samples of a training."""
    draw = Draw(seed, "read1")
    return _one(draw, seed, V100, CNN, [raw_255(draw.seed(), 0.01)])


def single_zeros_of_a_board(seed: int) -> Scene:
    """The driver says 0 % and 0 W for a board in 1 % of the samples, though it trains at full power."""
    draw = Draw(seed, "read2")
    return _one(draw, seed, A100, LORA, [bad_gpu_zeros(draw.seed(), 0.01)])


def single_zeros_of_a_process(seed: int) -> Scene:
    """The driver charges a process 0 % in 5 % of the samples; its board says 97 %."""
    draw = Draw(seed, "read3")
    return _one(draw, seed, RTX_4090, FP32, [bad_process_zeros(draw.seed(), 0.05)])


def gaps_of_minutes(seed: int) -> Scene:
    """gputop itself is stopped for one to five minutes, three times; the training goes on."""
    draw = Draw(seed, "read4")
    spans = [(at_s, draw.between(60, 300)) for at_s in (200.0, 700.0, 1300.0)]
    return _one(draw, seed, A6000, CNN, [gaps(*spans)], 2200)


def clock_of_the_host_jumps_back(seed: int) -> Scene:
    """The clock of the host is set back by 7 minutes in a training that saves every 3 minutes."""
    draw = Draw(seed, "read5")
    does = saves(train(draw.work(LLM), step_s=2), every_s=180, for_s=12)
    actors = ranks(range(4), does, level(50000))
    jump = clock_jump(draw.between(400, 700), -420)
    return Scene(world=World([A100] * 4, actors, seed=seed), until_s=1400, disturbances=[jump])


def clock_of_the_host_jumps_ahead(seed: int) -> Scene:
    """A virtual machine was moved: the clock jumps ahead by 12 minutes; no work was lost."""
    draw = Draw(seed, "read6")
    return _one(draw, seed, T4, CNN, [clock_jump(draw.between(300, 700), 720)])


def board_of_few_metrics(seed: int) -> Scene:
    """A GTX 1080 Ti says neither PCIe nor utilization per process, and this driver hides its power as well."""
    draw = Draw(seed, "read7")
    return _one(draw, seed, GTX_1080_TI.without("power"), FP32, [])


def no_memory_of_processes(seed: int) -> Scene:
    """A driver in a virtual machine gives no memory per process; two jobs share the board."""
    draw = Draw(seed, "read8")
    board = L40S.without("process memory", "process utilization")
    actors = [program(f"p{n}", f"python job.py {n}", 0, draw.work(CNN), level(11000)) for n in range(2)]
    return Scene(world=World([board], actors, seed=seed), until_s=1300)


def processes_of_another_user(seed: int) -> Scene:
    """gputop runs without root: what the CPU does of the other user's four ranks cannot be read."""
    draw = Draw(seed, "read9")
    does = saves(train(draw.work(LLM), step_s=2), every_s=240, for_s=15)
    world = World([H100] * 4, ranks(range(4), does, level(66000), user="bob"), seed=seed)
    pids = [pid for name, pid in world.people.pids.items() if name != "rank.job"]
    return Scene(world=world, until_s=1300, disturbances=[hidden_hosts(*pids)])


def all_kinds_of_bad_samples(seed: int) -> Scene:
    """Everything goes wrong now and then in the readings of a training with loaders; the training is well."""
    draw = Draw(seed, "read10")
    main = program("main", "python train.py", 0, draw.work(FP32), level(15000), terminal=0)
    bad = [
        often_gaps(draw.seed(), each_s=90, from_s=2, to_s=20),
        bad_process_zeros(draw.seed(), 0.01),
        zero_memory(draw.seed(), 0.01),
        no_process_values(draw.seed(), 0.02),
        raw_255(draw.seed(), 0.005),
        faults(draw.seed(), 0.02, "gpu_utilization_percent", "power_average_w"),
    ]
    actors = with_loaders([main], 4)
    return Scene(world=World([RTX_3090], actors, seed=seed), until_s=1800, disturbances=bad)


def slow_interval_of_a_monitor(seed: int) -> Scene:
    """gputop looks once in ten seconds, at a server that decodes and at ranks that train in steps of 3 s."""
    draw = Draw(seed, "read11")
    actors = ranks(range(2), lambda rank: train(draw.work(LLM), step_s=3), level(41000))
    server = program("serve", "ollama serve", 2, draw.work(DECODE), level(12000), terminal=0)
    return Scene(world=World([A100] * 3, [*actors, server], seed=seed, interval_s=10.0), until_s=2400)


def memory_that_fails_on_one_board(seed: int) -> Scene:
    """On one of two boards a tenth of the readings of the memory fail; both infer at full load."""
    draw = Draw(seed, "read12")
    actors = [program(f"p{n}", "python infer.py", n, draw.work(PREFILL), level(7000), terminal=0) for n in range(2)]
    world = World([TITAN_X] * 2, actors, seed=seed)
    return Scene(world=world, until_s=1200, disturbances=[lost_memory(draw.seed(), 0.1)])


def looks_twice_a_second(seed: int) -> Scene:
    """gputop looks twice a second at a training with steps of 0.7 s whose readings are zero now and then."""
    draw = Draw(seed, "read13")
    main = program("main", "python train.py", 0, train(draw.work(LORA), step_s=0.7, is_alone=True), level(30000))
    world = World([L40S], [main], seed=seed, interval_s=0.5)
    return Scene(world=world, until_s=900, disturbances=[bad_process_zeros(draw.seed(), 0.01)])
