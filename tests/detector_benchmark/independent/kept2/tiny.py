"""Boards that are busy in time, and do next to nothing: kernels too small to fill them."""

from detector_benchmark.independent.activity import GRAPHS, HOST, LORA, Activity
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import A6000, B200, H100_PCIE, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Part, level, phases
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import with_pauses
from detector_benchmark.independent.world import World


def _busy(draw: Draw) -> Activity:
    """Return kernels that follow each other without a gap, each on a few multiprocessors."""
    sm = draw.between(1.5, 8)
    return GRAPHS.but(
        util=draw.between(97, 100),
        sm=sm,
        occupancy=sm / 2.5,
        share=draw.between(0.05, 0.1),
        mc=draw.between(0, 3),
        dram=draw.between(0.3, 2),
        noise=draw.between(0.015, 0.05),
    )


def _tiny(seed: int, name: str, board: Board, command: str, *, from_s: float = 0, before: Part = HOST) -> Scene:
    draw = Draw(seed, name)
    does = phases(before, (from_s, _busy(draw)))
    main = program("main", command, 0, does, level(draw.mib(board, 0.03, 0.3)), cgroup=docker("8"), terminal=0)
    return Scene(
        world=World([board], [main], seed=seed),
        until_s=from_s + 1300,
        wants=[want("tiny launch", "main gpu:0", from_s, from_s + 1100)],
    )


def batch_size_one_in_graphs_on_a_b200(seed: int) -> Scene:
    """A policy network is trained with batches of one in CUDA graphs: a B200 is at 99 %, at 250 of 1,000 W."""
    return _tiny(seed, "tiny5", B200, "python dqn_graphs.py")


def integrator_of_one_orbit(seed: int) -> Scene:
    """An integrator follows one orbit in a chain of dependent kernels on an old V100."""
    return _tiny(seed, "tiny6", V100, "./orbit --bodies 9")


def script_falls_back_to_a_reference_kernel(seed: int) -> Scene:
    """A fine-tuning falls back to a slow reference kernel after an update of its library: from full power to little."""
    draw = Draw(seed, "tiny7b")
    return _tiny(seed, "tiny7", H100_PCIE, "python lora.py", from_s=draw.between(300, 600), before=draw.work(LORA))


def tree_search_on_a_workstation(seed: int) -> Scene:
    """A tree search evaluates positions one by one in graphs on an RTX 4090 without counters, beside a desktop."""
    draw = Draw(seed, "tiny8")
    board = RTX_4090.without("pcie")
    main = program("main", "./search --graphs", 0, _busy(draw), level(1900))
    return Scene(
        world=World([board], [main, *desktop()], seed=seed),
        until_s=1300,
        wants=[want("tiny launch", "main gpu:0", 0, 1100)],
    )


def sampler_with_one_chain(seed: int) -> Scene:
    """A sampler runs one Markov chain on a T4 and writes it to disk for 3 s in each minute."""
    draw = Draw(seed, "tiny9")
    does = with_pauses(phases(_busy(draw)), HOST, every_s=60, for_s=3)
    main = program("main", "python mcmc.py --chains 1", 0, does, level(700))
    return Scene(world=World([T4], [main], seed=seed), until_s=1300, wants=[want("tiny launch", "main gpu:0", 0, 1100)])


def small_kernels_seen_with_gaps(seed: int) -> Scene:
    """Tiny kernels keep an A6000 busy in time; gputop loses some seconds in each minute."""
    scene = _tiny(seed, "tiny10", A6000, "python spiking.py")
    bad = often_gaps(Draw(seed, "tiny10").seed(), each_s=70, from_s=2, to_s=10)
    return Scene(world=scene.world, until_s=scene.until_s, wants=scene.wants, disturbances=[bad])
