"""Ranks that wait in a collective for ever, as seen well: over NVLink, PCIe and host memory, of many sizes."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, FP32, HOST, IDLE, LLM, LORA, POLLING, mix
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    H100,
    L40S,
    V100,
)
from detector_benchmark.independent.roles import ranks, with_loaders
from detector_benchmark.independent.scripts import level, phases, started
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_OBSERVED = allow("tiny~")


def one_rank_sleeps_while_three_wait(seed: int) -> Scene:
    """Rank 2 stops in a lock at 0 %; its three peers wait for it at 100 % and low power."""
    does = lambda rank: phases(CNN, (300, IDLE if rank == 2 else COLLECTIVE))
    wants = [want("hang stalled", "rank0 rank1 rank2 rank3", 300, 900)]
    actors = with_loaders(ranks(range(4), does, level(21000)), 4)
    return Scene(
        world=World([A100] * 4, actors, seed=seed), until_s=950, wants=wants, allows=_OBSERVED + allow("idle~", "rank2")
    )


def polling_hang_from_the_first_step(seed: int) -> Scene:
    """The first all-reduce of four A6000 never returns. The ranks have polled over PCIe since."""
    does = lambda rank: started(POLLING.but(rx=620, tx=130), 40)
    actors = ranks(range(4), does, level(6800), age_s=0)
    wants = [want("hang kernel", "rank0 rank1 rank2 rank3", 52, 960)]
    return Scene(world=World([A6000] * 4, actors, seed=seed), until_s=1000, wants=wants, allows=_OBSERVED)


def mpi_ranks_on_v100_wait(seed: int) -> Scene:
    """Four MPI ranks on V100 wait in an all-gather at 66 W of 300 W; the driver has no counters and no GPM."""
    actors = ranks(
        range(4), lambda rank: phases(FP32, (540, COLLECTIVE)), level(9100), launcher="mpirun", command="./solver -gpu"
    )
    wants = [want("hang", "rank0 rank1 rank2 rank3", 540, 1140)]
    return Scene(world=World([V100] * 4, actors, seed=seed), until_s=1200, wants=wants, allows=_OBSERVED)


def hang_of_a_job_that_python_spawned(seed: int) -> Scene:
    """A Python program spawned three ranks without a launcher; they wait for each other for ever."""
    does = lambda rank: phases(LORA, (350, COLLECTIVE if rank else IDLE.but(cpu=2)))
    actors = ranks(range(3), does, level(33000), launcher="spawn", command="python finetune_lora.py --ddp")
    wants = [want("hang stalled", "rank0 rank1 rank2", 350, 950)]
    return Scene(
        world=World([L40S] * 3, actors, seed=seed),
        until_s=1000,
        wants=wants,
        allows=_OBSERVED + allow("idle~", "rank0"),
    )


def hang_while_rank_0_burns_a_core(seed: int) -> Scene:
    """Rank 0 is in an endless loop on the CPU, at 0 % of its GPU; seven ranks wait. Nothing comes of it."""
    does = lambda rank: phases(LLM, (300, HOST if rank == 0 else COLLECTIVE))
    wants = [want("hang spin stalled", " ".join(f"rank{n}" for n in range(8)), 300, 1560)]
    actors = ranks(range(8), does, level(61000))
    return Scene(
        world=World([H100] * 8, actors, seed=seed), until_s=1600, wants=wants, allows=_OBSERVED + allow("spin", "rank0")
    )


def hang_at_a_higher_level_of_power(seed: int) -> Scene:
    """Ranks wait with many channels: 100 % at a tenth of the range of power, where they had worked at two thirds."""
    wait = mix((0.955, COLLECTIVE.but(sm=24, dram=1.0)), (0.045, CNN))
    actors = with_loaders(ranks(range(8), lambda rank: phases(CNN, (450, wait)), level(12000)), 2)
    wants = [want("hang", " ".join(f"rank{n}" for n in range(8)), 450, 1050)]
    return Scene(world=World([A100] * 8, actors, seed=seed), until_s=1100, wants=wants, allows=_OBSERVED)
