"""Ranks that wait in a collective for a good reason, and other work that looks like a wait."""

from collections.abc import Callable

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DISK,
    GRAPHS,
    IDLE,
    LLM,
    LORA,
    MANY,
    POLLING,
    Activity,
    mix,
)
from detector_benchmark.independent.boards import A100, A100_40, L40S, RTX_3090, RTX_4090
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import Script, cycle, level, phases, started
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.world import World

_WAITS = allow("hang~ tiny~")


def _of(*turns: tuple[float, Activity, Activity]) -> Callable[[int], Script]:
    """Return the scripts of rank 0 and of the others: triples of seconds, rank 0 and the others."""
    first = cycle(*[(length_s, one) for length_s, one, _ in turns])
    others = cycle(*[(length_s, other) for length_s, _, other in turns])
    return lambda rank: others if rank else first


def evaluation_on_rank_0_for_eight_minutes(seed: int) -> Scene:
    """After 10 min of training rank 0 evaluates on its GPU for 8 min; the others wait for it."""
    does = _of((600, CNN, CNN), (480, CNN.but(share=0.5, util=91), COLLECTIVE), (600, CNN, CNN))
    actors = with_loaders(ranks(range(4), does, level(18000)), 3)
    return Scene(world=World([A100] * 4, actors, seed=seed), until_s=1400, allows=_WAITS)


def barrier_for_the_shards_of_each_epoch(seed: int) -> Scene:
    """At each epoch rank 0 prepares the shards with many threads for four minutes; two ranks poll over PCIe."""
    does = _of((420, LORA, LORA), (240, MANY, POLLING))
    actors = ranks([0, 1], does, level(20000), command="python -u train_asr.py --epochs 40")
    return Scene(world=World([RTX_4090] * 2, actors, seed=seed), until_s=2000, allows=_WAITS + allow("spin~"))


def simulation_of_tiny_kernels(seed: int) -> Scene:
    """A physics simulation replays CUDA graphs of tiny kernels at 100 % and little power, for ever: as it should."""
    actor = program("sim", "python rl_walker.py --envs 2048", 0, GRAPHS, level(7300))
    return Scene(world=World([A100_40], [actor], seed=seed), until_s=1500, allows=allow("tiny launch~"))


def start_of_sixteen_ranks(seed: int) -> Scene:
    """Sixteen ranks load their parts from a slow disk for five minutes, some ready earlier; then they train."""
    does = lambda rank: started(phases(COLLECTIVE, (330, LLM)), 170 + 10 * rank, loading=DISK)
    actors = ranks(range(16), does, level(66000), age_s=0, launcher="srun")
    return Scene(world=World([A100] * 16, actors, seed=seed), until_s=750, allows=_WAITS)


def optimizer_on_the_cpu(seed: int) -> Scene:
    """The optimizer of each step runs on the CPU for 25 s with 30 threads; then the GPUs work for 15 s."""
    does = lambda rank: cycle((15, LORA.but(nv=0, rx=4000, tx=3500)), (25, IDLE.but(cpu=2900, thread=97, state="R")))
    actors = ranks(range(4), does, level(21000), launcher="deepspeed --num_gpus 4 train.py --offload")
    return Scene(
        world=World([RTX_3090] * 4, actors, seed=seed), until_s=1200, allows=_WAITS + allow("spin~ stalled~ input")
    )


def gputop_starts_during_an_evaluation(seed: int) -> Scene:
    """Somebody opens gputop while rank 0 evaluates on its GPU and three ranks have waited for it for a while."""
    does = _of((260, LORA.but(util=88), COLLECTIVE), (700, LORA, LORA))
    actors = ranks(range(4), does, level(30000))
    return Scene(world=World([L40S] * 4, actors, seed=seed, first_s=40), until_s=900, allows=_WAITS)


def job_ends_slowly(seed: int) -> Scene:
    """The training ends. The ranks need 30 to 40 s to give back the memory, and exit."""
    does = lambda rank: phases(
        CNN, (700, mix((0.5, COLLECTIVE), (0.5, IDLE))), (705 + 2 * rank, IDLE.but(cpu=70, state="R"))
    )
    actors = ranks(range(4), does, level(18000), until_s=738)
    return Scene(world=World([A100] * 4, actors, seed=seed, first_s=200), until_s=1000, allows=_WAITS)
