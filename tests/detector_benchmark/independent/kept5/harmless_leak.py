"""Memory that grows and is no leak: it has a bound, it saturates, it comes back, or it belongs to a phase."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    DIFFUSION,
    FP32,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    QUERY,
    RENDER,
    Activity,
)
from detector_benchmark.independent.actors import Actor, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A30_MIG,
    A100,
    GH200,
    H100,
    H200,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import lost_memory, often_gaps, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop
from detector_benchmark.independent.scripts import Curve, Part, added, level, records, steps, warmed
from detector_benchmark.independent.sketches import alone, notebook, scene
from detector_benchmark.independent.textures import dipping, drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import saturating, serves, spikes


def _steady(draw: Draw, work: Activity) -> Part:
    return rippling(draw, drifting(draw, work))


def _answers(draw: Draw, work: Activity) -> Part:
    return serves(draw, work, each_s=28, for_s=26)


def _grows(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    memory: Callable[[Draw], Curve],
    *,
    does: Callable[[Draw, Activity], Part] = _steady,
    until_s: float = 2400,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part, curve = does(draw, draw.work(work)), memory(draw)
    given: Any = {"actors": beside, "disturb": disturb(draw), "interval_s": 2.0} | more
    return alone(seed, board, part, curve, until_s, **given)


def _up_to(base: float, size: float, over_s: float, chunk: float = 2) -> Curve:
    return lambda t_s: base + size * min(1.0, t_s / over_s) // chunk * chunk


# --- pieces of an allocator -----------------------------------------------------------------------------------------
def _pieces(draw: Draw, base: float, most: float, tau_s: float) -> Curve:
    """Grow like the cache of an allocator: fast at first, then ever more slowly, with a rare late piece."""
    early = saturating(level(base), mib=0.8 * most, tau_s=draw.about(tau_s, 1.3), chunk_mib=20)
    late = records(level(0), mib=0.05 * most, each_s=45, seed=draw.seed())
    return added(early, lambda t_s: min(0.2 * most, late(t_s) // 20 * 20))


def pieces_of_packed_texts(seed: int) -> Scene:
    """Texts of all lengths leave pieces in the allocator of an H200 until it has one for every need, after twenty minutes."""
    return _grows(seed, "k5flat1", H200, LLM, lambda draw: _pieces(draw, 61000, draw.between(2500, 4500), 280))


def pieces_of_point_clouds(seed: int) -> Scene:
    """Point clouds of many sizes let the cache of a training on a 3090 grow ever more slowly."""
    return _grows(seed, "k5flat2", RTX_3090, FP32, lambda draw: _pieces(draw, 8000, draw.between(900, 1800), 340))


def pieces_of_a_service_of_speech(seed: int) -> Scene:
    """Sounds of many lengths leave pieces in a service on an A10G, which reuses them after a while."""
    more: Any = {"does": _answers, "command": "python asr_api.py --port 7000", "cgroup": service("asr")}
    return _grows(
        seed, "k5flat3", A10G, PREFILL, lambda draw: _pieces(draw, 6000, draw.between(700, 1300), 300), **more
    )


def pieces_seen_with_zeros_and_gaps(seed: int) -> Scene:
    """The cache of an allocator on a V100 saturates; zeros are read, values fail, and samples are lost."""
    bad = lambda draw: [
        zero_memory(draw.seed(), 0.012),
        lost_memory(draw.seed(), 0.02),
        often_gaps(draw.seed(), each_s=120, from_s=4, to_s=14),
    ]
    return _grows(seed, "k5flat4", V100, CNN, lambda draw: _pieces(draw, 5200, 1100, 260), disturb=bad)


# --- caches with a bound --------------------------------------------------------------------------------------------
def tiles_of_a_map_up_to_a_bound(seed: int) -> Scene:
    """A server of maps on an L40S caches tiles up to its bound of some gigabytes, within five minutes, and stays there."""
    memory = lambda draw: _up_to(5200, draw.between(6000, 11000), draw.between(240, 330))
    return _grows(seed, "k5flat5", L40S, QUERY, memory, command="./tiles --port 8080 --cache 10g", cgroup=docker("6"))


def buffer_of_an_agent_that_gets_full(seed: int) -> Scene:
    """The buffer of an agent on an RTX 5090 holds half a million frames; it is full after six minutes, and frames are replaced."""
    memory = lambda draw: _up_to(3000, draw.between(7000, 12000), draw.between(300, 400), 16)
    does = lambda draw, work: dipping(draw, work, IDLE.but(cpu=95, state="R"), every_s=19, for_s=5)
    return _grows(
        seed, "k5flat6", RTX_5090, FP32, memory, does=does, command="python dqn.py", beside=desktop(), until_s=2700
    )


def keys_and_values_up_to_a_share(seed: int) -> Scene:
    """A server on a GH200 lets its cache of keys and values grow with its first requests, up to its share."""
    memory = lambda draw: saturating(level(31000), mib=draw.between(18000, 36000), tau_s=draw.between(150, 260))
    more: Any = {"does": _answers, "command": "python -m chat.server --port 8000"}
    return _grows(seed, "k5flat7", GH200, DECODE, memory, **more)


# --- stages that end ------------------------------------------------------------------------------------------------
def resolutions_one_after_the_other(seed: int) -> Scene:
    """A training of pictures on an H100 goes through five sizes in half an hour, each with more memory, then no more."""

    def memory(draw: Draw) -> Curve:
        at_s = [0.0, *sorted(draw.between(200, 1600) for _ in range(4))]
        return steps(*((when_s, 9000 + 12000 * n + draw.whole(0, 700) * 2) for n, when_s in enumerate(at_s)))

    return _grows(seed, "k5flat8", H100, DIFFUSION, memory, until_s=2900)


def programs_for_a_dozen_of_shapes(seed: int) -> Scene:
    """A training in JAX on an A100 compiles a program for each of a dozen shapes, in its first ten minutes, and needs no more."""

    def memory(draw: Draw) -> Curve:
        at_s = sorted(draw.between(0, 1) ** 2 * 600 for _ in range(12))
        return lambda t_s: 38000 + 90 * sum(t_s >= when_s for when_s in at_s)

    return _grows(seed, "k5flat9", A100, LLM, memory, command="python train_jax.py")


def textures_that_a_scene_needs(seed: int) -> Scene:
    """A renderer on an RTX PRO 6000 loads textures as its camera finds them: many at first, and none after a quarter of an hour."""
    memory = lambda draw: saturating(
        level(8000), mib=draw.between(9000, 20000), tau_s=draw.between(160, 240), chunk_mib=64
    )
    return _grows(seed, "k5flat10", PRO_6000, RENDER, memory, command="./karma shot.usd", until_s=2100)


# --- back and forth -------------------------------------------------------------------------------------------------
def waves_of_sessions(seed: int) -> Scene:
    """The memory of a service on a T4 follows its sessions: up for ten minutes, down for ten, and no floor rises."""

    def memory(draw: Draw) -> Curve:
        period_s, most = draw.between(1000, 1250), draw.between(2500, 5000)
        return lambda t_s: 2600 + most * (0.5 - 0.5 * math.cos(math.tau * t_s / period_s)) // 8 * 8

    more: Any = {"does": _answers, "command": "./sessions --port 5000", "cgroup": docker("4")}
    return _grows(seed, "k5flat11", T4, DATA, memory, until_s=3800, **more)


def episodes_collected_and_dropped(seed: int) -> Scene:
    """An agent on an H100 collects episodes for seven minutes, learns for three, and drops them all, on and on."""

    def memory(draw: Draw) -> Curve:
        period_s, most = draw.between(560, 640), draw.between(18000, 30000)
        return lambda t_s: 16000 + most * min(1.0, (t_s % period_s) / (0.7 * period_s)) // 16 * 16

    return _grows(seed, "k5flat12", H100, DECODE, memory, command="python rlhf.py", until_s=3400)


def evaluations_of_many_sizes(seed: int) -> Scene:
    """Each evaluation of a tuning on an L40S needs some gigabytes more for forty seconds, and gives them back."""
    memory = lambda draw: spikes(level(21000), mib=draw.between(3000, 8000), every_s=draw.between(220, 320), for_s=40)
    return _grows(seed, "k5flat13", L40S, LORA, memory)


def tries_in_a_slice(seed: int) -> Scene:
    """The cells of a notebook in a slice of an A30 take more memory, then less, as its author tries this and that."""
    draw = Draw(seed, "k5flat14")
    levels, at_s = [(0.0, 1800.0)], 0.0
    while at_s < 2400:
        at_s += draw.about(140, 1.6)
        levels.append((at_s, draw.whole(800, 5200) * 2.0))
    does = serves(draw, draw.work(FP32).but(share=0.25), each_s=55, for_s=25)
    return scene(seed, [A30_MIG], notebook("nb", 0, does, steps(*levels), instance=3), 2400, interval_s=2)


def warm_up_of_two_minutes_and_no_more(seed: int) -> Scene:
    """A training on an A10G takes all its memory in its first two minutes, and not a byte more, in a coarse recording."""
    memory = lambda draw: warmed(600, draw.between(14000, 20000), at_s=20, over_s=draw.between(80, 130))
    return _grows(seed, "k5flat15", A10G, CNN, memory, interval_s=5.0, until_s=3000)
