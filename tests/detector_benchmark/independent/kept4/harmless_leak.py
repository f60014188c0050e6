"""Memory that grows and is no leak: caches that fill, pools that saturate, phases, and pieces that do not add up."""

import math
from collections.abc import Callable
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, IDLE, LLM, LORA, QUERY, Activity
from detector_benchmark.independent.actors import docker, service, slurm
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
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
from detector_benchmark.independent.disturbances import lost_memory, often_gaps, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Curve, added, level, records, steps, warmed
from detector_benchmark.independent.sketches import notebook, scene
from detector_benchmark.independent.textures import dipping, drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import saturating, serves, spikes

_BATCH: Any = {"variables": {}, "terminal": 0}


def _grows(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    memory: Callable[[Draw], Curve],
    *,
    command: str = "python -u train.py",
    until_s: float = 2400,
    serving: bool = False,
    disturb: Any = (),
    interval_s: float = 2.0,
    beside: Any = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    busy = draw.work(work)
    does = serves(draw, busy, each_s=30, for_s=25) if serving else rippling(draw, drifting(draw, busy))
    actor = program("job", command, 0, does, memory(draw), **_BATCH | more)
    return scene(seed, [board], [*beside, actor], until_s, disturb=disturb, interval_s=interval_s)


def _fragments(draw: Draw, base: float, most: float, *, tau_s: float = 300) -> Curve:
    """Grow like the pieces of an allocator: fast, then ever more slowly, with a last piece now and then."""
    slow = saturating(level(base), mib=0.8 * most, tau_s=draw.about(tau_s, 1.3), chunk_mib=20)
    late = records(level(0), mib=0.05 * most, each_s=40, seed=draw.seed())
    return added(slow, lambda t_s: min(0.2 * most, late(t_s) // 20 * 20))


# --- pieces of an allocator that saturate --------------------------------------------------------------------------
def pieces_of_a_training_with_varying_lengths(seed: int) -> Scene:
    """Sentences of varying length leave pieces in the allocator of an H100: three gigabytes, ever more slowly."""
    return _grows(seed, "k4flat1", H100, LLM, lambda draw: _fragments(draw, 42000, draw.between(2000, 3600)))


def pieces_of_a_detector(seed: int) -> Scene:
    """Images of many sizes leave pieces in the allocator of a 3090, which has enough of them after twenty minutes."""
    return _grows(seed, "k4flat2", RTX_3090, CNN, lambda draw: _fragments(draw, 9000, draw.between(800, 1500)))


def pieces_of_a_server(seed: int) -> Scene:
    """A server on an L4 keeps pieces of requests of many lengths; after a while it reuses them."""
    memory = lambda draw: _fragments(draw, 8000, draw.between(700, 1400), tau_s=380)
    return _grows(seed, "k4flat3", L4, DECODE, memory, command="python api.py --port 8080", serving=True)


def pieces_with_single_zeros(seed: int) -> Scene:
    """The pieces of an allocator on a V100 saturate; single samples say 0 MiB, others nothing."""
    disturb = [zero_memory(seed, 0.015), lost_memory(seed, 0.02)]
    return _grows(seed, "k4flat4", V100, FP32, lambda draw: _fragments(draw, 4000, 900), disturb=disturb)


# --- caches that fill and stay -------------------------------------------------------------------------------------
def cache_of_features_that_is_full(seed: int) -> Scene:
    """A cache of features on an A100 fills in six minutes to its bound, and stays there for half an hour."""

    def memory(draw: Draw) -> Curve:
        size, over_s = draw.between(9000, 16000), draw.between(280, 400)
        return lambda t_s: 21000 + size * min(1.0, t_s / over_s) // 2 * 2

    return _grows(seed, "k4flat5", A100, QUERY, memory, command="./features --cache 16g", cgroup=service("features"))


def prefixes_up_to_a_bound(seed: int) -> Scene:
    """The cache of prefixes of a server on a B200 fills fast at first, then slowly, up to its bound."""
    memory = lambda draw: saturating(level(60000), mib=draw.between(20000, 40000), tau_s=draw.between(200, 320))
    return _grows(seed, "k4flat6", B200, DECODE, memory, command="python -m chat.server --port 80", serving=True)


def data_set_that_moves_to_the_board(seed: int) -> Scene:
    """A training on an RTX 4090 moves its data set to the board in its first epoch of seven minutes; then it is all there."""

    def memory(draw: Draw) -> Curve:
        size, over_s = draw.between(5000, 9000), draw.between(380, 460)
        return lambda t_s: 6000 + size * min(1.0, t_s / over_s) // 64 * 64

    return _grows(seed, "k4flat7", RTX_4090, CNN, memory, beside=desktop(), until_s=2700)


# --- an allocator that grows in steps, and stops -------------------------------------------------------------------
def stages_of_growing_images(seed: int) -> Scene:
    """A progressive training on an H200 goes to larger images five times in half an hour, then no more."""

    def memory(draw: Draw) -> Curve:
        at_s = [0.0, *sorted(draw.between(150, 1500) for _ in range(4))]
        return steps(*((when_s, 15000 + 11000 * n + draw.whole(0, 900) * 2) for n, when_s in enumerate(at_s)))

    return _grows(seed, "k4flat8", H200, DIFFUSION, memory, until_s=2900)


def pool_that_doubles_and_has_enough(seed: int) -> Scene:
    """The pool of a solver on an A100 doubles four times in its first minutes, and is large enough from then on."""

    def memory(draw: Draw) -> Curve:
        at_s = [draw.between(20, 60) * 2**n for n in range(4)]
        return lambda t_s: 2000 + 1024 * 2 ** sum(t_s >= when_s for when_s in at_s)

    return _grows(seed, "k4flat9", A100, FP32, memory, command="./solve -i mesh.inp", cgroup=slurm(77))


def graphs_captured_one_by_one(seed: int) -> Scene:
    """A server on an H100 captures graphs of forty batch sizes, 30 MiB each, in its first minutes; then it serves."""

    def memory(draw: Draw) -> Curve:
        each_s = draw.between(4, 9)
        return lambda t_s: 60000 + 30 * min(40, t_s // each_s)

    return _grows(seed, "k4flat10", H100, DECODE, memory, command="vllm serve m --port 8000", serving=True)


# --- back and forth ------------------------------------------------------------------------------------------------
def validation_that_needs_more_and_more_for_a_while(seed: int) -> Scene:
    """Each validation on an L40S needs some gigabytes and gives them back; the floor stays where it is."""
    memory = lambda draw: spikes(level(17000), mib=draw.between(3000, 9000), every_s=draw.between(200, 330), for_s=40)
    return _grows(seed, "k4flat11", L40S, LORA, memory)


def wave_of_requests(seed: int) -> Scene:
    """A database on a T4 in a container follows the waves of its requests, up for ten minutes and down for ten."""

    def memory(draw: Draw) -> Curve:
        period_s, most = draw.between(1000, 1300), draw.between(2500, 4200)
        return lambda t_s: 3000 + most * (0.5 - 0.5 * math.cos(math.tau * t_s / period_s)) // 16 * 16

    more: Any = {"command": "./gpudb --port 6274", "serving": True, "cgroup": docker("8")}
    return _grows(seed, "k4flat12", T4, QUERY, memory, until_s=3900, **more)


def generations_that_end(seed: int) -> Scene:
    """An RL job on a B200 collects for eight minutes, learns for two and lets all go, again and again."""
    draw = Draw(seed, "k4flat13")
    period_s, most = draw.between(560, 660), draw.between(40000, 70000)
    memory = lambda t_s: 30000 + most * min(1.0, (t_s % period_s) / (0.8 * period_s)) // 32 * 32
    work = dipping(draw, draw.work(DECODE), IDLE.but(cpu=70), every_s=90, for_s=6)
    actor = program("job", "python rl.py", 0, work, memory, **_BATCH)
    return scene(seed, [B200], [actor], 3600, interval_s=2)


def cells_of_a_notebook_in_a_slice(seed: int) -> Scene:
    """The cells of a notebook in a slice of an A100 take more and less memory, as their author tries this and that."""
    draw = Draw(seed, "k4flat14")
    levels, at_s = [(0.0, 2400.0)], 0.0
    while at_s < 2300:
        at_s += draw.about(150, 1.6)
        levels.append((at_s, draw.whole(900, 7500) * 2.0))
    does = serves(draw, draw.work(FP32).but(share=0.3), each_s=60, for_s=25)
    return scene(seed, [A100_MIG], notebook("nb", 0, does, steps(*levels), instance=2), 2400, interval_s=2)


def warm_up_seen_through_gaps(seed: int) -> Scene:
    """A training on an H100 takes its memory in a warm-up of two minutes, then not a byte more; looks are missing."""
    memory = lambda draw: warmed(900, draw.between(40000, 70000), at_s=20, over_s=draw.between(90, 150))
    return _grows(seed, "k4flat15", H100, LLM, memory, disturb=[often_gaps(seed, each_s=50, from_s=4, to_s=15)])
