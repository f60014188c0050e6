"""Ranks that wait in a collective for a good reason, and other work that looks like a wait."""

from collections.abc import Callable

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DISK,
    HOST,
    LLM,
    MANY,
    Activity,
)
from detector_benchmark.independent.boards import H100, H200, V100
from detector_benchmark.independent.roles import ranks, with_loaders
from detector_benchmark.independent.scripts import Script, cycle, level, phases, sometimes, started
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.world import World

_WAITS = allow("hang~ tiny~")


def _of(*turns: tuple[float, Activity, Activity]) -> Callable[[int], Script]:
    """Return the scripts of rank 0 and of the others: triples of seconds, rank 0 and the others."""
    first = cycle(*[(length_s, one) for length_s, one, _ in turns])
    others = cycle(*[(length_s, other) for length_s, _, other in turns])
    return lambda rank: others if rank else first


def checkpoint_on_rank_0_every_five_minutes(seed: int) -> Scene:
    """Rank 0 writes a checkpoint for 80 s every five minutes; seven ranks wait for it and go on."""
    actors = with_loaders(ranks(range(8), _of((300, LLM, LLM), (80, DISK, COLLECTIVE))), 2)
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=1150, allows=_WAITS)


def rank_0_computes_metrics_on_the_cpu(seed: int) -> Scene:
    """Rank 0 computes metrics of the evaluation on its CPU for 7 min, at 100 % of a core; seven ranks wait."""
    does = _of((400, LLM, LLM), (420, HOST, COLLECTIVE), (500, LLM, LLM))
    return Scene(
        world=World([H100] * 8, ranks(range(8), does, launcher="srun"), seed=seed),
        until_s=1150,
        allows=_WAITS + allow("spin~"),
    )


def server_whose_workers_spin_between_requests(seed: int) -> Scene:
    """A server on four GPUs has few requests: between them its workers spin in a broadcast at 100 % of time."""
    work = sometimes(COLLECTIVE, each_s=150, part=LLM.but(share=0.6, tensor=10, mc=60), for_s=6, seed=5)
    command = "python -m sglang.launch_server --model-path /models/llama-70b --tp 4 --host 0.0.0.0 --port 30000"
    actors = ranks(range(4), lambda rank: work, level(68000), command=command, launcher="spawn", age_s=7000)
    return Scene(world=World([H100] * 4, actors, seed=seed), until_s=1500, allows=_WAITS)


def compile_of_rank_0_before_the_first_step(seed: int) -> Scene:
    """Rank 0 compiles the model with many threads for six minutes after the start; three ranks wait for it."""
    does = lambda rank: started(phases(MANY if rank == 0 else COLLECTIVE, (410, LLM)), 38)
    actors = ranks(range(4), does, level(44000), age_s=0)
    return Scene(world=World([H200] * 4, actors, seed=seed), until_s=1000, allows=_WAITS + allow("spin~"))


def checkpoint_after_every_step(seed: int) -> Scene:
    """Rank 0 writes a checkpoint after every step: seven ranks stand at 100 % and 150 W for most of the time."""
    does = _of((6, LLM, LLM), (44, DISK.but(cpu=60, state="R"), COLLECTIVE))
    return Scene(world=World([H100] * 8, ranks(range(8), does, level(41000)), seed=seed), until_s=1100, allows=_WAITS)


def slow_links_keep_ranks_waiting(seed: int) -> Scene:
    """All-reduce over slow PCIe takes two thirds of each step. The job is slow, not stuck."""
    step = cycle((3, CNN.but(nv=0)), (6, COLLECTIVE.but(rx=2900, tx=2900, mc=4, dram=3)))
    actors = with_loaders(ranks(range(4), lambda rank: step, level(11000)), 3)
    return Scene(world=World([V100] * 4, actors, seed=seed), until_s=1100, allows=_WAITS)


def validation_of_each_rank_ends_at_other_times(seed: int) -> Scene:
    """Each rank validates its own share; the fast ones wait up to three minutes for the slowest, every ten minutes."""
    does = lambda rank: cycle(
        (600, LLM), (60 + 25 * rank, LLM.but(share=0.6)), (180 - 25 * rank, COLLECTIVE), (10, LLM)
    )
    actors = with_loaders(ranks(range(8), does, level(70000)), 1)
    return Scene(world=World([H100] * 8, actors, seed=seed, first_s=300), until_s=1800, allows=_WAITS)
