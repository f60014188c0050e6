"""Jobs that one of their ranks slows down."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, HOST, LLM, LORA, Activity, mix
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import A100, A6000, B200, GPM, H100, H200, L40S, RTX_3090, V100, Board
from detector_benchmark.independent.circuit import Conditions
from detector_benchmark.independent.disturbances import late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import Part, phases, script
from detector_benchmark.independent.sketches import from_then, mib_of, scene, turns
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import wait_on

Slow = Callable[[Activity, float], Part]


def _drags(
    seed: int,
    name: str,
    board: Board,
    size: int,
    speed: tuple[float, float],
    slow: Slow,
    *,
    work: Activity = LLM,
    at: tuple[float, float] = (240, 420),
    condition: Callable[[float, float], Conditions] | None = None,
    beside: Callable[[int, float], Sequence[Actor]] = lambda rank, at_s: (),
    is_alarm: bool = False,
    disturb: Any = (),
    interval_s: float = 1.0,
    allows: str = "",
    **more: Any,
) -> Scene:
    """Let a job work in step. From some time on one rank needs longer, and its peers poll for it in every step."""
    draw = Draw(seed, name)
    at_s, rank_of = draw.between(*at), draw.whole(0, size - 1)
    pace = draw.between(*speed)  # of the job, as a share of what it was
    model = draw.work(work, level=0.84)  # below the power cap: all clocks are alike
    model = model.but(util=99.0, share=min(0.88, model.share))
    peers = mix((pace, model), (1 - pace, wait_on(board))).but(util=100.0)

    def does(rank: int) -> Part:
        later = slow(model, pace) if rank == rank_of else drifting(draw, peers, depth=0.01)
        return later if at_s == 0 else turns(drifting(draw, model, depth=0.01), at_s, later)

    actors = ranks(range(size), does, mib_of(board, 0.7), **more)
    conditions = {rank_of: condition(at_s, pace)} if condition else None
    names = f"rank{rank_of} gpu:{rank_of} rank.job"
    wants = want("straggler", names, at_s, at_s + 720, is_alarm=is_alarm)
    return scene(
        seed,
        [board] * size,
        [*actors, *beside(rank_of, at_s)],
        at_s + 840,
        wants,
        allows=allows,
        conditions=conditions,
        disturb=disturb,
        interval_s=interval_s,
    )


def _always(model: Activity, pace: float) -> Part:
    """Work in the whole of every step, while the peers wait for the end of it."""
    return model.but(util=100.0)


def _late(model: Activity, pace: float) -> Part:
    """Come late to the GPU in each step: the host prepares the batch for the rest of the time."""
    return mix((pace, model), (1 - pace, HOST)).but(cpu=99.0, thread=99.0)


# --- the peers poll at 100 % and at the same clock -----------------------------------------------------------------
def long_sequences_on_one_rank(seed: int) -> Scene:
    """One of eight H100 gets the longest sequences; all are at 100 % and one clock, seven wait for a third of the time."""
    return _drags(seed, "k4slow1", H100, 8, (0.66, 0.74), _always)


def padded_batches_on_one_rank(seed: int) -> Scene:
    """One of eight A100 gets padded batches; nothing but power and the memory controller tells it from its peers."""
    return _drags(seed, "k4slow2", A100, 8, (0.67, 0.75), _always)


def large_images_on_one_rank(seed: int) -> Scene:
    """One of four V100 gets the large images; three poll for it at 100 % and at the same clock."""
    return _drags(seed, "k4slow3", V100, 4, (0.67, 0.74), _always, work=CNN)


def uneven_shards_seen_badly(seed: int) -> Scene:
    """One of eight H200 has more to do in each step; power is late in one look of ten, and looks are missing."""
    disturb = [late_power(seed, 0.1), often_gaps(seed, each_s=60, from_s=3, to_s=7)]
    return _drags(seed, "k4slow4", H200, 8, (0.66, 0.73), _always, disturb=disturb)


# --- it costs the job more than a third: an alarm ------------------------------------------------------------------
def rank_that_costs_half_of_a_job(seed: int) -> Scene:
    """One of eight B200 does twice the work of its peers, which poll for half of each step: an alarm."""
    return _drags(seed, "k4slow5", B200, 8, (0.45, 0.55), _always, is_alarm=True)


def board_at_half_of_its_clock(seed: int) -> Scene:
    """One of eight H100 runs at half of its clock, for no reason that its driver gives: an alarm."""
    slows = lambda at_s, pace: from_then(at_s, clock=pace)
    return _drags(seed, "k4slow6", H100, 8, (0.48, 0.58), _always, condition=slows, is_alarm=True)


def host_that_halves_a_job(seed: int) -> Scene:
    """One rank of four on A6000 prepares its batches itself and comes late by half of each step: an alarm."""
    return _drags(seed, "k4slow7", A6000, 4, (0.45, 0.57), _late, is_alarm=True, allows="launch~ input~")


# --- others --------------------------------------------------------------------------------------------------------
def clock_that_a_board_does_not_reach(seed: int) -> Scene:
    """One of eight A100 does not come above three quarters of its clock since a firmware update."""
    slows = lambda at_s, pace: from_then(0, clock=pace)
    return _drags(seed, "k4slow8", A100, 8, (0.7, 0.78), _always, condition=slows, at=(0, 0))


def rank_with_a_slow_core(seed: int) -> Scene:
    """The main thread of one of eight ranks on L40S runs on a core that others use; its board is at two thirds."""
    return _drags(seed, "k4slow9", L40S, 8, (0.66, 0.74), _late, work=CNN, allows="launch~ input~")


def rank_with_two_full_loaders(seed: int) -> Scene:
    """The two loaders of one rank of four on V100 become slow and full, its board waits for them, and its peers for it."""
    draw = Draw(seed, "k4slow10+")

    def beside(rank: int, at_s: float) -> Sequence[Actor]:
        owner = Actor(name=f"rank{rank}", command="python -u train.py --config configs/base.yaml")
        return loaders(owner, 2, turns(Activity(cpu=30), at_s, Activity(cpu=draw.between(96, 101), state="R")))

    slow = lambda model, pace: mix((pace, model), (1 - pace, Activity(cpu=3))).but(cpu=40.0, thread=40.0)
    return _drags(seed, "k4slow10", V100, 4, (0.6, 0.72), slow, work=CNN, beside=beside, allows="input")


def neighbour_on_one_of_the_boards(seed: int) -> Scene:
    """Bob starts a program on the board of one rank of four on A100; the job waits for that rank in every step."""
    draw = Draw(seed, "k4slow11+")

    def beside(rank: int, at_s: float) -> Sequence[Actor]:
        work = script(draw.work(LORA).at(0.6))
        return [program("bob", "python other.py", rank, work, mib_of(A100, 0.15), user="bob", from_s=at_s)]

    return _drags(seed, "k4slow11", A100, 4, (0.6, 0.68), _always, beside=beside)


def slow_board_without_profiling(seed: int) -> Scene:
    """One of four H100 without profiling runs at 70 % of its clock; gputop looks every two seconds."""
    slows = lambda at_s, pace: from_then(at_s, clock=pace)
    more: Any = {"condition": slows, "interval_s": 2.0, "launcher": "srun"}
    return _drags(seed, "k4slow12", H100.without(GPM), 4, (0.66, 0.74), _always, **more)


def straggler_that_comes_and_goes(seed: int) -> Scene:
    """One of four 3090 is late for five minutes, well for one, and late for good; the others poll for it."""

    def slow(model: Activity, pace: float) -> Part:
        bad = _late(model, pace)
        return phases(bad, (720, model), (780, bad))

    return _drags(seed, "k4slow13", RTX_3090, 4, (0.6, 0.7), slow, work=LORA, allows="launch~ input~")
