"""Programs whose GPU waits for one thread of the CPU to launch the next small kernel."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import SMALL, Activity
from detector_benchmark.independent.actors import TMUX, slurm
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    B200,
    H100,
    H200,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import Disturbance, faults, late_power, no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, notebook, scene, well_fed
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone


def _little(draw: Draw, low: float, high: float) -> Activity:
    """Return kernels of microseconds: a board busy in time for some part, at little power, and a full thread."""
    util = draw.between(low, high)
    return SMALL.but(
        util=util,
        mc=draw.between(1, 8),
        share=draw.between(0.05, 0.16),
        sm=draw.between(0.16, 0.35) * util,
        occupancy=draw.between(3, 9),
        tensor=draw.between(0, 3),
        dram=draw.between(1, 7),
        rx=draw.about(7, 1.8),
        cpu=draw.between(98, 105),
        noise=draw.between(0.03, 0.08),
    )


def _slow(
    seed: int,
    name: str,
    board: Board,
    command: str,
    *,
    low: float = 48,
    high: float = 78,
    workers: int = 0,
    disturb: Callable[[Draw], Sequence[Disturbance]] = lambda draw: (),
    interval_s: float = 1.0,
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    actor = program("job", command, 0, _drifts(draw, low, high), mib_of(board, draw.between(0.04, 0.4)), **more)
    actors = [actor, *loaders(actor, workers, well_fed(draw, 4, 14))]
    wants = want("launch", "job gpu:0", 0, 700)
    return scene(seed, [board], actors, 840, wants, allows="tiny~", disturb=disturb(draw), interval_s=interval_s)


def _drifts(draw: Draw, low: float, high: float) -> Part:
    work, wave = _little(draw, low, high), drifting(draw, Activity(util=100.0), depth=0.05)
    return lambda t_s: work.but(util=work.util * wave(t_s).util / 100)


def sequence_model_stepped_in_python(seed: int) -> Scene:
    """A recurrent model on an H100 is stepped token by token in Python."""
    return _slow(seed, "k4launch1", H100, "python train_rnn.py")


def tree_of_small_operations(seed: int) -> Scene:
    """A net over parse trees on an A100 runs one small operation per node."""
    return _slow(seed, "k4launch2", A100, "python treelstm.py", workers=2)


def agent_with_one_environment(seed: int) -> Scene:
    """A policy of two layers on an RTX 4090 is updated after each step of one environment."""
    return _slow(seed, "k4launch3", RTX_4090, "python ppo.py --envs 1", low=45, high=65)


def physics_of_few_bodies(seed: int) -> Scene:
    """A solver of few bodies on a T4 launches twenty kernels for each of a million steps, in tmux."""
    return _slow(seed, "k4launch4", T4, "python bodies.py", variables=TMUX)


def four_ranks_of_a_small_net(seed: int) -> Scene:
    """Four ranks train a small net on V100: each launch thread is full, each board half busy."""
    draw = Draw(seed, "k4launch5")
    actors = ranks(range(4), lambda rank: _drifts(draw, 50, 70), mib_of(V100, 0.15), launcher="mpirun")
    return scene(seed, [V100] * 4, actors, 840, want("launch", everyone(4), 0, 700), allows="tiny~")


def optimiser_loop_over_parameters(seed: int) -> Scene:
    """A hand-written optimiser on an L40S loops over three thousand parameters, one by one."""
    return _slow(seed, "k4launch6", L40S, "python train_adapters.py", workers=4)


def cell_that_calls_tiny_kernels(seed: int) -> Scene:
    """A cell of a notebook on a 3090 without power readings calls tiny kernels in a loop."""
    draw = Draw(seed, "k4launch7")
    actors = notebook("nb", 0, _drifts(draw, 50, 75), mib_of(RTX_3090, 0.1))
    wants = want("launch", "nb gpu:0", 0, 700)
    return scene(seed, [RTX_3090.without("power")], actors, 840, wants, allows="tiny~")


def small_kernels_seen_badly(seed: int) -> Scene:
    """Small kernels of a Slurm job on an H200; samples and shares of processes are missing now and then."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=60, from_s=2, to_s=7), no_process_values(draw.seed(), 0.04)]
    more: Any = {"cgroup": slurm(810), "variables": {"SLURM_JOB_ID": "810"}, "terminal": 0}
    return _slow(seed, "k4launch8", H200, "python finetune_tiny.py", disturb=bad, **more)


def largest_board_with_the_smallest_batch(seed: int) -> Scene:
    """A model for one user is trained with a batch of one on a B200; power is late or absent in some samples."""
    bad = lambda draw: [late_power(draw.seed(), 0.1), faults(draw.seed(), 0.03, "power_average_w")]
    return _slow(seed, "k4launch9", B200, "python personalise.py --batch 1", disturb=bad)


def decoding_without_graphs(seed: int) -> Scene:
    """A small language model on an A100 of 40 GB decodes offline in eager mode, kernel by kernel."""
    return _slow(seed, "k4launch10", A100_40, "python decode_eager.py", low=55, high=80)


def small_kernels_with_a_short_validation(seed: int) -> Scene:
    """A graph net on an L4 is trained with small kernels, and validated with smaller ones once in two minutes."""
    draw = Draw(seed, "k4launch11")
    work = _little(draw, 55, 75)
    does = cycle((112, work), (8, work.but(util=work.util * 0.7, share=work.share * 0.6)))
    actor = program("job", "python gnn.py", 0, does, mib_of(L4, 0.2), terminal=0, variables={})
    return scene(seed, [L4], [actor], 840, want("launch", "job gpu:0", 0, 700), allows="tiny~")


def small_kernels_seen_every_three_seconds(seed: int) -> Scene:
    """Small kernels of a search over architectures on an A100; gputop looks every three seconds."""
    return _slow(seed, "k4launch12", A100, "python search.py", interval_s=3.0)
