"""Memory that grows and is no leak: loading, warm-up, caches, records, long requests, neighbours."""

from math import log

from detector_benchmark.independent.activity import (
    CNN,
    COPY,
    DECODE,
    DISK,
    FP32,
    IDLE,
    LLM,
    RENDER,
    TRICKLE,
)
from detector_benchmark.independent.boards import A100, B200, H100, L4, L40S, RTX_3090, RTX_4090
from detector_benchmark.independent.disturbances import zero_memory
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import (
    added,
    cycle,
    growing,
    level,
    phases,
    sometimes,
    started,
    steps,
    warmed,
)
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.world import World


def a_jump_and_then_a_little_more(seed: int) -> Scene:
    """After a jump to 34.7 GiB the memory rises by 56 MiB in two minutes, as the first requests warm it up."""
    memory = added(steps((0, 540), (15, 35540)), growing(level(0), mib_per_min=28, from_s=60, until_s=200))
    actor = program("server", "python serve.py --http-port 8001", 0, phases(COPY, (20, TRICKLE)), memory, age_s=0)
    return Scene(world=World([H100], [actor], seed=seed), until_s=1500)


def one_long_request(seed: int) -> Scene:
    """A request with a long context needs 600 MiB more each minute for six minutes, then all is given back."""
    memory = lambda t_s: 17000 + (max(0.0, t_s - 300) * 10 if t_s < 660 else 0)
    does = phases(DECODE.but(util=40, share=0.2), (300, DECODE), (660, DECODE.but(util=40, share=0.2)))
    actor = program("server", "llama-server -m /models/q8.gguf --port 8080", 0, does, memory, age_s=8000)
    return Scene(world=World([RTX_3090], [actor, *desktop()], seed=seed), until_s=1600, allows=allow("filling~ leak~"))


def fragmentation_that_slows_down(seed: int) -> Scene:
    """Inputs of varying length fragment the cache: the memory grows with the logarithm of the time, and less and less."""
    memory = lambda t_s: (9500 + 1900 * log(1 + t_s / 45)) // 20 * 20
    actor = program("train", "python train_asr.py --bucket 0", 0, FP32, memory, age_s=0)
    return Scene(world=World([L40S], [actor], seed=seed, interval_s=2), until_s=5400, allows=allow("leak~ filling~"))


def data_set_that_moves_to_the_gpu(seed: int) -> Scene:
    """In its first epoch of 14 min a training moves its data set to the GPU, 1.2 GiB a minute; then it stays flat."""
    memory = growing(warmed(480, 5000, at_s=12), mib_per_min=1230, from_s=40, until_s=880, chunk_mib=16)
    actor = program("train", "python train_mlp.py --cache-on-gpu", 0, started(FP32.but(rx=900), 20), memory, age_s=0)
    return Scene(world=World([A100], [actor], seed=seed), until_s=2400, allows=allow("leak~ filling~"))


def notebook_that_tries_models(seed: int) -> Scene:
    """A person in a notebook loads a model every few minutes and deletes some: up by 4 GiB, down by 6, up by 5."""
    memory = steps((0, 600), (120, 4700), (400, 9100), (700, 3200), (900, 8300), (1300, 12400), (1700, 5100))
    does = sometimes(IDLE, each_s=90, part=FP32.but(share=0.5), for_s=20, seed=seed)
    actor = program("kernel", "python -m ipykernel_launcher -f /home/ann/kernel-1.json", 0, does, memory, age_s=0)
    return Scene(world=World([RTX_3090], [actor], seed=seed), until_s=2100, allows=allow("filling~"))


def scenes_of_a_film(seed: int) -> Scene:
    """A renderer loads each scene for two minutes, 3 GiB to 9 GiB, renders for six minutes, and gives all back."""
    memory = lambda t_s: 900 + min(120.0, t_s % 480) / 120 * (3000 + 2000 * (int(t_s // 480) % 4))
    does = cycle((120, COPY.but(rx=600)), (360, RENDER))
    actor = program("render", "blender -b film.blend -a", 0, does, memory, age_s=3000)
    return Scene(world=World([RTX_4090], [actor, *desktop()], seed=seed), until_s=2400, allows=allow("filling~"))


def sharded_load_of_eight_ranks(seed: int) -> Scene:
    """Eight ranks load the shards of a checkpoint one after the other, for eight minutes, and then train."""
    memory = lambda rank: growing(
        level(900), mib_per_min=14000, from_s=20 + 58 * rank, until_s=75 + 58 * rank, chunk_mib=64
    )
    does = lambda rank: phases(DISK, (20 + 58 * rank, COPY), (75 + 58 * rank, IDLE.but(cpu=3)), (500, LLM))
    actors = ranks(range(8), does, memory_of=memory, age_s=0)
    return Scene(world=World([B200] * 8, actors, seed=seed), until_s=1100, allows=allow("hang~"))


def flat_memory_with_zero_samples(seed: int) -> Scene:
    """A training is flat; single samples of its memory are zero. Nothing grows."""
    actor = program("train", "python train.py", 0, CNN.but(nv=0), level(15200), age_s=100)
    return Scene(world=World([L4], [actor], seed=seed), until_s=1500, disturbances=[zero_memory(seed, 0.01)])


def checkpoint_needs_memory_for_a_minute(seed: int) -> Scene:
    """Every ten minutes the state is gathered on rank 0 for a checkpoint: 18 GiB more for a minute."""
    memory = lambda rank: (
        lambda t_s: 47000 + (18000 * min(1.0, (t_s % 600) / 60) if rank == 0 and t_s % 600 < 75 else 0)
    )
    actors = ranks(range(4), lambda rank: LLM, memory_of=memory, age_s=9000)
    return Scene(world=World([H100] * 4, actors, seed=seed), until_s=1900)
