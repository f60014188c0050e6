"""Trainings that wait for their data, and those that only look like it."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, FP32, HOST, IDLE, LLM, mix
from detector_benchmark.independent.boards import A100_40, A6000, L40S, PCIE, RTX_3090, RTX_4090, V100
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_WORK = CNN.but(nv=0, rx=160)
_FULL = IDLE.but(cpu=97, state="R")


def data_in_the_main_process(seed: int) -> Scene:
    """A training without workers reads and resizes in its main thread: one core at 100 %, the GPU at 22 %."""
    work = mix((0.22, _WORK), (0.78, HOST))
    job = program(
        "train", "python train_simple.py", 0, cycle((2, HOST), (1, work.but(util=66, share=0.5, mc=30))), level(6100)
    )
    return Scene(
        world=World([V100], [job], seed=seed),
        until_s=1000,
        wants=[want("input launch", "train", 0, 700)],
        allows=allow("launch input"),
    )


def saturated_loaders_and_a_saturated_gpu(seed: int) -> Scene:
    """Eight loaders are at 95 % of a core, and the GPU is at 99 % all the same: they are just fast enough."""
    actors = with_loaders(
        [program("train", "python train_vit.py", 0, FP32.but(util=99, rx=700), level(20000))],
        8,
        IDLE.but(cpu=95, state="R"),
    )
    return Scene(world=World([L40S], actors, seed=seed), until_s=900)


def video_decoding_on_the_cpu(seed: int) -> Scene:
    """Two ranks train on video that twelve workers decode at 99 %; every step waits five seconds for its batch."""
    step = lambda rank: cycle((3, FP32.but(cpu=100)), (5, IDLE.but(cpu=4)))
    actors = with_loaders(ranks([0, 1], step, level(33000)), 12, IDLE.but(cpu=99, state="R"))
    return Scene(
        world=World([A6000] * 2, actors, seed=seed), until_s=1000, wants=[want("input", "rank0 rank1", 0, 700)]
    )


def loaders_with_bursts(seed: int) -> Scene:
    """Loaders work in bursts, at 45 % of a core on average; the GPU is at 92 %."""
    actors = with_loaders(
        [program("train", "python train_seg.py", 0, CNN.but(nv=0, util=92), level(18000))],
        4,
        cycle((3, IDLE.but(cpu=95, state="R")), (4, IDLE.but(cpu=8))),
    )
    return Scene(world=World([RTX_3090], actors, seed=seed), until_s=900)


def starved_without_pcie_readings(seed: int) -> Scene:
    """A consumer board has no PCIe readings; four loaders at 96 %, the GPU at 40 % in teeth of some seconds."""
    step = cycle((2, CNN.but(nv=0)), (3, IDLE.but(cpu=6)))
    actors = with_loaders(
        [program("train", "python train_kp.py", 0, step, level(9000))], 4, IDLE.but(cpu=96, state="R")
    )
    return Scene(
        world=World([RTX_4090.without(PCIE)], actors, seed=seed), until_s=1000, wants=[want("input", "train", 0, 700)]
    )


def communication_between_steps(seed: int) -> Scene:
    """Ranks wait for each other half of the time; their loaders are at 40 % of a core. Data is not what is missing."""
    step = lambda rank: cycle((2, LLM), (2, COLLECTIVE.but(rx=2400, tx=2400)))
    actors = with_loaders(ranks(range(4), step, level(30000)), 4, IDLE.but(cpu=40))
    return Scene(world=World([A100_40] * 4, actors, seed=seed), until_s=900, allows=allow("hang~"))
