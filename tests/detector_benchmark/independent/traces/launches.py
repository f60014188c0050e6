"""Programs whose CPU launches kernels too slowly, and those whose means only look like it."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, DISK, IDLE, LLM, SMALL
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_3090
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World


def small_model_in_eager_mode(seed: int) -> Scene:
    """A small model in eager mode: one thread at 100 %, the GPU at 47 % and a seventh of its power."""
    actors = with_loaders([program("train", "python train_gru.py", 0, SMALL, level(2900))], 2, IDLE.but(cpu=5))
    return Scene(
        world=World([H100], actors, seed=seed),
        until_s=900,
        wants=[want("launch", "train", 0, 600)],
        allows=allow("tiny~"),
    )


def waits_between_steps_of_large_kernels(seed: int) -> Scene:
    """Each step: 10 s of large kernels, then 20 s in which the ranks wait for rank 0 to write a file."""
    does = lambda rank: cycle((10, LLM), (20, COLLECTIVE if rank else DISK))
    actors = ranks(range(4), does, level(40000))
    return Scene(world=World([H100] * 4, actors, seed=seed), until_s=1000, allows=allow("hang~ tiny~"))


def decoder_without_graphs(seed: int) -> Scene:
    """A text model decodes one token at a time without graphs: one thread at 100 %, GPU at 38 %, little power."""
    job = program(
        "gen", "python generate.py --all-prompts", 0, SMALL.but(util=38, mc=14, dram=13, share=0.15), level(15200)
    )
    return Scene(
        world=World([A100], [job], seed=seed), until_s=900, wants=[want("launch", "gen", 0, 600)], allows=allow("tiny~")
    )


def half_of_the_time_for_an_evaluation(seed: int) -> Scene:
    """A training whose rank 0 evaluates for 90 s every three minutes; the other rank waits at 100 %, low power."""
    does = lambda rank: cycle((90, CNN), (90, COLLECTIVE if rank else CNN.but(share=0.4)))
    actors = with_loaders(ranks([0, 1], does, level(12000)), 4)
    return Scene(world=World([L40S] * 2, actors, seed=seed), until_s=1200, allows=allow("hang~ tiny~"))


def eight_ranks_of_a_small_model(seed: int) -> Scene:
    """Eight ranks train a model that is too small for them: each CPU thread is full, each GPU at 45 % and 190 W."""
    actors = with_loaders(ranks(range(8), lambda rank: SMALL.but(nv=300, util=45), level(4100)), 1, IDLE.but(cpu=9))
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=800,
        wants=[want("launch", " ".join(f"rank{n}" for n in range(8)), 0, 650)],
        allows=allow("tiny~"),
    )


def requests_in_waves(seed: int) -> Scene:
    """A server works in waves: some seconds at power, some at nothing; on average 40 % and a quarter of the power."""
    does = cycle((4, DECODE.but(share=0.6)), (6, IDLE.but(cpu=100, thread=99, state="R")))
    job = program("server", "python -m sglang.launch_server --port 30000", 0, does, level(20000), terminal=0)
    return Scene(world=World([RTX_3090], [job], seed=seed), until_s=1000, allows=())
