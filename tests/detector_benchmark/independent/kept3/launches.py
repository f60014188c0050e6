"""Programs whose GPU waits for the CPU to launch the next small kernel."""

from typing import Any

from detector_benchmark.independent.activity import SMALL, Activity
from detector_benchmark.independent.actors import docker, slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_PCIE,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import cycle
from detector_benchmark.independent.sketches import mib_of, notebook, scene
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone


def _small(draw: Draw, low: float, high: float) -> Activity:
    """Return little kernels that fill this part of the time; one thread of the CPU is the limit."""
    util = draw.between(low, high)
    share = util / 100 * draw.between(0.14, 0.3)
    return SMALL.but(
        util=util,
        share=share,
        mc=draw.between(2, 9),
        sm=util * 0.28,
        dram=draw.between(2, 7),
        cpu=draw.between(98, 104),
    )


def _bound(
    seed: int,
    name: str,
    board: Board,
    command: str,
    *,
    low: float = 45,
    high: float = 75,
    disturb: Any = (),
    beside: Any = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    actor = program("job", command, 0, _small(draw, low, high), mib_of(board, draw.between(0.05, 0.4)), **more)
    wants = want("launch", "job gpu:0", 0, 700)
    return scene(seed, [board], [*beside, actor], 900, wants, disturb=disturb)


def recurrent_net_in_eager_mode(seed: int) -> Scene:
    """An LSTM written as a Python loop on an H100: half busy, at an eighth of its power."""
    return _bound(seed, "k3launch1", H100, "python train_lstm.py")


def graph_net_with_tiny_batches(seed: int) -> Scene:
    """A graph network with batches of one molecule on an A100: 10,000 kernels of microseconds a second."""
    return _bound(seed, "k3launch2", A100, "python train_gnn.py --batch 1", low=40, high=60)


def many_small_kernels_on_a_desktop(seed: int) -> Scene:
    """Physics-informed nets of 50 neurons on an RTX 4090, with a desktop beside."""
    return _bound(seed, "k3launch3", RTX_4090, "python pinn.py", beside=desktop())


def neuro_evolution_one_by_one(seed: int) -> Scene:
    """Small nets are evaluated one after the other on a T4 that has no profiling: 60 to 85 %, little power."""
    return _bound(seed, "k3launch4", T4, "python evolve.py", low=60, high=85)


def eight_ranks_of_a_tiny_model(seed: int) -> Scene:
    """A tiny model is trained on eight V100 without fusion: all launch threads at 100 %."""
    draw = Draw(seed, "k3launch5")
    work = _small(draw, 50, 70)
    actors = ranks(range(8), lambda rank: work, mib_of(V100, 0.2))
    return scene(seed, [V100] * 8, actors, 900, want("launch", everyone(8), 0, 700))


def optimiser_without_fusion(seed: int) -> Scene:
    """A model of thousands of small tensors, with an optimiser that updates them one by one, on an L40S."""
    return _bound(seed, "k3launch6", L40S, "python train_vit_tiny.py", cgroup=docker("3"), variables={}, terminal=0)


def notebook_with_a_python_loop_of_kernels(seed: int) -> Scene:
    """A cell of a notebook loops over time steps in Python and launches five kernels in each, on an A6000."""
    draw = Draw(seed, "k3launch7")
    actors = notebook("nb", 0, _small(draw, 45, 70), mib_of(A6000, 0.1))
    return scene(seed, [A6000], actors, 900, want("launch", "nb gpu:0", 0, 700))


def agent_of_small_kernels_seen_badly(seed: int) -> Scene:
    """An RL agent steps one environment at a time on an H200; gputop has gaps, the process says 0 % at times."""
    draw = Draw(seed, "k3launch8+")
    disturb = [often_gaps(draw.seed(), each_s=70, from_s=2, to_s=6), bad_process_zeros(draw.seed(), 0.01)]
    return _bound(seed, "k3launch8", H200, "python sac.py --env ant", disturb=disturb)


def board_without_power_readings(seed: int) -> Scene:
    """A tiny transformer in eager mode on an RTX 3090 without PCIe readings: 60 %, memory controller nearly idle."""
    return _bound(seed, "k3launch9", RTX_3090.without("pcie"), "python nano.py --layers 2", low=50, high=70)


def job_of_slurm_with_a_slow_core(seed: int) -> Scene:
    """A Slurm job with a core at 2 GHz launches the kernels of a small U-Net: an H100 PCIe at 50 %."""
    more: dict[str, Any] = {"cgroup": slurm(5120), "variables": {"SLURM_JOB_ID": "5120"}, "terminal": 0}
    return _bound(seed, "k3launch10", H100_PCIE, "python train_unet.py", low=42, high=62, **more)


def largest_board_for_the_smallest_model(seed: int) -> Scene:
    """A B200 trains a model of a million parameters, and validates it with the same small kernels each minute."""
    draw = Draw(seed, "k3launch11")
    work = _small(draw, 50, 65)
    does = cycle((55, work), (5, work.but(util=work.util * 0.8, share=work.share * 0.7)))
    actor = program("job", "python train_mlp.py", 0, does, mib_of(B200, 0.03))
    return scene(seed, [B200], [actor], 900, want("launch", "job gpu:0", 0, 700))
