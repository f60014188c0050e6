"""Programs whose GPU waits for one thread that launches very many small kernels."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import SMALL, Activity
from detector_benchmark.independent.actors import TMUX, Actor, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    GH200,
    H100,
    H200,
    L4,
    PRO_6000,
    RTX_3090,
    RTX_5090,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, faults, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import alone, jammed, mib_of, notebook, scene, team, well_fed
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone

_SHOWN_S, _END_S = 700, 840


def _crumbs(draw: Draw, low: float, high: float, heavy: float = 1.0) -> Activity:
    """Return kernels of microseconds, at the pace of a thread that is full. ``heavy``: of their power."""
    util = draw.between(low, high)
    return SMALL.but(
        util=util,
        mc=heavy * draw.between(1, 7),
        share=heavy * util / 100 * draw.between(0.1, 0.2),
        sm=util * draw.between(0.15, 0.3),
        occupancy=draw.between(2, 9),
        tensor=heavy * draw.between(0, 2),
        dram=heavy * draw.between(1, 6),
        rx=draw.about(8, 1.8),
        tx=draw.about(3, 1.8),
        cpu=draw.between(98, 106),
        thread=draw.between(97, 100),
        noise=draw.between(0.02, 0.07),
    )


def _launches(
    seed: int,
    name: str,
    board: Board,
    command: str,
    *,
    low: float = 40,
    high: float = 80,
    heavy: float = 1.0,
    workers: int = 0,
    beside: Sequence[Actor] = (),
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    turn: Callable[[Draw, Activity], Part] = lambda draw, work: drifting(draw, work, depth=0.03),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part = turn(draw, _crumbs(draw, low, high, heavy))
    children = loaders(Actor(name="job", command=command), workers, well_fed(draw, 3, 14))
    wants = want("launch", "job gpu:0", 0, _SHOWN_S)
    given: Any = {
        "actors": [*beside, *children],
        "allows": "tiny~",
        "disturb": disturb(draw),
        "command": command,
    } | more
    return alone(seed, board, part, mib_of(board, draw.between(0.04, 0.4)), _END_S, wants, **given)


def operations_of_a_dynamic_graph(seed: int) -> Scene:
    """A net over molecules on an H100 builds a new small graph for each sample and runs it operation by operation."""
    return _launches(seed, "k5launch1", H100, "python train_mpnn.py", workers=2)


def token_by_token_without_a_graph(seed: int) -> Scene:
    """A model of a hundred million weights on an H200 generates in eager mode for one user, token by token."""
    return _launches(seed, "k5launch2", H200, "python generate.py --eager", low=50, high=75, heavy=1.4)


def steps_of_a_recurrent_world_model(seed: int) -> Scene:
    """A world model on an RTX 5090 unrolls fifty steps of a small cell in Python for each batch."""
    return _launches(seed, "k5launch3", RTX_5090, "python dreamer.py", beside=desktop())


def time_steps_of_a_small_grid(seed: int) -> Scene:
    """A solver in CuPy on a V100 steps a grid of 128 by 128 with thirty little kernels a step."""
    return _launches(seed, "k5launch4", V100, "python heat2d.py", variables=TMUX)


def update_of_each_tensor_alone(seed: int) -> Scene:
    """An optimiser on an A6000 updates each of four thousand tensors by its own kernels; it is most of each step."""
    return _launches(seed, "k5launch5", A6000, "python train_hypernet.py", workers=4, heavy=1.3)


def array_functions_in_a_loop(seed: int) -> Scene:
    """A loop in MATLAB on an RTX PRO 6000 calls small functions on arrays of the board, a million times."""
    command = "/opt/matlab/bin/glnxa64/MATLAB -batch sweep"
    return _launches(seed, "k5launch6", PRO_6000, command, threads=140)


def four_ranks_of_a_small_policy(seed: int) -> Scene:
    """Four ranks on A100 train a small policy; each launch thread is full and each board half busy."""
    draw = Draw(seed, "k5launch7")
    work = _crumbs(draw, 45, 65)
    does = lambda rank: drifting(draw, work, depth=0.03)
    wants = want("launch", everyone(4), 0, _SHOWN_S)
    return team(seed, [A100] * 4, does, mib_of(A100, 0.1), _END_S, wants, allows="tiny~")


def eight_ranks_with_the_smallest_batch(seed: int) -> Scene:
    """Eight ranks on GH200 tune with one short sample at a time; the board is faster than its thread launches."""
    draw = Draw(seed, "k5launch8")
    work = _crumbs(draw, 55, 75, 1.2)
    does = lambda rank: drifting(draw, work, depth=0.03)
    wants = want("launch", everyone(8), 0, _SHOWN_S)
    more: Any = {"launcher": "srun", "interval_s": 2.0, "allows": "tiny~"}
    return team(seed, [GH200] * 8, does, mib_of(GH200, 0.3), 780, wants, **more)


def cell_with_a_thousand_little_fits(seed: int) -> Scene:
    """A cell of a notebook on a TITAN X fits a thousand little models, one after the other, with the thread full."""
    draw = Draw(seed, "k5launch9")
    actors = notebook("nb", 0, drifting(draw, _crumbs(draw, 45, 75), depth=0.03), mib_of(TITAN_X, 0.15))
    return scene(seed, [TITAN_X], actors, _END_S, want("launch", "nb gpu:0", 0, _SHOWN_S), allows="tiny~")


def small_kernels_with_logs_between(seed: int) -> Scene:
    """A graph net on an A10G runs small kernels, and writes a log for three seconds in each minute."""
    turn = lambda draw, work: cycle((57, work), (3, jammed(70, "R")))
    return _launches(seed, "k5launch10", A10G, "python gcn.py", turn=turn, low=55)


def small_kernels_behind_bad_readings(seed: int) -> Scene:
    """A sampler of chains on a 3090 launches small kernels; power is late, values fail, and samples are lost."""
    bad = lambda draw: [
        late_power(draw.seed(), 0.1),
        faults(draw.seed(), 0.03, "power_average_w", "gpu_utilization_percent"),
        bad_process_zeros(draw.seed(), 0.02),
        often_gaps(draw.seed(), each_s=90, from_s=3, to_s=9),
    ]
    return _launches(seed, "k5launch11", RTX_3090, "python nuts.py --chains 1", disturb=bad)


def small_kernels_in_a_coarse_recording(seed: int) -> Scene:
    """A search of a Slurm job on an L4 trains tiny nets one by one; there is a sample in five seconds."""
    more: Any = {"cgroup": slurm(55), "variables": {"SLURM_JOB_ID": "55"}, "interval_s": 5.0}
    return _launches(seed, "k5launch12", L4, "python nas.py", low=50, high=80, **more)


def small_kernels_without_readings_of_traffic(seed: int) -> Scene:
    """Eager steps on a V100 without PCIe readings; a policy with two environments is updated all the time."""
    return _launches(seed, "k5launch13", V100.without("pcie"), "python ddpg.py --envs 2", low=42, high=60)
