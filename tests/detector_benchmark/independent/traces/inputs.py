"""Trainings that wait for their data, and those that only look like it."""

from detector_benchmark.independent.activity import CNN, DATA, DECODE, FP32, IDLE
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_4090, T4
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_WORK = CNN.but(nv=0, rx=160)
_FULL = IDLE.but(cpu=97, state="R")


def three_loaders_for_a_fast_board(seed: int) -> Scene:
    """Three loader workers at 97 % of a core decode pictures for an A100 that works a third of the time."""
    actors = with_loaders(
        [program("train", "python train_resnet.py --workers 3", 0, _WORK.at(0.38).but(cpu=24), level(12000))], 3, _FULL
    )
    return Scene(world=World([A100], actors, seed=seed), until_s=900, wants=[want("input", "train", 0, 600)])


def loaders_at_a_third_of_a_core(seed: int) -> Scene:
    """The GPU is at 77 % and its six loaders at 30 % of a core: nothing waits for data, the steps have small gaps."""
    actors = with_loaders(
        [program("train", "python train_bert.py", 0, FP32.but(util=77, share=0.6, mc=44), level(17000))],
        6,
        IDLE.but(cpu=30),
    )
    return Scene(world=World([RTX_4090], actors, seed=seed), until_s=900)


def slow_network_disk(seed: int) -> Scene:
    """Eight loaders wait for a network disk in D state nearly all the time; four ranks at 25 to 30 %."""
    actors = with_loaders(
        ranks(range(4), lambda rank: CNN.at(0.3).but(cpu=20), level(15000)), 8, IDLE.but(cpu=7, state="D")
    )
    return Scene(
        world=World([A100] * 4, actors, seed=seed),
        until_s=900,
        wants=[want("input", "rank0 rank1 rank2 rank3", 0, 700)],
        allows=allow("blocked~"),
    )


def server_with_helpers(seed: int) -> Scene:
    """A server at 30 % has four helper processes at 20 % of a core: there are few requests."""
    job = program(
        "server",
        "python -m uvicorn api:app --port 8080",
        0,
        DECODE.at(0.3).but(cpu=30),
        level(14000),
        terminal=0,
        cgroup=service("api"),
    )
    actors = [job, *loaders(job, 4, IDLE.but(cpu=20))]
    return Scene(world=World([L40S], actors, seed=seed), until_s=900)


def one_slow_worker_for_eight_boards(seed: int) -> Scene:
    """Eight ranks have one loader each, at 98 % of a core; each H100 works a quarter of the time."""
    actors = with_loaders(ranks(range(8), lambda rank: CNN.at(0.27).but(cpu=30), level(16000)), 1, _FULL)
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=800,
        wants=[want("input", " ".join(f"rank{n}" for n in range(8)), 0, 600)],
    )


def augmentation_on_the_gpu(seed: int) -> Scene:
    """Decoding and augmentation run on the GPU itself; two helpers read files at 15 % of a core."""
    actors = with_loaders([program("prep", "python dali_prep.py", 0, DATA, level(8000))], 2, IDLE.but(cpu=15))
    return Scene(world=World([T4], actors, seed=seed), until_s=900)
