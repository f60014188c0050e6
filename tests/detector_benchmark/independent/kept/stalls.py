"""Jobs that came to a standstill: they hold their memory, and nothing comes of it any more."""

from detector_benchmark.independent.activity import FP32, FP64, HOST, IDLE, LLM
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import A100, A100_40, H100, RTX_3090, RTX_4090, V100
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_FOUR = "rank0 rank1 rank2 rank3"
_IDLE = allow("idle hang")


def one_worker_burns_a_core_for_ever(seed: int) -> Scene:
    """A decoder in one of six loader workers loops for ever at 100 % of a core; the training has nothing to do."""
    train = program("train", "python train_video.py --workers 6", 0, phases(FP32, (400, IDLE)), level(15300))
    busy = Actor(
        name="loop",
        command=train.command,
        parent="train",
        host=phases(IDLE.but(cpu=40), (398, HOST)),
        title="pt_data_worker",
        age_s=3500,
    )
    actors = [train, *loaders(train, 5, phases(IDLE.but(cpu=40), (400, IDLE))), busy]
    return Scene(
        world=World([RTX_4090], actors, seed=seed),
        until_s=2500,
        wants=[want("stalled", "train", 400, 2350)],
        allows=_IDLE + allow("input~"),
    )


def standstill_with_gaps(seed: int) -> Scene:
    """A job of two ranks stands still. gputop misses 6 to 20 s every two minutes."""
    actors = ranks(
        [0, 1], lambda rank: phases(FP32, (350, IDLE.but(cpu=1))), level(11000), command="python -u train_nerf.py"
    )
    return Scene(
        world=World([RTX_3090] * 2, actors, seed=seed),
        until_s=1500,
        wants=[want("stalled", "rank0 rank1", 350, 1400)],
        allows=_IDLE,
        disturbances=[often_gaps(seed, each_s=120, from_s=6, to_s=20)],
    )


def watchdog_thread_keeps_a_core_busy(seed: int) -> Scene:
    """All ranks wait for a file that never comes; on rank 1 a child that compresses logs burns a core for ever."""
    does = lambda rank: phases(LLM, (330, IDLE))
    zip_ = Actor(
        name="zip", command="gzip -9 run.log", parent="rank1", host=phases(IDLE, (330, HOST)), threads=1, from_s=330
    )
    actors = [*ranks(range(4), does, level(51000), launcher="srun"), zip_]
    return Scene(
        world=World([H100] * 4, actors, seed=seed),
        until_s=2500,
        wants=[want("stalled", _FOUR, 330, 2400)],
        allows=_IDLE,
    )


def mpi_solver_with_a_lost_message(seed: int) -> Scene:
    """Four ranks of a solver wait with blocking calls for a message that was lost: 0 % everywhere."""
    actors = ranks(
        range(4),
        lambda rank: phases(FP64, (500, IDLE.but(cpu=2))),
        level(9300),
        launcher="mpirun",
        command="./cfd -in case.xml",
    )
    return Scene(
        world=World([V100] * 4, actors, seed=seed),
        until_s=1500,
        wants=[want("stalled", _FOUR, 500, 1400)],
        allows=_IDLE,
    )


def interactive_flag_of_a_simulation(seed: int) -> Scene:
    """A simulation under Slurm has the argument -i for its input file. All three ranks stand still."""
    actors = ranks(
        range(3),
        lambda rank: phases(FP64, (450, IDLE)),
        level(21000),
        launcher="srun",
        command="lmp -sf gpu -i in.melt",
    )
    return Scene(
        world=World([A100] * 3, actors, seed=seed),
        until_s=1450,
        wants=[want("stalled", "rank0 rank1 rank2", 450, 1350)],
        allows=_IDLE,
    )


def one_of_many_children_spins(seed: int) -> Scene:
    """The environments of a reinforcement learning wait for one that loops for ever; the learner stands still."""
    learner = program(
        "learner", "python impala.py --actors 16", 0, phases(FP32.but(util=70), (380, IDLE)), level(4900), terminal=0
    )
    envs = loaders(learner, 15, phases(IDLE.but(cpu=70), (380, IDLE)))
    loop = Actor(
        name="loop",
        command="python impala.py --actors 16",
        parent="learner",
        host=phases(IDLE.but(cpu=70), (380, HOST)),
        age_s=3500,
    )
    return Scene(
        world=World([A100_40], [learner, *envs, loop], seed=seed),
        until_s=2500,
        wants=[want("stalled", "learner", 380, 2350)],
        allows=_IDLE + allow("input~"),
    )
