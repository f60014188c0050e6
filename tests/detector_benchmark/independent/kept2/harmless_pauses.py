"""Harmless: checkpoints, validations, epochs, accumulation, rollouts: long waits that end."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DISK, FP32, FP64, HOST, IDLE, LLM, LORA, MANY, mix
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    GB200,
    GTX_1080_TI,
    H100,
    H100_PCIE,
    H200,
    L40S,
    RTX_3090,
    T4,
    V100,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import (
    ASLEEP,
    saves,
    steps_until,
    train,
    validates,
    wait_on,
    with_pauses,
)
from detector_benchmark.independent.world import World


def checkpoint_of_four_minutes(seed: int) -> Scene:
    """Rank 0 of eight H100 writes 400 GB for four minutes; seven ranks poll at 150 W. Twice, then on as before."""
    draw = Draw(seed, "pause1")
    does = saves(train(draw.work(LLM), step_s=4), every_s=900, for_s=draw.between(200, 250))
    actors = ranks(range(8), does, level(70000), launcher="srun")
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=1900, allows=allow("hang~"))


def checkpoint_after_each_long_step(seed: int) -> Scene:
    """A test of a file system writes a checkpoint after each step of 6 s: seven ranks wait for most of the time."""
    draw = Draw(seed, "pause2")
    does = saves(train(draw.work(LLM), step_s=6), every_s=draw.between(22, 30), for_s=16)
    actors = ranks(range(8), does, level(62000))
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=1200, allows=allow("hang~ straggler~"))


def validation_every_hour(seed: int) -> Scene:
    """Once an hour four ranks validate for eight minutes at half of the power; rank 0 scores for two minutes more."""
    draw = Draw(seed, "pause3")
    work = draw.work(LLM)
    ends = lambda rank: phases(
        train(work, step_s=5), (900, validates(work)), (1380, MANY if rank == 0 else COLLECTIVE), (1500, work)
    )
    actors = ranks(range(4), ends, level(60000))
    return Scene(world=World([A100] * 4, actors, seed=seed), until_s=2100, allows=allow("hang~"))


def validation_on_rank_0_alone(seed: int) -> Scene:
    """Rank 0 validates alone for three minutes in each quarter of an hour, on its GPU; three ranks wait for it."""
    draw = Draw(seed, "pause4")
    work, steps = draw.work(CNN), train(draw.work(CNN), step_s=0.5)
    does = lambda rank: with_pauses(
        steps, validates(work) if rank == 0 else wait_on(L40S), every_s=900, for_s=draw.between(150, 200)
    )
    actors = with_loaders(ranks(range(4), does, level(19000)), 1)
    return Scene(world=World([L40S] * 4, actors, seed=seed), until_s=1900, allows=allow("hang~ straggler~"))


def ends_of_epochs(seed: int) -> Scene:
    """After each epoch of three minutes the loaders start anew: 25 s without the GPU on an RTX 3090."""
    draw = Draw(seed, "pause5")
    steps = train(draw.work(FP32), step_s=0.4, is_alone=True)
    does = with_pauses(steps, IDLE.but(cpu=45), every_s=180, for_s=draw.between(18, 30))
    main = program("python", "python train.py", 0, does, level(15000), terminal=0)
    return Scene(world=World([RTX_3090], [main], seed=seed), until_s=1700)


def accumulation_in_long_steps(seed: int) -> Scene:
    """Gradients accumulate for 55 s; then 5 s of exchange and optimizer on the CPU. Eight B200 in step."""
    draw = Draw(seed, "pause6")
    does = cycle((55, draw.work(LLM).but(nv=20)), (2, COLLECTIVE.but(share=0.1, nv=60000)), (3, HOST))
    return Scene(world=World([B200] * 8, ranks(range(8), lambda rank: does, level(150_000)), seed=seed), until_s=1200)


def optimizer_state_in_host_memory(seed: int) -> Scene:
    """The optimizer state lives in host memory: 9 s of work, then 11 s of all cores in each step, on two boards."""
    draw = Draw(seed, "pause7")
    does = cycle((9, draw.work(LLM)), (draw.between(9, 12), MANY.but(cpu=2400)))
    actors = ranks(range(2), lambda rank: does, level(39000), command="deepspeed train.py --offload")
    return Scene(world=World([A6000] * 2, actors, seed=seed), until_s=1300)


def rollouts_and_updates(seed: int) -> Scene:
    """RL: three minutes of games on all cores with little GPU work, two minutes of updates on the GPU, in turn."""
    draw = Draw(seed, "pause8")
    games = mix((0.1, CNN), (0.9, MANY.but(cpu=1700)))
    does = cycle((draw.between(150, 200), games), (120, draw.work(CNN).but(nv=0)))
    main = program("python", "python ppo.py --envs 256", 0, does, level(5200), terminal=0)
    return Scene(world=World([T4], [main], seed=seed), until_s=2000, allows=allow("input~ launch~"))


def rl_ranks_wait_for_rollouts(seed: int) -> Scene:
    """Trainers wait 100 to 150 s for rollouts in each round, spinning in a broadcast; eight GB200 in two groups."""
    draw = Draw(seed, "pause9")
    wait_s = draw.between(100, 150)
    trains = cycle((wait_s, COLLECTIVE), (90, draw.work(LLM)))
    plays = cycle((wait_s, draw.work(LORA)), (90, COLLECTIVE))
    actors = ranks(range(4), lambda rank: trains if rank < 2 else plays, level(130_000), command="python -m verl.main")
    return Scene(world=World([GB200] * 4, actors, seed=seed), until_s=2000, allows=allow("hang~ straggler~"))


def simulation_writes_its_output(seed: int) -> Scene:
    """A solver writes its fields for 90 s in each 10 min: in D at times, the board at 0 %."""
    draw = Draw(seed, "pause10")
    writes = cycle((5, DISK), (2, HOST))
    does = with_pauses(phases(draw.work(FP64)), writes, every_s=600, for_s=draw.between(70, 110))
    main = program("solver", "/opt/cfd/solver case.nml", 0, does, level(9000), terminal=0)
    return Scene(world=World([V100], [main], seed=seed), until_s=2200)


def upload_after_each_epoch(seed: int) -> Scene:
    """After each epoch the weights are uploaded for two minutes; the process sleeps in a socket, steps are logged."""
    draw = Draw(seed, "pause11")
    steps = train(draw.work(LORA), step_s=3, is_alone=True)
    does = with_pauses(steps, IDLE.but(cpu=9), every_s=480, for_s=draw.between(90, 140))
    main = program(
        "python",
        "python finetune.py --push",
        0,
        does,
        level(30000),
        terminal=0,
        steps=steps_until(1e9, each_s=3.4),
    )
    return Scene(world=World([H100_PCIE], [main], seed=seed), until_s=2200)


def job_is_suspended_by_its_scheduler(seed: int) -> Scene:
    """A sweep sleeps for four minutes between its trials, as its controller chooses the next; eight trials."""
    draw = Draw(seed, "pause12")
    does = cycle((draw.between(200, 260), draw.work(CNN).but(nv=0)), (draw.between(200, 260), ASLEEP))
    main = program("agent", "wandb agent team/sweep", 0, does, level(2600), terminal=0)
    return Scene(world=World([GTX_1080_TI], [main], seed=seed), until_s=2500)


def pipeline_with_large_bubbles(seed: int) -> Scene:
    """A pipeline of four stages with few micro-batches: each waits for its turn for a third of each step of 12 s."""
    draw = Draw(seed, "pause13")
    work = draw.work(LLM)
    does = lambda rank: cycle((8, work), (4, COLLECTIVE), shift_s=12.0 - rank * 1.3)
    actors = ranks(range(4), does, memory_of=lambda rank: level(90_000 - 9000 * rank))
    return Scene(world=World([H200] * 4, actors, seed=seed), until_s=1300, allows=allow("straggler~"))
