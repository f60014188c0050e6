"""Boards that are too hot, and slower for it."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP32, FP64, LLM, LORA, PREFILL, RENDER, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A10G,
    A100_40,
    A6000,
    GB200,
    GTX_1080_TI,
    H100,
    H200,
    L4,
    LAPTOP_4070,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import faults, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import alone, from_then, jammed, mib_of, team
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import train

_Make = Callable[[Draw, float, float], Conditions]  # of the dice, the time, and the watts of the work


def _too_warm(board: Board, low_c: float, high_c: float) -> _Make:
    """Weaken a cooler, so that its board would come to some degrees above its limit."""

    def conditions(draw: Draw, at_s: float, watts: float) -> Conditions:
        goal_c = board.slowdown_c + draw.between(low_c, high_c)
        return from_then(at_s, cooling=board.kelvin_per_w * watts / (goal_c - board.ambient_c))

    return conditions


def _hot(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    make: _Make | None = None,
    *,
    within_s: float = 420,
    does: Callable[[Part], Part] = lambda work: work,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    """Let a board work hard; from some time on it cannot get rid of its heat."""
    draw = Draw(seed, name)
    at_s = draw.between(180, 400)
    hard = draw.work(work, level=1.06)
    watts = board.context_w + min(0.97, hard.share) * (board.limit_w - board.context_w)
    bad = (make or _too_warm(board, 10, 24))(draw, at_s, watts)
    wants = want("thermal", "gpu:0 job", at_s, at_s + within_s)
    part = does(rippling(draw, drifting(draw, hard, depth=0.02)))
    given: Any = {"conditions": {0: bad}, "actors": beside, "disturb": disturb(draw)} | more
    return alone(seed, board, part, mib_of(board, 0.6), at_s + within_s + 120, wants, **given)


# --- coolers and fans -----------------------------------------------------------------------------------------------
def fans_of_a_gaming_board_stopped(seed: int) -> Scene:
    """The fans of an RTX 5090 stopped; it draws pictures at its limit of heat, with a desktop beside."""
    return _hot(seed, "k5heat1", RTX_5090, DIFFUSION, beside=desktop())


def laptop_without_air(seed: int) -> Scene:
    """A laptop with an RTX 4070 lies on a blanket; its board is throttled for heat in every training."""
    return _hot(seed, "k5heat2", LAPTOP_4070, LORA, _too_warm(LAPTOP_4070, 4, 12), beside=desktop())


def old_board_with_dry_paste(seed: int) -> Scene:
    """The paste of a GTX 1080 Ti dried out over eight years; it reaches its limit in some minutes."""
    return _hot(seed, "k5heat3", GTX_1080_TI, FP32)


def fan_wall_with_two_dead_fans(seed: int) -> Scene:
    """Two fans of a wall are dead: an H200 behind them trains above its limit, and its hardware brakes too."""
    return _hot(seed, "k5heat4", H200, LLM, _too_warm(H200, 26, 44))


def passive_board_in_a_tower(seed: int) -> Scene:
    """A passive A10G was put into a tower without a duct; it throttles in each batch of some minutes."""
    return _hot(seed, "k5heat5", A10G, PREFILL)


def blanking_plate_that_is_missing(seed: int) -> Scene:
    """A missing plate lets the air by-pass an L4; it throttles lightly, and for good."""
    return _hot(seed, "k5heat6", L4, CNN, _too_warm(L4, 4, 9))


# --- the room -------------------------------------------------------------------------------------------------------
def air_conditioning_that_failed(seed: int) -> Scene:
    """The air conditioning failed: the air in front of a T4 gets warmer by two degrees a minute, until it throttles."""

    def room(draw: Draw, at_s: float, watts: float) -> Conditions:
        most_c = T4.slowdown_c + 14 - T4.ambient_c - T4.kelvin_per_w * watts
        return lambda t_s: Condition(warmer_c=min(most_c, max(0.0, (t_s - at_s) / 30)))

    return _hot(seed, "k5heat7", T4, CNN, room, within_s=1200, interval_s=2.0)


def loop_of_water_that_is_blocked(seed: int) -> Scene:
    """A blocked loop of water lets all four GB200 of a tray throttle in a training of four ranks."""
    draw = Draw(seed, "k5heat8")
    at_s = draw.between(200, 380)
    work = train(draw.work(LLM), step_s=0.7)
    bad = {n: from_then(at_s, cooling=draw.between(0.55, 0.68)) for n in range(4)}
    wants = want("thermal", "gpu:0 gpu:1 gpu:2 gpu:3", at_s, at_s + 420)
    more: Any = {"conditions": bad, "allows": "straggler", "launcher": "srun"}
    return team(seed, [GB200] * 4, lambda rank: rippling(draw, work), mib_of(GB200, 0.6), at_s + 540, wants, **more)


# --- what the driver names ------------------------------------------------------------------------------------------
def hot_memory_under_a_cool_chip(seed: int) -> Scene:
    """The memory of a 3090 is too hot while its chip is cool: the driver names software thermal, the clock falls by half."""
    named = lambda draw, at_s, watts: from_then(at_s, clock=0.5, reasons=("software thermal",))
    return _hot(seed, "k5heat9", RTX_3090, LORA, named)


def spells_of_heat_in_a_solver(seed: int) -> Scene:
    """A V100 throttles for heat in 40 s of each 90, whenever its solver comes to the hard part, and works in the others."""

    def spells(draw: Draw, at_s: float, watts: float) -> Conditions:
        hot = Condition(clock=0.6, reasons=("software thermal",))
        return lambda t_s: hot if t_s >= at_s and (t_s - at_s) % 90 < 40 else GOOD

    return _hot(seed, "k5heat10", V100, FP64, spells, within_s=600)


# --- seen badly -----------------------------------------------------------------------------------------------------
def heat_of_renders_with_rests(seed: int) -> Scene:
    """An A6000 renders frames of fifty seconds with rests of four; since its filter is clogged it throttles in each of them."""
    turns = lambda work: cycle((50, work), (4, jammed(60, "R")))
    return _hot(seed, "k5heat11", A6000, RENDER, does=turns, disturb=lambda draw: [late_power(draw.seed(), 0.1)])


def heat_seen_through_gaps(seed: int) -> Scene:
    """An A100 of 40 GB throttles since its air duct fell off; samples and temperatures are missing at times."""
    bad = lambda draw: [
        often_gaps(draw.seed(), each_s=70, from_s=3, to_s=10),
        faults(draw.seed(), 0.05, "temperature_c", "power_average_w"),
    ]
    return _hot(seed, "k5heat12", A100_40, LLM, disturb=bad)


def heat_in_a_coarse_recording(seed: int) -> Scene:
    """An H100 throttles behind a blocked inlet; the recording has a sample in ten seconds."""
    return _hot(seed, "k5heat13", H100, LLM, _too_warm(H100, 15, 30), interval_s=10.0, within_s=600)
