"""Memory that grows until the board is full: leaks of many rates and shapes."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, IDLE, LORA, PREFILL, TRICKLE, mix
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_3090, RTX_4090, V100
from detector_benchmark.independent.disturbances import lost_memory, zero_memory
from detector_benchmark.independent.roles import desktop, program, with_loaders
from detector_benchmark.independent.scripts import (
    added,
    cycle,
    growing,
    level,
    sawtooth,
    sometimes,
    started,
    steps,
    warmed,
)
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_LATER = allow("filling")  # that the board will be full is true as well


def leak_with_samples_of_no_memory(seed: int) -> Scene:
    """A server leaks 60 MiB a minute. In one of 150 samples the driver says that it holds nothing."""
    memory = growing(level(20958), mib_per_min=60, from_s=0)
    command = "tritonserver --model-repository=/models --http-port 8000"
    actor = program("server", command, 0, DECODE.but(util=71), memory, age_s=9000)
    return Scene(
        world=World([A100], [actor], seed=seed),
        until_s=2300,
        wants=[want("leak", "server", 0, 1900)],
        allows=_LATER,
        disturbances=[zero_memory(seed, 0.0066)],
    )


def allocator_that_doubles_over_a_leak(seed: int) -> Scene:
    """A leak fills regions of an allocator that doubles them: 1, 2, 4, 8, 16 GiB more, at ever longer times."""
    memory = steps((0, 4100), (240, 5124), (480, 7172), (960, 11268), (1920, 19460), (3840, 35844), (7680, 68612))
    actor = program("train", "python tf_train.py --allow_growth", 0, FP32, memory, age_s=0)
    return Scene(
        world=World([A100], [actor], seed=seed, interval_s=5),
        until_s=8200,
        allows=allow("leak filling"),
        wants=[want("leak filling", "train", 0, 8100)],
    )


def very_fast_leak_of_a_training(seed: int) -> Scene:
    """A list on the GPU grows by 1.1 GiB a minute while the training runs at full power: full in an hour."""
    memory = growing(warmed(500, 21000, at_s=20), mib_per_min=1130, from_s=60, chunk_mib=20)
    actors = with_loaders([program("train", "python train_detr.py", 0, started(LORA, 30), memory, age_s=0)], 6)
    return Scene(
        world=World([H100], actors, seed=seed),
        until_s=2000,
        wants=[want("leak filling", "train", 60, 1260)],
        allows=_LATER,
    )


def teeth_whose_lows_rise(seed: int) -> Scene:
    """Each image needs 3 GiB and gives back all but 38 MiB of it, every 45 s."""
    memory = added(sawtooth(level(9000), mib=3072, period_s=45), lambda t_s: 38.0 * (t_s // 45))
    actor = program("comfy", "python main.py --listen", 0, cycle((38, DIFFUSION), (7, IDLE)), memory, age_s=4000)
    return Scene(
        world=World([RTX_3090], [actor, *desktop()], seed=seed),
        until_s=2500,
        wants=[want("leak", "comfy", 0, 2100)],
        allows=_LATER,
    )


def leak_after_an_hour_of_health(seed: int) -> Scene:
    """A training is flat for 25 min; then a callback begins to keep tensors, 55 MiB a minute."""
    memory = growing(level(10400), mib_per_min=55, from_s=1500)
    actor = program("train", "python train_vit.py", 0, CNN.but(nv=0), memory, age_s=300)
    return Scene(
        world=World([V100], [actor], seed=seed, interval_s=2),
        until_s=3700,
        wants=[want("leak", "train", 1500, 3540)],
        allows=_LATER,
    )


def large_equal_steps_every_ten_minutes(seed: int) -> Scene:
    """A service reloads its model every ten minutes and never frees the old one: 3.1 GiB each time."""
    memory = steps(*[(600 * n + 40, 3200 + 3174 * n) for n in range(25)])
    actor = program("server", "python3 reload_server.py --port 8500", 0, TRICKLE, memory, age_s=100)
    return Scene(
        world=World([A100], [actor], seed=seed, interval_s=5),
        until_s=7200,
        wants=[want("leak filling", "server", 0, 5800)],
        allows=_LATER,
    )


def doubling_then_full(seed: int) -> Scene:
    """Regions grow by half each time, over data that leaks at a steady pace: the board of 48 GB is nearly full."""
    memory = steps((0, 6000), (420, 9000), (960, 13500), (1770, 20250), (2985, 30375), (4800, 41200))
    actor = program("sim", "python jax_sim.py", 0, FP32.but(share=0.6), memory, age_s=0)
    return Scene(
        world=World([L40S], [actor], seed=seed, interval_s=5),
        until_s=5700,
        wants=[want("leak filling", "sim", 0, 5600)],
        allows=allow("leak filling"),
    )


def fast_leak_in_a_pipeline(seed: int) -> Scene:
    """Frames of a video pile up on the GPU: 620 MiB a minute, at 40 % utilization, until 24 GB are full."""
    memory = growing(level(2600), mib_per_min=620, from_s=120, chunk_mib=12)
    actor = program("video", "python decode_pipeline.py", 0, mix((0.4, FP32), (0.6, IDLE)), memory, age_s=200)
    return Scene(
        world=World([RTX_4090], [actor], seed=seed),
        until_s=1900,
        wants=[want("leak filling", "video", 120, 1200)],
        allows=_LATER,
    )


def leak_in_a_worker_of_a_pool(seed: int) -> Scene:
    """Four workers share a board. One of them leaks 50 MiB a minute, while the others come and go in use."""
    memory = lambda n: (
        growing(level(2400), mib_per_min=50, from_s=0)
        if n == 2
        else sawtooth(level(2200), mib=420, period_s=37 + 11 * n)
    )
    work = lambda n: sometimes(IDLE.but(cpu=4), each_s=9, part=PREFILL.but(share=0.3, util=40), for_s=4, seed=n)
    actors = [
        program(f"worker{n}", "python -m gunicorn app:api -b :8000", 0, work(n), memory(n), age_s=8000)  # type: ignore[no-untyped-call]
        for n in range(4)
    ]
    return Scene(
        world=World([L40S], actors, seed=seed, interval_s=2),
        until_s=2800,
        wants=[want("leak", "worker2", 0, 2400)],
        allows=_LATER,
    )


def leak_then_steady_samples_gone(seed: int) -> Scene:
    """A recommender leaks 130 MiB a minute, up and down by the batch; a tenth of the samples is zero or lost."""
    memory = added(growing(level(11000), mib_per_min=130, from_s=0), sawtooth(level(0), mib=900, period_s=17))
    actor = program("train", "python train_dlrm.py", 0, FP32, memory, age_s=600)
    return Scene(
        world=World([V100.without("pcie")], [actor], seed=seed),
        until_s=1800,
        wants=[want("leak filling", "train", 0, 1600)],
        allows=_LATER,
        disturbances=[zero_memory(seed, 0.03), lost_memory(seed + 3, 0.07)],
    )
