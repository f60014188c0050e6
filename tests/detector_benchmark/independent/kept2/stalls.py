"""Jobs that live and do nothing: their processes wait for something that does not come."""

from detector_benchmark.independent.activity import CNN, DISK, FP32, FP64, HOST, IDLE, LLM, LORA, MOLECULES
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    GTX_1080_TI,
    H100,
    H100_MIG,
    L4,
    L40S,
    PRO_6000,
    RTX_4090,
    T4,
    V100,
)
from detector_benchmark.independent.disturbances import clock_jump, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, steps_until, train, with_pauses
from detector_benchmark.independent.world import World

_BATCH = {"terminal": 0, "variables": {}}  # not started at a terminal


def loaders_deadlock_on_one_board(seed: int) -> Scene:
    """The loaders of a training fork at a bad moment and wait for a lock; the training waits for them for ever."""
    draw = Draw(seed, "stall1")
    at_s = draw.between(400, 900)
    work = train(draw.work(CNN), step_s=0.3, is_alone=True)
    main = program("python", "python train.py --workers 6", 0, phases(work, (at_s, ASLEEP)), level(8200), **_BATCH)
    actors = [main, *loaders(main, 6, phases(IDLE.but(cpu=draw.between(25, 50)), (at_s, ASLEEP)))]
    return Scene(
        world=World([V100], actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("stalled", "python gpu:0", at_s, at_s + 900)],
        allows=allow("idle"),
    )


def reader_waits_for_a_file_server(seed: int) -> Scene:
    """A training reads from a file server that went away: the process is asleep, its reader in D, no core burns."""
    draw = Draw(seed, "stall2")
    at_s = draw.between(500, 800)
    work = train(draw.work(FP32), step_s=0.8, is_alone=True)
    main = program("python", "python fit.py", 0, phases(work, (at_s, ASLEEP)), level(draw.mib(A100_40)), **_BATCH)
    actors = [main, *loaders(main, 2, phases(IDLE.but(cpu=30), (at_s, DISK.but(cpu=0))))]
    return Scene(
        world=World([A100_40], actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("stalled blocked", "python gpu:0 python.loader0 python.loader1", at_s, at_s + 900)],
        allows=allow("idle blocked stalled"),
    )


def data_parallel_job_without_collectives_stops(seed: int) -> Scene:
    """Four ranks on gloo wait for a message on a socket, all asleep, all at 0 %; the fifth, remote, is dead."""
    draw = Draw(seed, "stall3")
    at_s = draw.between(450, 700)
    work = train(draw.work(CNN), step_s=1.2, talk=0.2)
    actors = ranks(range(4), lambda rank: phases(work, (at_s, ASLEEP)), level(draw.mib(T4)), launcher="mpirun")
    return Scene(
        world=World([T4] * 4, actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("stalled hang", everyone(4), at_s, at_s + 900)],
        allows=allow("idle"),
    )


def simulation_waits_for_a_licence(seed: int) -> Scene:
    """A solver with double precision lost its licence server and retries every 30 s for ever; no step since."""
    draw = Draw(seed, "stall4")
    at_s = draw.between(600, 900)
    retries = with_pauses(phases(ASLEEP), IDLE.but(cpu=12), every_s=30, for_s=1)
    does = phases(draw.work(FP64), (at_s, retries))
    main = program("solver", "/opt/cfd/bin/solver -gpu 0 case.inp", 0, does, level(draw.mib(A100)), **_BATCH)
    return Scene(
        world=World([A100], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("stalled", "solver gpu:0", at_s, at_s + 1000)],
        allows=allow("idle"),
    )


def one_loader_burns_a_core_and_all_else_waits(seed: int) -> Scene:
    """A worker is caught in an endless loop over a broken image. The training and five workers wait for it."""
    draw = Draw(seed, "stall5")
    at_s = draw.between(500, 900)
    work = train(draw.work(CNN), step_s=0.5, is_alone=True)
    main = program("python", "python train.py --aug strong", 0, phases(work, (at_s, ASLEEP)), level(15000), **_BATCH)
    workers = loaders(main, 5, phases(IDLE.but(cpu=38), (at_s, ASLEEP)))
    bad = loaders(main, 6, phases(IDLE.but(cpu=38), (at_s, HOST)))[5]
    return Scene(
        world=World([PRO_6000], [main, *workers, bad], seed=seed),
        until_s=at_s + 1900,
        wants=[want("stalled", "python gpu:0", at_s, at_s + 1700)],
        allows=allow("idle spin input~"),
    )


def upload_at_the_end_never_ends(seed: int) -> Scene:
    """A fine-tuning has done its last step and waits for an upload whose connection is dead; it holds all memory."""
    draw = Draw(seed, "stall6")
    at_s = draw.between(700, 1100)
    work = train(draw.work(LORA), step_s=6, is_alone=True)
    main = program("python", "python finetune.py --push", 0, phases(work, (at_s, ASLEEP)), level(41000), **_BATCH)
    return Scene(
        world=World([L40S], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("stalled idle", "python gpu:0", at_s, at_s + 1200)],
        allows=allow("stalled idle"),
    )


def training_in_a_container_stops_with_loaders_alive(seed: int) -> Scene:
    """In a container /dev/shm is full: loaders wait for room for ever, and two ranks wait for them. No NCCL call."""
    draw = Draw(seed, "stall7")
    at_s = draw.between(350, 600)
    work = train(draw.work(CNN), step_s=0.6)
    actors = with_loaders(
        ranks(range(2), lambda rank: phases(work, (at_s, ASLEEP)), level(9000), cgroup=docker("b"), launcher="spawn"),
        3,
        phases(IDLE.but(cpu=33), (at_s, ASLEEP)),
    )
    return Scene(
        world=World([RTX_4090] * 2, actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("stalled hang", everyone(2), at_s, at_s + 900)],
        allows=allow("idle"),
    )


def job_in_a_mig_slice_stops(seed: int) -> Scene:
    """A training in a MIG slice waits for ever in its logger. Beside it another slice is busy."""
    draw = Draw(seed, "stall8")
    at_s = draw.between(500, 900)
    one = program("one", "python train.py", 0, phases(draw.work(LORA), (at_s, ASLEEP)), level(30000), instance=1)
    two = program("two", "python other.py", 0, draw.work(LORA).but(util=98), level(22000), instance=2, user="bob")
    return Scene(
        world=World([H100_MIG], [one, two], seed=seed),
        until_s=at_s + 1900,
        wants=[want("stalled idle", "one", at_s, at_s + 1700)],
        allows=allow("stalled idle", "one gpu:0"),
    )


def log_says_that_no_step_ends(seed: int) -> Scene:
    """A training that reports its steps stops to do so; an H100 at 0 %, one thread polls a queue at 3 % of a core."""
    draw = Draw(seed, "stall9")
    at_s = draw.between(400, 800)
    work = train(draw.work(LLM), step_s=4, is_alone=True)
    does = phases(work, (at_s, IDLE.but(cpu=3)))
    steps = steps_until(at_s, each_s=4)
    main = program("python", "python pretrain.py", 0, does, level(draw.mib(H100)), steps=steps, **_BATCH)
    return Scene(
        world=World([H100], [main], seed=seed),
        until_s=at_s + 1300,
        wants=[want("stalled", "python gpu:0", at_s, at_s + 900)],
        allows=allow("idle"),
    )


def stall_after_long_validations(seed: int) -> Scene:
    """Every 10 min a training pauses for 100 s of scoring on the CPU. After one of them it never goes on."""
    draw = Draw(seed, "stall10")
    steps = train(draw.work(FP32), step_s=1.5, is_alone=True)
    does = phases(with_pauses(steps, HOST, every_s=600, for_s=100), (1800, ASLEEP))
    main = program("python", "python train.py", 0, does, level(draw.mib(A6000)), **_BATCH)
    return Scene(
        world=World([A6000], [main], seed=seed),
        until_s=3500,
        wants=[want("stalled", "python gpu:0", 1800, 3000)],
        allows=allow("idle spin~"),
    )


def dynamics_job_stops_while_the_clock_jumps(seed: int) -> Scene:
    """A molecular dynamics run stops at its output; the clock of the host jumps, and gputop loses seconds."""
    draw = Draw(seed, "stall11")
    at_s = draw.between(500, 700)
    does = phases(draw.work(MOLECULES), (at_s, ASLEEP))
    main = program("gmx", "gmx mdrun -deffnm prod -nb gpu", 0, does, level(900), **_BATCH)
    return Scene(
        world=World([GTX_1080_TI], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("stalled", "gmx gpu:0", at_s, at_s + 1200)],
        allows=allow("idle"),
        disturbances=[often_gaps(draw.seed(), each_s=90, from_s=2, to_s=9), clock_jump(at_s + 200, -45)],
    )


def batch_inference_waits_for_a_queue_that_is_gone(seed: int) -> Scene:
    """A worker of a batch pipeline lost its broker and waits on a dead socket. The others of the node are done."""
    draw = Draw(seed, "stall12")
    at_s = draw.between(400, 600)
    does = phases(draw.work(CNN), (at_s, ASLEEP))
    main = program("worker", "python -u embed_batch.py --shard 3", 0, does, level(6000), user="pipe", **_BATCH)
    return Scene(
        world=World([L4], [main], seed=seed, interval_s=2.0),
        until_s=at_s + 1500,
        wants=[want("stalled idle", "worker gpu:0", at_s, at_s + 1200)],
        allows=allow("stalled idle"),
    )
