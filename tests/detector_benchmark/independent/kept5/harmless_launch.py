"""Boards with low means and a full thread, although the launch of kernels is not the limit."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    DIFFUSION,
    FP32,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    MOLECULES,
    PREFILL,
    QUERY,
    TRICKLE,
    Activity,
    mix,
)
from detector_benchmark.independent.actors import Actor, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    B200,
    GH200,
    H100,
    H200,
    L4,
    L40S,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import late_power, no_process_values
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop
from detector_benchmark.independent.scripts import Part, cycle, sometimes
from detector_benchmark.independent.sketches import alone, mib_of, notebook, scene, team
from detector_benchmark.independent.textures import dipping, drifting, rippling, saving, waits
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train


def _means(
    seed: int,
    name: str,
    board: Board,
    does: Callable[[Draw], Part],
    command: str,
    *,
    until_s: float = 960,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part = does(draw)
    given: Any = {"actors": beside, "disturb": disturb(draw), "command": command} | more
    return alone(seed, board, part, mib_of(board, draw.between(0.3, 0.85)), until_s, **given)


# --- means of work and of waiting -----------------------------------------------------------------------------------
def checkpoints_that_fill_the_day(seed: int) -> Scene:
    """Four GH200 work for four seconds of eighteen, and wait for a checkpoint in the others: means of little work."""
    draw = Draw(seed, "k5mean1")
    does = saving(draw, draw.work(LLM), GH200, works_s=draw.between(3, 5), saves_s=draw.between(12, 16))
    return team(seed, [GH200] * 4, does, mib_of(GH200, 0.5), 960)


def search_between_short_batches(seed: int) -> Scene:
    """A beam search on an H100 ranks its beams on one core for two seconds after each three of full power."""
    does = lambda draw: cycle((3, draw.work(PREFILL)), (2, HOST))
    return _means(seed, "k5mean2", H100, does, "python beam.py", allows="spin~")


def updates_between_environments(seed: int) -> Scene:
    """An agent on an A10G steps its environments on eight cores for ten seconds, and learns for five at full power."""
    does = lambda draw: cycle((draw.between(9, 11), MANY.but(cpu=790.0)), (5, draw.work(FP32)))
    return _means(seed, "k5mean3", A10G, does, "python ppo.py --envs 64", allows="spin~")


def pictures_on_demand(seed: int) -> Scene:
    """A program of pictures on an RTX 5090 works at full power for half of the time, and its event loop polls in the other."""
    does = lambda draw: serves(
        draw, draw.work(DIFFUSION), each_s=11, for_s=10, rest=IDLE.but(cpu=97.0, thread=97.0, state="R")
    )
    more: Any = {"beside": desktop(), "allows": "spin~"}
    return _means(seed, "k5mean4", RTX_5090, does, "python launch.py --port 7860", **more)


def epochs_of_five_seconds(seed: int) -> Scene:
    """A small set on a V100 has epochs of five seconds; between them loaders start anew for three, with one full thread."""
    rest = Activity(util=3, mc=1, share=0.02, sm=1, dram=1, cpu=98, state="R", noise=0.2)
    does = lambda draw: dipping(draw, draw.work(CNN), rest, every_s=8, for_s=3)
    return _means(
        seed, "k5mean5", V100, does, "python train_small.py", disturb=lambda draw: [late_power(draw.seed(), 0.1)]
    )


def averages_over_a_slow_link(seed: int) -> Scene:
    """Two L40S average their weights over a slow link for ten seconds after each six of work, with full threads."""
    draw = Draw(seed, "k5mean6")
    work, wait = draw.work(CNN), waits(draw, L40S).but(rx=140.0, tx=140.0, cpu=100.0, thread=100.0, state="R")
    return team(seed, [L40S] * 2, lambda rank: cycle((6, work), (10, wait)), mib_of(L40S, 0.5), 960, launcher="mpirun")


def experiments_in_a_notebook(seed: int) -> Scene:
    """A notebook on a T4 runs short cells at full power and cleans a table on one core between them."""
    draw = Draw(seed, "k5mean7")
    does = sometimes(HOST.but(cpu=draw.between(60, 90)), each_s=16, part=draw.work(FP32), for_s=9, seed=draw.seed())
    return scene(seed, [T4], notebook("nb", 0, does, mib_of(T4, 0.4)), 960, allows="spin~")


def phases_of_a_workflow_of_genomes(seed: int) -> Scene:
    """A caller of variants on an L4 sorts on many cores for twenty seconds, and calls on the board for ten."""
    does = lambda draw: cycle((20, MANY.but(cpu=1900.0)), (10, draw.work(PREFILL)))
    return _means(seed, "k5mean8", L4, does, "pbrun deepvariant --in-bam s.bam", cgroup=docker("5"), allows="spin~")


# --- other limits ---------------------------------------------------------------------------------------------------
def decoding_of_a_large_model(seed: int) -> Scene:
    """A server on a B200 decodes for many users: half of the power, a full thread, and memory at its limit."""
    does = lambda draw: rippling(draw, drifting(draw, draw.work(DECODE).but(mc=82.0, dram=76.0)))
    return _means(seed, "k5mean9", B200, does, "vllm serve m --port 8000", cgroup=service("llm"))


def experts_spread_over_eight_boards(seed: int) -> Scene:
    """Eight H200 exchange tokens for their experts in half of each short step: full threads, half of the power."""
    draw = Draw(seed, "k5mean10")
    work = draw.work(LLM, level=0.8)
    does = lambda rank: train(work, step_s=0.5, talk=0.5)
    return team(seed, [H200] * 8, does, mib_of(H200, 0.8), 840, interval_s=2.0)


def tables_streamed_over_the_bus(seed: int) -> Scene:
    """A program on a 3090 streams tables of 300 GB over PCIe, which is its limit; the board is at 60 %."""
    does = lambda draw: drifting(draw, draw.work(QUERY).but(rx=11000.0, tx=900.0))
    return _means(seed, "k5mean11", RTX_3090, does, "python etl.py")


def weights_offloaded_to_the_host(seed: int) -> Scene:
    """A tuning on an RTX 5090 keeps its optimiser on the host: 12 GB/s over the bus, sixteen cores, a board at 55 %."""

    def does(draw: Draw) -> Part:
        work = draw.work(LORA).at(0.55).but(rx=12000.0, tx=9500.0, cpu=1500.0, thread=98.0)
        return drifting(draw, work, depth=0.05)

    return _means(seed, "k5mean12", RTX_5090, does, "python tune.py --offload", allows="input~")


def requests_as_they_come(seed: int) -> Scene:
    """Small requests keep an A100 at some percent; the loop of the server polls at a full core, by design."""
    does = lambda draw: drifting(draw, draw.work(TRICKLE).but(cpu=100.0, thread=100.0, state="R"), depth=0.25)
    return _means(seed, "k5mean13", A100, does, "python -m sglang.launch_server --port 30000", allows="spin~")


def molecules_with_forces_on_the_host(seed: int) -> Scene:
    """A simulation of molecules on a V100 computes half of its forces on twelve cores, as its user chose; values fail at times."""

    def does(draw: Draw) -> Part:
        return drifting(draw, draw.work(MOLECULES).but(util=60.0, cpu=1190.0, thread=99.0))

    bad = lambda draw: [no_process_values(draw.seed(), 0.03)]
    return _means(seed, "k5mean14", V100, does, "gmx mdrun -deffnm eq -bonded cpu", disturb=bad)


def peers_that_wait_in_each_step(seed: int) -> Scene:
    """Two ranks on A10G wait for the network in a third of each second; their kernels are large and their threads full."""
    draw = Draw(seed, "k5mean15")
    work = mix((0.6, draw.work(CNN)), (0.4, COLLECTIVE.but(rx=180.0, tx=180.0))).but(cpu=101.0, thread=100.0)
    return team(seed, [A10G] * 2, lambda rank: drifting(draw, work, depth=0.02), mib_of(A10G, 0.6), 900)
