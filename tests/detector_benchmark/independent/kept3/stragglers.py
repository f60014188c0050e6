"""Jobs of which one board or one rank is slower than its peers, who wait for it in each step."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, FP32, FP64, HOST, IDLE, LLM, LORA, Activity, mix
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import from_then, mib_of, scene, turns, well_fed
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import wait_on


def _lags(
    seed: int,
    draw: Draw,
    boards: Sequence[Board],
    work: Activity,
    slow: int,
    speed: float,
    slowly: Part,
    *,
    clock: tuple[str, ...] | None = None,
    at_s: float = 0.0,
    by_s: float = 900,
    allows: str = "hang~ straggler",
    disturb: Any = (),
    workers: int = 0,
    beside: Any = (),
    names: str = "",
    **more: Any,
) -> Scene:
    """Let all ranks work, then at the speed of the slow one. ``clock``: its clock is held, for these reasons."""
    peers = mix((speed, work), (1 - speed, wait_on(boards[0])))
    does = lambda rank: turns(work, at_s, slowly if rank == slow else peers)
    actors = ranks(range(len(boards)), does, mib_of(boards[0], draw.between(0.4, 0.8)), **more)
    actors = with_loaders(actors, workers, well_fed(draw)) if workers else actors
    conditions = None if clock is None else {slow: from_then(at_s, clock=speed, reasons=clock)}
    wants = want("straggler", f"rank{slow} gpu:{slow} {names}", at_s, at_s + by_s)
    return scene(
        seed,
        boards,
        [*actors, *beside],
        at_s + by_s + 180,
        wants,
        allows=allows,
        disturb=disturb,
        conditions=conditions,
    )


def _longer(work: Activity, speed: float) -> Activity:
    return work.but(
        util=99,
        share=work.share * speed,
        mc=work.mc * speed,
        dram=work.dram * speed,
        sm=work.sm * speed,
        tensor=work.tensor * speed,
        nv=work.nv * speed,
    )


def _part(work: Activity, speed: float, rest: Activity) -> Activity:
    return mix((speed, work), (1 - speed, rest))


def clock_locked_by_a_benchmark(seed: int) -> Scene:
    """A benchmark left the clock of GPU 5 of eight H100 locked at 60 %; the training is slow from its first step."""
    draw = Draw(seed, "k3slow1")
    work = draw.work(LLM)
    return _lags(seed, draw, [H100] * 8, work, 5, 0.6, work.but(util=99.5), clock=("application clocks",))


def board_that_falls_in_speed_by_a_third(seed: int) -> Scene:
    """After some minutes one of four A100 runs at 65 % of its clock and gives no reason."""
    draw = Draw(seed, "k3slow2")
    work, slow = draw.work(CNN), draw.whole(0, 3)
    return _lags(seed, draw, [A100] * 4, work, slow, 0.65, work.but(util=99), clock=(), at_s=draw.between(300, 600))


def rank_whose_core_is_shared(seed: int) -> Scene:
    """A build runs on the core of rank 3 of eight V100: its GPU waits for launches for 45 % of the time."""
    draw = Draw(seed, "k3slow3")
    work = draw.work(CNN).but(util=97)
    slowly = _part(work, 0.55, IDLE.but(cpu=99, state="R"))
    allows = "hang~ launch~ straggler"
    return _lags(
        seed, draw, [V100] * 8, work, 3, 0.55, slowly, at_s=draw.between(300, 500), allows=allows, launcher="mpirun"
    )


def rank_with_full_loaders(seed: int) -> Scene:
    """The shards of rank 1 are compressed harder: its loaders are at full load and its L40S waits for half of a step."""
    draw = Draw(seed, "k3slow4")
    work = draw.work(LORA)
    slowly = cycle((4, work), (4, IDLE.but(cpu=5)))
    peers = cycle((4, work), (4, wait_on(L40S)))
    actors = ranks(range(4), lambda rank: slowly if rank == 1 else peers, mib_of(L40S, 0.7))
    busy = {1: Activity(cpu=98, state="R")}
    every = [loaders(actor, 4, busy.get(n - 1, well_fed(draw))) for n, actor in enumerate(actors) if actor.uses]
    actors = [*actors, *(one for some in every for one in some)]
    wants = want("straggler input", "rank1 gpu:1", 0, 1000)
    return scene(seed, [L40S] * 4, actors, 1180, wants, allows="hang~ straggler input")


def degraded_memory_of_one_of_sixteen(seed: int) -> Scene:
    """The memory of GPU 11 of sixteen H200 repeats its transfers: half of the speed at the usual clock, lower power."""
    draw = Draw(seed, "k3slow5")
    work = draw.work(LLM)
    return _lags(
        seed, draw, [H200] * 16, work, 11, 0.5, _longer(work, 0.5), at_s=draw.between(300, 500), launcher="srun"
    )


def neighbour_in_a_container_on_one_board(seed: int) -> Scene:
    """Another container starts an evaluation on GPU 0 of a job of four: its rank has half of the board."""
    draw = Draw(seed, "k3slow6")
    at_s, work = draw.between(300, 500), draw.work(FP32).but(util=99)
    other = program(
        "other", "python eval.py", 0, draw.work(LORA).but(nv=0), mib_of(A6000, 0.15), from_s=at_s, cgroup=docker("4")
    )
    return _lags(seed, draw, [A6000] * 4, work, 0, 0.5, work, at_s=at_s, beside=[other], names="other")


def hot_inner_board_of_three(seed: int) -> Scene:
    """The inner one of three RTX 3090 throttles to 70 % by its heat; its peers poll over host memory."""
    draw = Draw(seed, "k3slow7")
    work = draw.work(LORA)
    allows = "hang~ straggler thermal"
    slowly = work.but(util=99)
    clock = ("software thermal",)
    return _lags(
        seed, draw, [RTX_3090] * 3, work, 1, 0.7, slowly, clock=clock, at_s=400, allows=allows, launcher="spawn"
    )


def long_steps_with_one_slow_rank(seed: int) -> Scene:
    """Steps of 24 s on eight B200: one works all of it, its peers 14 s, and then poll for 10 s."""
    draw = Draw(seed, "k3slow8")
    work, slow = draw.work(LLM), draw.whole(0, 7)
    peers = cycle((14, work), (10, wait_on(B200)))
    does = lambda rank: _longer(work, 0.6) if rank == slow else peers
    actors = ranks(range(8), does, mib_of(B200, 0.7), launcher="srun")
    wants = want("straggler", f"rank{slow} gpu:{slow}", 0, 1200)
    return scene(seed, [B200] * 8, actors, 1380, wants, allows="hang~ straggler")


def straggler_seen_with_gaps(seed: int) -> Scene:
    """One of four RTX 4090 has a power limit that a gamer lowered; it needs half as long again; gputop loses seconds."""
    draw = Draw(seed, "k3slow9")
    work = draw.work(LORA)
    gaps = often_gaps(draw.seed(), each_s=80, from_s=2, to_s=8)
    slowly = work.but(util=99)
    return _lags(
        seed, draw, [RTX_4090] * 4, work, 3, 0.66, slowly, clock=(), disturb=[gaps], by_s=1100, launcher="spawn"
    )


def card_in_a_narrow_slot(seed: int) -> Scene:
    """Of four T4 one sits in a slot of one lane: it copies for half of each step, its peers wait."""
    draw = Draw(seed, "k3slow10")
    work, slow = draw.work(CNN).but(nv=0), draw.whole(0, 3)
    slowly = _part(work, 0.5, IDLE.but(util=5, share=0.02, rx=640, tx=30, cpu=70))
    return _lags(seed, draw, [T4] * 4, work, slow, 0.5, slowly, by_s=1000, allows="hang~ straggler input~")


def solver_with_one_rank_on_the_far_socket(seed: int) -> Scene:
    """Rank 2 of six of a solver has its memory on the far socket: 40 % of its time is the CPU, its peers poll."""
    draw = Draw(seed, "k3slow11")
    work = draw.work(FP64)
    allows = "hang~ launch~ straggler"
    command = "./vasp_std"
    slowly = _part(work, 0.6, HOST)
    return _lags(
        seed, draw, [A100] * 6, work, 2, 0.6, slowly, allows=allows, launcher="mpirun", command=command, by_s=1000
    )
