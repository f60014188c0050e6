"""Boards with low means and a full thread, although no launch is the limit: waits are mixed with work, or memory is."""

from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    DIFFUSION,
    FP32,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    QUERY,
    TRICKLE,
    Activity,
)
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import A100, B200, H100, H200, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import late_power
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import Part, cycle, sometimes
from detector_benchmark.independent.sketches import mib_of, notebook, scene
from detector_benchmark.independent.textures import dipping, drifting, rippling, saving, waits
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train, with_pauses

_BATCH: Any = {"variables": {}, "terminal": 0}


def _mixed(
    seed: int, name: str, board: Board, does: Part, command: str, *, until_s: float = 960, allows: str = "", **more: Any
) -> Scene:
    draw = Draw(seed, name)
    given = {name: more.pop(name) for name in ("disturb", "interval_s") if name in more}
    beside = more.pop("beside", ())
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.85)), **_BATCH | more)
    return scene(seed, [board], [*beside, actor], until_s, allows=allows, **given)


# --- means of work and of waiting ----------------------------------------------------------------------------------
def two_seconds_of_work_in_twenty(seed: int) -> Scene:
    """Eight H100 work for three seconds of twenty and wait for a checkpoint at 100 %: means like those of small kernels."""
    draw = Draw(seed, "k4mean1")
    does = saving(draw, draw.work(LLM), H100, works_s=draw.between(2, 4), saves_s=draw.between(15, 20))
    return scene(seed, [H100] * 8, ranks(range(8), does, mib_of(H100, 0.5)), 960)


def half_of_a_step_for_the_host(seed: int) -> Scene:
    """A training on an A100 works at full power for five seconds and packs its results on one core for six."""
    draw = Draw(seed, "k4mean2+")
    does = cycle((5, draw.work(LORA)), (draw.between(5, 7), HOST))
    return _mixed(seed, "k4mean2", A100, does, "python distill.py", allows="spin~")


def long_waits_for_slow_peers(seed: int) -> Scene:
    """Four V100 wait for a slow network in two of three seconds, with full threads; their work itself is at full power."""
    draw = Draw(seed, "k4mean3")
    work, wait = draw.work(CNN), waits(draw, V100).but(rx=120.0, tx=120.0, cpu=100.0, thread=100.0)
    does = lambda rank: cycle((4, work), (8, wait))
    return scene(seed, [V100] * 4, ranks(range(4), does, mib_of(V100, 0.6), launcher="mpirun"), 960)


def rollouts_between_updates(seed: int) -> Scene:
    """An agent on an L40S steps its environments for twelve seconds on the host, then updates for six at full power."""
    draw = Draw(seed, "k4mean4+")
    does = cycle((12, MANY.but(cpu=620.0)), (6, draw.work(FP32)))
    return _mixed(seed, "k4mean4", L40S, does, "python ppo.py --envs 512", allows="spin~")


def requests_between_rests(seed: int) -> Scene:
    """A server on an RTX 4090 draws pictures at full power for half of the time and polls for the next in the other."""
    draw = Draw(seed, "k4mean5+")
    rest = IDLE.but(cpu=99.0, thread=99.0, state="R")
    does = serves(draw, draw.work(DIFFUSION), each_s=9, for_s=9, rest=rest)
    more: Any = {"beside": desktop(), "allows": "spin~"}
    return _mixed(seed, "k4mean5", RTX_4090, does, "python webui.py --listen 0.0.0.0", **more)


def many_short_dips(seed: int) -> Scene:
    """A training on a T4 dips to some percent for four of every twelve seconds, as recorded, with one full thread."""
    draw = Draw(seed, "k4mean6+")
    rest = Activity(util=6, mc=2, share=0.03, sm=2, dram=1, cpu=99, noise=0.2)
    does = dipping(draw, draw.work(CNN), rest, every_s=12, for_s=5)
    return _mixed(seed, "k4mean6", T4, does, "python train.py", disturb=[late_power(seed, 0.15)])


# --- other limits --------------------------------------------------------------------------------------------------
def decoding_at_the_limit_of_memory(seed: int) -> Scene:
    """A server on an H200 decodes for many users: half of the power, a full thread, and memory at its limit."""
    draw = Draw(seed, "k4mean7+")
    does = rippling(draw, drifting(draw, draw.work(DECODE).but(mc=78.0, dram=72.0)))
    return _mixed(seed, "k4mean7", H200, does, "vllm serve m --port 8000", cgroup=service("llm"))


def exchange_that_fills_every_step(seed: int) -> Scene:
    """Eight B200 exchange experts over NVLink for half of each short step: full threads, half of the power, a full bus."""
    draw = Draw(seed, "k4mean8")
    work = draw.work(LLM, level=0.8)
    does = lambda rank: train(work, step_s=0.6, talk=0.5)
    return scene(seed, [B200] * 8, ranks(range(8), does, mib_of(B200, 0.8)), 900, interval_s=2)


def joins_over_the_bus(seed: int) -> Scene:
    """A database on a 3090 reads its tables over PCIe at four gigabytes a second; its board is at 60 %."""
    draw = Draw(seed, "k4mean9+")
    return _mixed(seed, "k4mean9", RTX_3090, drifting(draw, draw.work(QUERY)), "./gpudb --port 6274")


def few_requests_for_a_large_board(seed: int) -> Scene:
    """Small requests trickle into an H100 at some percent, and the server polls at 100 % of a core."""
    draw = Draw(seed, "k4mean10+")
    work = draw.work(TRICKLE).but(cpu=100.0, thread=100.0, state="R")
    return _mixed(seed, "k4mean10", H100, drifting(draw, work, depth=0.2), "vllm serve m --port 8000", allows="spin~")


def cells_with_pauses(seed: int) -> Scene:
    """A notebook on an L4 runs cells at full power for ten seconds or so, and computes a plot on one core between."""
    draw = Draw(seed, "k4mean11")
    does = sometimes(HOST.but(cpu=60.0), each_s=14, part=draw.work(FP32), for_s=10, seed=draw.seed())
    return scene(seed, [L4], notebook("nb", 0, does, mib_of(L4, 0.4)), 960)


def validation_with_a_slow_metric(seed: int) -> Scene:
    """A training on an A100 validates for two of five minutes with a metric on the host: the board has short turns only."""
    draw = Draw(seed, "k4mean12+")
    metric = cycle((6, HOST), (2, draw.work(CNN)))
    does = with_pauses(drifting(draw, draw.work(CNN)), metric, every_s=300, for_s=120)
    return _mixed(seed, "k4mean12", A100, does, "python train.py --bleu", until_s=1200, allows="spin~")
