"""Programs whose CPU launches kernels too slowly, and those whose means only look like it."""

from detector_benchmark.independent.activity import DECODE, QUERY, SMALL, TRICKLE
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import A100, A100_40, H100, PCIE, RTX_4090, T4
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World


def reinforcement_learning_with_little_nets(seed: int) -> Scene:
    """A learner of little networks: thousands of launches a second, one core full, GPU at 60 %, 90 W of 450 W."""
    job = program("rl", "python sac.py --env Walker", 0, SMALL.but(util=62, share=0.1, noise=0.08), level(1500))
    return Scene(
        world=World([RTX_4090], [job], seed=seed),
        until_s=900,
        wants=[want("launch", "rl", 0, 600)],
        allows=allow("tiny~"),
    )


def server_with_small_requests(seed: int) -> Scene:
    """A server has small requests: the GPU at 6 %, the CPU at 14 %. Nothing holds it back."""
    job = program(
        "server",
        "python -m vllm.entrypoints.api_server --port 8000",
        0,
        TRICKLE,
        level(35600),
        terminal=0,
        cgroup=service("llm"),
    )
    return Scene(world=World([H100], [job], seed=seed), until_s=900)


def graph_network_on_small_graphs(seed: int) -> Scene:
    """A graph network on small graphs: no GPM, no PCIe counters, one core full, GPU at 51 %, 62 W of 250 W."""
    job = program("gnn", "python train_gnn.py", 0, SMALL.but(util=51), level(1900))
    return Scene(
        world=World([A100_40.without(PCIE)], [job], seed=seed),
        until_s=900,
        wants=[want("launch", "gnn", 0, 600)],
        allows=allow("tiny~"),
    )


def large_model_that_decodes(seed: int) -> Scene:
    """A large model decodes: bound by memory at 95 %, one thread of the server at 100 % beside it."""
    job = program("server", "vllm serve /m --port 8000", 0, DECODE, level(71000), terminal=0)
    return Scene(world=World([A100], [job], seed=seed), until_s=900)


def symbolic_regression_of_little_batches(seed: int) -> Scene:
    """Tiny batches on a T4: the interpreter is full at 100 %, the GPU at 55 %, 36 W of 70 W, the memory idle."""
    job = program("fit", "python fit_pinn.py", 0, SMALL.but(util=55, share=0.17), level(700))
    return Scene(
        world=World([T4], [job], seed=seed), until_s=900, wants=[want("launch", "fit", 0, 600)], allows=allow("tiny~")
    )


def analytics_with_copies(seed: int) -> Scene:
    """A query engine copies tables over PCIe and aggregates them: the GPU at 60 %, two threads busy."""
    job = program("sql", "python -m dask_cudf_job", 0, QUERY, level(31000))
    return Scene(world=World([A100_40], [job], seed=seed), until_s=900)
