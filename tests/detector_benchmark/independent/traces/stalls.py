"""Jobs that came to a standstill: they hold their memory, and nothing comes of it any more."""

from detector_benchmark.independent.activity import CNN, DISK, IDLE, LORA
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    L40S,
    PROCESS_UTILIZATION,
    T4,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, gaps, no_process_values
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_FOUR = "rank0 rank1 rank2 rank3"
_IDLE = allow("idle hang")


def loader_of_the_validation_deadlocks(seed: int) -> Scene:
    """The loader workers of the validation deadlock: four ranks sleep at 0 % from one second to the next."""
    does = lambda rank: phases(CNN, (420, IDLE))
    actors = ranks(range(4), does, level(8527))
    actors = with_loaders(actors, 3, phases(IDLE.but(cpu=45), (420, IDLE)))
    return Scene(
        world=World([A100_40] * 4, actors, seed=seed),
        until_s=1400,
        wants=[want("stalled", _FOUR, 420, 1320)],
        allows=_IDLE,
    )


def single_process_in_a_lock(seed: int) -> Scene:
    """A fine-tuning in a detached session stops in a lock after ten minutes: 0 % of the GPU, 0 % of the CPU."""
    train = program(
        "train", "python -u finetune.py --epochs 20", 0, phases(LORA, (600, IDLE.but(cpu=0))), level(22400), terminal=0
    )
    return Scene(
        world=World([L40S], [train], seed=seed), until_s=1650, wants=[want("stalled", "train", 600, 1560)], allows=_IDLE
    )


def minus_i_of_a_program_is_an_input(seed: int) -> Scene:
    """A batch conversion was started as convert.py -i videos/, without a terminal. It stops in the middle for ever."""
    job = program(
        "convert",
        "python convert.py -i /data/videos -o /data/out",
        0,
        phases(CNN.but(nv=0), (360, IDLE)),
        level(6100),
        terminal=0,
        variables={},
    )
    return Scene(
        world=World([T4], [job], seed=seed), until_s=1400, wants=[want("stalled", "convert", 360, 1320)], allows=_IDLE
    )


def network_disk_is_gone(seed: int) -> Scene:
    """The network disk does not answer any more: the training and its workers hang in D state."""
    train = program(
        "train", "python train_seg.py --data /mnt/nfs", 0, phases(CNN.but(nv=0), (300, DISK.but(cpu=0))), level(17100)
    )
    actors = [train, *loaders(train, 8, phases(IDLE.but(cpu=50), (296, DISK.but(cpu=0))))]
    return Scene(
        world=World([A6000], actors, seed=seed),
        until_s=1300,
        wants=[want("stalled blocked", "train", 300, 1200)],
        allows=_IDLE + allow("blocked input~"),
    )


def standstill_after_a_pause_of_gputop(seed: int) -> Scene:
    """A training stops; gputop itself is suspended for 40 s soon after, and single values of processes are missing."""
    train = program("train", "python -u train.py", 0, phases(LORA, (320, IDLE)), level(30100), terminal=0)
    return Scene(
        world=World([A100], [train], seed=seed),
        until_s=1400,
        wants=[want("stalled", "train", 320, 1300)],
        allows=_IDLE,
        disturbances=[gaps((420, 40)), no_process_values(seed, 0.02), bad_process_zeros(seed, 0.01)],
    )


def rank_0_alone_sleeps(seed: int) -> Scene:
    """Two boards without utilization of processes: both ranks are at 0 % after half an hour of work."""
    boards = [L40S.without(PROCESS_UTILIZATION)] * 2
    actors = with_loaders(
        ranks([0, 1], lambda rank: phases(LORA, (400, IDLE)), level(27000)), 2, phases(IDLE.but(cpu=30), (400, IDLE))
    )
    return Scene(
        world=World(boards, actors, seed=seed),
        until_s=1450,
        wants=[want("stalled", "rank0 rank1", 400, 1350)],
        allows=_IDLE,
    )
