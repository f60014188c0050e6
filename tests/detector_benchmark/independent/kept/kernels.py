"""Kernels that never end, and kernels that run long for a good reason."""

from detector_benchmark.independent.activity import DECODE, FP32, FP64, GRAPHS, IDLE, RENDER, SPIN, mix
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_3090, RTX_4090
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_SEEN = allow("tiny~")


def graphs_of_tiny_kernels_after_a_large_phase(seed: int) -> Scene:
    """A simulation equilibrates with large kernels for six minutes, then goes on with graphs of tiny kernels."""
    does = phases(FP64, (360, GRAPHS))
    job = program("md", "./md_graphs --relax 360", 0, does, level(2400))
    return Scene(world=World([A100], [job], seed=seed), until_s=1700, allows=_SEEN + allow("kernel~ launch~"))


def search_with_few_threads(seed: int) -> Scene:
    """A tree search runs one long kernel of few threads after another for an hour: 100 %, little power, and useful."""
    does = mix((0.96, GRAPHS.but(mc=4, dram=3)), (0.04, IDLE.but(cpu=100, state="R")))
    job = program("search", "./sat_gpu instance.cnf", 0, does, level(900))
    return Scene(world=World([RTX_3090], [job], seed=seed), until_s=1800, allows=_SEEN + allow("kernel~ launch~"))


def serving_engine_that_polls_at_night(seed: int) -> Scene:
    """A speech server, started as a module with --http-port, polls with a kernel while nobody speaks to it."""
    does = phases(DECODE.but(util=55, share=0.3), (500, SPIN.but(cpu=12, state="S")))
    job = program("speech", "python -m speechd --http-port 8088", 0, does, level(8100), terminal=0)
    return Scene(world=World([L40S], [job], seed=seed), until_s=1800, allows=_SEEN + allow("kernel~"))


def loop_in_a_physics_engine(seed: int) -> Scene:
    """A contact solver does not converge: a kernel runs for ever at 96 W of 400 W, after ten minutes of work."""
    job = program("phys", "./engine scene.usd", 0, phases(FP64, (600, SPIN)), level(17300), terminal=0)
    return Scene(
        world=World([A100], [job], seed=seed), until_s=1700, wants=[want("kernel", "phys", 600, 1500)], allows=_SEEN
    )


def hung_kernel_of_a_render(seed: int) -> Scene:
    """A shader loops in a batch render of a workstation that also draws a desktop."""
    job = program(
        "render",
        "python render_batch.py",
        0,
        phases(RENDER, (420, SPIN.but(cpu=3, state="S"))),
        level(8800),
        terminal=0,
    )
    return Scene(
        world=World([RTX_4090], [job, *desktop()], seed=seed),
        until_s=1500,
        wants=[want("kernel", "render", 420, 1380)],
        allows=_SEEN,
    )


def kernel_that_started_hung(seed: int) -> Scene:
    """A first kernel of a new program never ends; gputop sees it from its start on. It never did any work."""
    job = program("new", "./a.out", 0, phases(IDLE.but(cpu=90, state="R"), (30, SPIN)), level(700), age_s=0)
    return Scene(
        world=World([H100], [job], seed=seed), until_s=2000, wants=[want("kernel tiny", "new", 30, 1860)], allows=_SEEN
    )


def hung_kernel_on_a_board_with_gaps(seed: int) -> Scene:
    """A kernel of a training never ends. Once a minute gputop takes no sample for some seconds."""
    job = program("train", "python -u train_rnn.py", 0, phases(FP32, (350, SPIN)), level(9300), terminal=0)
    return Scene(
        world=World([L40S], [job], seed=seed),
        until_s=1400,
        wants=[want("kernel", "train", 350, 1300)],
        allows=_SEEN,
        disturbances=[often_gaps(seed, each_s=60, from_s=5, to_s=11)],
    )
