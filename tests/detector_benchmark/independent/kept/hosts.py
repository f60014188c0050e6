"""Programs that keep a CPU busy instead of their GPU, for a bad reason or a good one."""

from detector_benchmark.independent.activity import CNN, FP32, HOST, LORA, MANY, MOLECULES
from detector_benchmark.independent.boards import A100_40, RTX_4090, T4
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_ALSO = allow("idle~ stalled")


def post_processing_on_one_core(seed: int) -> Scene:
    """A detector merges boxes on one core for ever, with 10 GiB held: 1 % of the GPU, after five minutes of work."""
    job = program(
        "detect",
        "python infer_all.py --nms python",
        0,
        phases(CNN.but(nv=0), (300, HOST.but(util=1, cpu=99))),
        level(10300),
        terminal=0,
    )
    return Scene(
        world=World([A100_40], [job], seed=seed),
        until_s=1900,
        wants=[want("spin input", "detect", 300, 1500)],
        allows=_ALSO + allow("input spin launch~"),
    )


def tree_search_between_steps(seed: int) -> Scene:
    """Self-play: 40 s of search on many cores, then 50 s of training on the GPU, again and again."""
    job = program("zero", "python alphazero.py", 0, cycle((50, FP32), (40, MANY)), level(5100))
    return Scene(world=World([RTX_4090], [job], seed=seed), until_s=1500, allows=allow("input"))


def rank_in_an_endless_loop_of_its_sampler(seed: int) -> Scene:
    """In a job without collectives yet, rank 1 loops in its sampler for ever, and rank 0 as well."""
    actors = ranks([0, 1], lambda rank: phases(LORA, (420, HOST)), level(23000), terminal=0)
    return Scene(
        world=World([RTX_4090] * 2, actors, seed=seed),
        until_s=1800,
        wants=[want("spin stalled", "rank0 rank1", 420, 1620)],
        allows=allow("idle~ stalled spin input~"),
    )


def start_of_a_simulation(seed: int) -> Scene:
    """A simulation builds its mesh on one core for seven minutes, and then runs on the GPU for hours."""
    job = program("fem", "./fem_gpu plate.inp", 0, phases(HOST, (420, MOLECULES)), level(2100), age_s=0)
    return Scene(world=World([T4], [job], seed=seed), until_s=1000, allows=allow("spin~"))
