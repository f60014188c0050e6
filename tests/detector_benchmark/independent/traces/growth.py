"""Memory that grows and is no leak: loading, warm-up, caches, records, long requests, neighbours."""

from detector_benchmark.independent.activity import (
    CNN,
    COPY,
    DECODE,
    DIFFUSION,
    DISK,
    FP32,
    IDLE,
    LORA,
    PREFILL,
    QUERY,
    TRICKLE,
)
from detector_benchmark.independent.boards import A100, A6000, H100, H200, L40S, RTX_4090, T4, V100
from detector_benchmark.independent.roles import program, with_loaders
from detector_benchmark.independent.scripts import (
    cycle,
    growing,
    level,
    phases,
    records,
    sawtooth,
    sometimes,
    started,
    steps,
    warmed,
)
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.world import World


def weights_from_a_slow_disk(seed: int) -> Scene:
    """A server loads 130 GiB of weights over ten minutes from a slow disk onto a board of 141 GB; then it serves."""
    memory = growing(level(540), mib_per_min=12300, from_s=20, until_s=660, chunk_mib=100)
    does = phases(DISK.but(cpu=35), (20, cycle((2, COPY.but(rx=900)), (3, DISK))), (660, DECODE))
    actor = program("server", "vllm serve /models/big --port 8000", 0, does, memory, age_s=0)
    return Scene(world=World([H200], [actor], seed=seed), until_s=1500, allows=allow("leak~"))


def allocator_that_doubles_and_stops(seed: int) -> Scene:
    """An allocator doubles its regions in the first minutes: 2, 4, 8, 16 GiB; that is enough for the whole training."""
    memory = steps((0, 900), (30, 2048), (70, 4096), (140, 8192), (260, 16384))
    actor = program("train", "python tf_train.py", 0, started(FP32, 20), memory, age_s=0)
    return Scene(world=World([RTX_4090], [actor], seed=seed), until_s=2000, allows=allow("filling~"))


def neighbour_that_swings(seed: int) -> Scene:
    """Two programs share a board: a flat training, and a batch job whose needs swing by 9 GiB every four minutes."""
    actors = [
        program("train", "python train.py", 0, CNN.but(nv=0, util=50, share=0.3), level(21000), age_s=5000),
        program(
            "batch",
            "python embed_batches.py",
            0,
            cycle((150, QUERY), (90, IDLE)),
            sawtooth(level(3000), mib=9200, period_s=240),
            user="bob",
        ),
    ]
    return Scene(world=World([A6000], actors, seed=seed), until_s=2000)


def records_of_batch_lengths(seed: int) -> Scene:
    """The longest batch so far sets the memory: rare jumps, seldom after the first half hour."""
    memory = records(warmed(500, 17000, at_s=20), mib=3100, each_s=0.7, seed=seed + 11)
    actors = with_loaders([program("train", "python train_mt.py", 0, started(LORA, 30), memory, age_s=0)], 4)
    return Scene(world=World([A100], actors, seed=seed, interval_s=2), until_s=3600, allows=allow("leak~"))


def epochs_as_a_sawtooth(seed: int) -> Scene:
    """Each epoch of five minutes fills a replay buffer of 9 GiB and empties it."""
    actor = program(
        "rl",
        "python ppo.py --envs 512",
        0,
        cycle((60, FP32), (6, IDLE.but(cpu=300, thread=99, state="R"))),
        sawtooth(level(4200), mib=9000, period_s=300),
        age_s=1000,
    )
    return Scene(world=World([V100], [actor], seed=seed), until_s=2400, allows=allow("spin~ input"))


def cache_with_a_limit(seed: int) -> Scene:
    """A feature store fills its cache on the GPU at 150 MiB a minute up to its limit of 6 GiB, and stays there."""
    memory = growing(level(3000), mib_per_min=150, from_s=0, until_s=2400)
    actor = program("store", "python feature_store.py --listen 0.0.0.0:7000", 0, QUERY, memory, age_s=0)
    return Scene(world=World([L40S], [actor], seed=seed, interval_s=3), until_s=5400, allows=allow("leak filling~"))


def server_that_takes_all_at_once(seed: int) -> Scene:
    """A server takes 90 % of the board for its cache at the start, and then stays at that level for ever."""
    memory = steps((0, 480), (12, 15800), (55, 74100), (70, 74140))
    does = phases(
        DISK, (12, COPY), (40, PREFILL), (70, sometimes(IDLE.but(cpu=9), each_s=20, part=DECODE, for_s=12, seed=2))
    )
    actor = program("server", "python3 -m vllm.entrypoints.openai.api_server --port 8000", 0, does, memory, age_s=0)
    return Scene(world=World([H100], [actor], seed=seed), until_s=1500, allows=allow("filling~"))


def warm_up_of_kernels(seed: int) -> Scene:
    """Each new shape of image loads a kernel: some MiB each, many at first and few after twenty minutes."""
    memory = lambda t_s: (2600 + 700 * (1 - 2 ** (-t_s / 300))) // 2 * 2
    actor = program(
        "api", "uvicorn detector:app --host 0.0.0.0 --port 8080", 0, TRICKLE.but(util=30, share=0.15), memory, age_s=0
    )
    return Scene(world=World([T4], [actor], seed=seed, interval_s=2), until_s=3600, allows=allow("leak~ filling~"))


def second_program_that_loads_beside(seed: int) -> Scene:
    """Beside a server that is flat, another user starts a program that loads 12 GiB in five minutes."""
    other = growing(level(500), mib_per_min=2400, from_s=620, until_s=920, chunk_mib=32)
    does = phases(DISK, (620, cycle((2, COPY.but(rx=700)), (2, DISK))), (920, DIFFUSION))
    actors = [
        program(
            "server", "vllm serve m --port 8000 --gpu-memory-utilization 0.5", 0, TRICKLE, level(24100), age_s=9000
        ),
        program("other", "python sdxl.py", 0, does, other, from_s=600, user="bob"),
    ]
    return Scene(world=World([L40S], actors, seed=seed), until_s=1700, allows=allow("leak~"))
