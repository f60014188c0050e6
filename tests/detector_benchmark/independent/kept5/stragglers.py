"""Jobs that are slow because of one of their ranks."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, FP64, HOST, LLM, LORA, Activity, mix
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    B200,
    GB200,
    GPM,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import Conditions
from detector_benchmark.independent.disturbances import bad_process_zeros, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program
from detector_benchmark.independent.scripts import Part, script
from detector_benchmark.independent.sketches import BATCH, from_then, mib_of, team, turns
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import wait_on

_Slow = Callable[[Activity, float], Part]  # of the work, and the pace that is left of the job


def _longer(model: Activity, pace: float) -> Part:
    """Compute during the whole of each step."""
    return model.but(util=100.0)


def _later(model: Activity, pace: float) -> Part:
    """Prepare each step on the host, at a full thread, before the GPU can begin."""
    return mix((pace, model), (1 - pace, HOST)).but(cpu=99.0, thread=99.0)


def _starved(model: Activity, pace: float) -> Part:
    """Wait for a batch in each step, and sleep until it comes."""
    return mix((pace, model), (1 - pace, Activity(cpu=4))).but(cpu=38.0, thread=38.0)


def _held_up(
    seed: int,
    name: str,
    board: Board,
    size: int,
    pace: tuple[float, float],
    slow: _Slow = _longer,
    *,
    work: Activity = LLM,
    at: tuple[float, float] = (220, 430),
    clock: Callable[[float, float], Conditions] | None = None,
    beside: Callable[[Draw, int, float], Sequence[Actor]] = lambda draw, rank, at_s: (),
    kinds: str = "straggler",
    is_alarm: bool = False,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    **more: Any,
) -> Scene:
    """Let a job work in step; from some time on all of its ranks wait for one of them in every step."""
    draw = Draw(seed, name)
    at_s, late = draw.between(*at), draw.whole(0, size - 1)
    left = draw.between(*pace)
    model = draw.work(work, level=0.83)
    model = model.but(util=99.0, share=min(0.86, model.share))  # no board is at the cap of its power
    peers = mix((left, model), (1 - left, wait_on(board))).but(util=100.0)

    def does(rank: int) -> Part:
        later = slow(model, left) if rank == late else rippling(draw, drifting(draw, peers, depth=0.01))
        return later if at_s == 0 else turns(drifting(draw, model, depth=0.01), at_s, later)

    wants = want(kinds, f"rank{late} gpu:{late} rank.job", at_s, at_s + 720, is_alarm=is_alarm)
    conditions = {late: clock(at_s, left)} if clock else None
    change = lambda actors: [*actors, *beside(draw, late, at_s)]
    given: Any = {"conditions": conditions, "disturb": disturb(draw), "change": change} | more
    return team(seed, [board] * size, does, mib_of(board, 0.7), at_s + 840, wants, **given)


def _clocked(**reasons: Any) -> Callable[[float, float], Conditions]:
    return lambda at_s, left: from_then(at_s, clock=left, **reasons)


# --- one board is slower --------------------------------------------------------------------------------------------
def cap_of_power_on_one_board(seed: int) -> Scene:
    """One of eight H100 caps its power far below its limit, by a wrong sensor; it is at two thirds of its clock, its peers wait."""
    slow = _clocked(reasons=("power cap",))
    return _held_up(seed, "k5slow1", H100, 8, (0.64, 0.74), clock=slow)


def lock_of_a_clock_left_from_a_test(seed: int) -> Scene:
    """A test left the clock of one of four V100 locked at 70 %; the job was always slow since gputop looks."""
    slow = lambda at_s, left: from_then(0, clock=left, reasons=("applications clocks",))
    return _held_up(seed, "k5slow2", V100, 4, (0.66, 0.75), work=CNN, at=(0, 0), clock=slow)


def board_at_half_of_its_clock_for_no_reason(seed: int) -> Scene:
    """One of eight B200 runs at half of its clock, its driver names no reason, and the job loses half: an alarm."""
    return _held_up(seed, "k5slow3", B200, 8, (0.47, 0.56), clock=_clocked(), is_alarm=True)


def hot_board_of_a_job(seed: int) -> Scene:
    """One of eight A100 is throttled for heat; the seven others poll for it in every step."""
    slow = _clocked(reasons=("software thermal",))
    more: Any = {"kinds": "straggler thermal", "allows": "straggler thermal"}
    return _held_up(seed, "k5slow4", A100, 8, (0.6, 0.72), clock=slow, **more)


# --- one rank has more to do ----------------------------------------------------------------------------------------
def expert_that_gets_most_tokens(seed: int) -> Scene:
    """The router sends most tokens to the experts of one of four GB200; all others wait for a third of each step."""
    return _held_up(seed, "k5slow5", GB200, 4, (0.63, 0.72))


def domain_with_most_of_the_particles(seed: int) -> Scene:
    """One of four ranks of a simulation on A100 of 40 GB has most of the particles, and its peers poll for it."""
    more: Any = {"work": FP64, "launcher": "mpirun", "command": "./plasma -i shock.nml"}
    return _held_up(seed, "k5slow6", A100_40, 4, (0.62, 0.72), **more)


def bucket_of_the_longest_texts(seed: int) -> Scene:
    """One of eight H200 gets the bucket of the longest texts since this epoch: its peers wait for half of each step: an alarm."""
    return _held_up(seed, "k5slow7", H200, 8, (0.48, 0.57), is_alarm=True)


# --- the host of one rank -------------------------------------------------------------------------------------------
def rank_on_a_crowded_core(seed: int) -> Scene:
    """The main thread of one of four ranks on RTX 5090 shares its core with a backup, and comes late in each step."""
    return _held_up(seed, "k5slow8", RTX_5090, 4, (0.58, 0.7), _later, work=LORA, allows="launch~ input~")


def rank_that_tokenizes_for_all(seed: int) -> Scene:
    """Rank by rank the job on eight L40S is alike, but one writes all the logs and metrics and comes late by a third."""
    return _held_up(seed, "k5slow9", L40S, 8, (0.62, 0.7), _later, work=CNN, allows="launch~ input~")


def loaders_of_one_rank_on_a_slow_disk(seed: int) -> Scene:
    """The loaders of one of four ranks on A100 read from a disk that fails slowly; its board waits, and so do its peers."""

    def slow(draw: Draw, rank: int, at_s: float) -> Sequence[Actor]:
        owner = Actor(name=f"rank{rank}", command="python -u train.py --config configs/base.yaml")
        return loaders(owner, 4, turns(Activity(cpu=28), at_s, Activity(cpu=9, state="D")))

    return _held_up(seed, "k5slow10", A100, 4, (0.58, 0.7), _starved, work=CNN, beside=slow, allows="input")


# --- a neighbour, and bad readings ----------------------------------------------------------------------------------
def notebook_on_the_board_of_a_rank(seed: int) -> Scene:
    """Carl runs an experiment on the board of one of four ranks on 3090; the job waits for that rank in every step."""

    def carl(draw: Draw, rank: int, at_s: float) -> Sequence[Actor]:
        work = script(draw.work(CNN).at(0.65))
        return [program("carl", "python try.py", rank, work, mib_of(RTX_3090, 0.15), user="carl", from_s=at_s, **BATCH)]

    return _held_up(seed, "k5slow11", RTX_3090, 4, (0.58, 0.68), work=LORA, beside=carl)


def slow_board_behind_bad_readings(seed: int) -> Scene:
    """One of eight H100 without profiling is at two thirds of its clock; power is late, zeros are read, samples are lost."""
    bad = lambda draw: [
        late_power(draw.seed(), 0.1),
        bad_process_zeros(draw.seed(), 0.02),
        often_gaps(draw.seed(), each_s=80, from_s=3, to_s=9),
    ]
    more: Any = {"clock": _clocked(), "disturb": bad, "launcher": "srun"}
    return _held_up(seed, "k5slow12", H100.without(GPM), 8, (0.6, 0.7), **more)


def slow_board_in_a_coarse_recording(seed: int) -> Scene:
    """One of eight H200 runs at 65 % of its clock since a reset of its neighbour; there is a sample in five seconds."""
    return _held_up(seed, "k5slow13", H200, 8, (0.6, 0.7), clock=_clocked(), interval_s=5.0)
