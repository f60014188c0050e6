"""Memory that grows until the board is full: leaks of many rates and shapes."""

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    DIFFUSION,
    FP32,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    SMALL,
    TRICKLE,
)
from detector_benchmark.independent.boards import A100, A100_MIG, H100, L4, L40S, RTX_3090, RTX_4090, T4
from detector_benchmark.independent.disturbances import lost_memory, zero_memory
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import (
    added,
    cycle,
    growing,
    level,
    started,
    steps,
    warmed,
)
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_LATER = allow("filling")  # that the board will be full is true as well


def losses_kept_with_their_graphs(seed: int) -> Scene:
    """A training keeps every loss with its graph: 42 MiB a minute from the first step on, on a 24 GiB board."""
    memory = growing(warmed(420, 9800, at_s=20), mib_per_min=42, from_s=60)
    actor = program("train", "python train.py --epochs 90", 0, started(FP32, 30), memory, age_s=0)
    return Scene(
        world=World([RTX_4090], [actor], seed=seed),
        until_s=2100,
        wants=[want("leak", "train", 60, 1860)],
        allows=_LATER,
    )


def leak_of_half_a_gibibyte_at_each_epoch(seed: int) -> Scene:
    """Each epoch of six minutes leaves 512 MiB behind, in one step; nothing happens to the memory between."""
    memory = steps(*[(360 * n, 14200 + 512 * n) for n in range(40)])
    actor = program("train", "python -u train_unet.py", 0, CNN.but(nv=0), memory, age_s=4000)
    return Scene(
        world=World([A100], [actor], seed=seed, interval_s=5),
        until_s=5400,
        wants=[want("leak", "train", 0, 4500)],
        allows=_LATER,
    )


def leak_only_with_requests(seed: int) -> Scene:
    """A server leaks 25 MiB with each burst of requests; between the bursts of some minutes nothing changes."""
    burst = cycle((90, PREFILL.but(share=0.7)), (210, TRICKLE.but(util=0, share=0, sm=0, dram=0, mc=0, cpu=2, noise=0)))
    memory = added(level(15800), lambda t_s: 50.0 * (int(t_s // 300) * 6 + min(6, int(t_s % 300 / 15))))
    actor = program("server", "python -m uvicorn app:api --port 8080", 0, burst, memory, age_s=30000)
    return Scene(
        world=World([L40S], [actor], seed=seed, interval_s=2),
        until_s=4200,
        wants=[want("leak", "server", 0, 3300)],
        allows=_LATER,
    )


def one_rank_of_eight_leaks(seed: int) -> Scene:
    """Rank 5 keeps the outputs of its validation: 75 MiB a minute. The other seven ranks stay flat."""
    memory = lambda rank: growing(level(41000), mib_per_min=75, from_s=0) if rank == 5 else level(41000)
    actors = ranks(range(8), lambda rank: LLM, memory_of=memory, age_s=5000)
    return Scene(
        world=World([H100] * 8, actors, seed=seed), until_s=1900, wants=[want("leak", "rank5", 0, 1800)], allows=_LATER
    )


def slow_leak_for_three_hours(seed: int) -> Scene:
    """A small model in production leaks 4 MiB a minute, an episode an hour; gputop samples every 10 s."""
    memory = growing(level(3100), mib_per_min=4, from_s=0)
    actor = program(
        "server", "/usr/bin/python3 serve.py --port 9000", 0, TRICKLE.but(util=22, share=0.2), memory, age_s=80000
    )
    return Scene(
        world=World([T4], [actor], seed=seed, interval_s=10),
        until_s=12600,
        wants=[want("leak", "server", 0, 10800)],
        allows=_LATER,
    )


def leak_with_readings_that_fail(seed: int) -> Scene:
    """A diffusion server leaks 90 MiB a minute; 2 % of the readings of its memory fail, or are zero."""
    memory = growing(level(8000), mib_per_min=90, from_s=0)
    actor = program(
        "server", "python webui.py --api --listen", 0, cycle((20, DIFFUSION), (4, IDLE)), memory, age_s=2000
    )
    return Scene(
        world=World([L4], [actor], seed=seed),
        until_s=2000,
        wants=[want("leak", "server", 0, 1700)],
        allows=_LATER,
        disturbances=[lost_memory(seed, 0.015), zero_memory(seed + 1, 0.005)],
    )


def leak_on_a_mig_instance(seed: int) -> Scene:
    """A notebook job on a slice of 20 GB leaks 35 MiB a minute; there is no utilization on MIG."""
    memory = growing(level(4900), mib_per_min=35, from_s=0)
    actor = program("train", "python train_gnn.py", 0, SMALL, memory, age_s=700, instance=2)
    return Scene(
        world=World([A100_MIG], [actor], seed=seed, interval_s=2),
        until_s=2800,
        wants=[want("leak", "train", 0, 2400)],
        allows=_LATER,
    )


def leak_of_requests_by_day(seed: int) -> Scene:
    """A chat server leaks while it has visitors, 30 MiB a minute; every third quarter of an hour it has none."""
    memory = lambda t_s: 16100 + (t_s // 900 * 600 + min(600.0, t_s % 900)) / 60 * 30 // 2 * 2.0
    busy = cycle((600, DECODE), (300, IDLE.but(cpu=3)))
    actor = program("server", "python -m vllm.entrypoints.api_server --port 8000", 0, busy, memory, age_s=50000)
    return Scene(
        world=World([A100], [actor], seed=seed, interval_s=3),
        until_s=5400,
        wants=[want("leak", "server", 0, 4500)],
        allows=_LATER,
    )


def leak_that_is_sure(seed: int) -> Scene:
    """A training leaks 48 MiB a minute for an hour, straight as a line; half of the 80 GB are still free."""
    memory = growing(level(20000), mib_per_min=48, from_s=0)
    actor = program("train", "python -u finetune.py", 0, LORA, memory, age_s=900)
    wants = [want("leak", "train", 0, 3500, is_alarm=True)]
    return Scene(world=World([A100], [actor], seed=seed, interval_s=3), until_s=3700, wants=wants, allows=_LATER)


def leak_on_both_ranks_with_waits(seed: int) -> Scene:
    """Both ranks leak 100 MiB an epoch of two minutes; between epochs they wait half a minute."""
    memory = steps(*[(120 * n, 8500 + 100 * n) for n in range(80)])
    step = cycle((90, FP32), (30, COLLECTIVE))
    actors = ranks([0, 1], lambda rank: step, memory, age_s=2500)
    return Scene(
        world=World([RTX_3090] * 2, actors, seed=seed, interval_s=2),
        until_s=4300,
        wants=[want("leak", "rank0 rank1", 0, 3600)],
        allows=_LATER,
    )
