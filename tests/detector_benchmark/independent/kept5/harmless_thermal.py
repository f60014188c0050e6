"""Boards that are warm, capped, or slowed for a moment, and in order."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP32, FP64, LLM, LORA, PREFILL, RENDER, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    B200,
    GH200,
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
from detector_benchmark.independent.disturbances import faults, late_power
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import alone, mib_of, team
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, train
from msgspec.structs import replace


def _warm(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    condition: Callable[[Draw, float], Conditions],
    *,
    does: Callable[[Part], Part] = lambda work: work,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    hard = draw.work(work, level=1.03)
    busy = does(rippling(draw, drifting(draw, hard, depth=0.03)))
    watts = board.context_w + min(0.98, hard.share) * (board.limit_w - board.context_w)
    given: Any = {"conditions": {0: condition(draw, watts)}, "actors": beside, "disturb": disturb(draw)} | more
    return alone(seed, board, busy, mib_of(board, 0.6), 1100, **given)


def _blips(each_s: float, low_s: int, high_s: int, clock: float, *reasons: str) -> Callable[[Draw, float], Conditions]:
    """Slow a board for some seconds, about every ``each_s``."""

    def of(draw: Draw, watts: float) -> Conditions:
        spans, at_s = list[tuple[float, float]](), 0.0
        while at_s < 1200:
            at_s += draw.about(each_s, 1.3)
            spans.append((at_s, at_s + draw.whole(low_s, high_s)))
        bad = Condition(clock=clock, reasons=reasons)
        return lambda t_s: bad if any(from_s <= t_s < to_s for from_s, to_s in spans) else GOOD

    return of


def _held_at(board: Board, low_c: float, high_c: float) -> Callable[[Draw, float], Conditions]:
    """Cool a board so that it comes to a temperature at the power of its work, and not above."""

    def of(draw: Draw, watts: float) -> Conditions:
        goal_c = draw.between(low_c, high_c)
        good = Condition(cooling=board.kelvin_per_w * watts / (goal_c - board.ambient_c))
        return lambda t_s: good

    return of


def _always(**condition: Any) -> Callable[[Draw, float], Conditions]:
    fixed = Condition(**condition)
    return lambda draw, watts: lambda t_s: fixed


# --- blips ----------------------------------------------------------------------------------------------------------
def blips_while_fans_speed_up(seed: int) -> Scene:
    """A GH200 names software thermal for three to seven seconds now and then, until its fans are faster."""
    return _warm(seed, "k5warm1", GH200, LLM, _blips(200, 3, 7, 0.92, "software thermal"))


def blips_at_the_start_of_each_batch(seed: int) -> Scene:
    """An A10G names software thermal for some seconds when its load begins anew, each four minutes."""
    does = lambda work: cycle((225, work), (18, ASLEEP))
    return _warm(seed, "k5warm2", A10G, PREFILL, _blips(245, 3, 6, 0.88, "software thermal"), does=does)


def blips_of_a_gaming_board(seed: int) -> Scene:
    """An RTX 5090 names software thermal in single samples, once in a minute and a half; power is late at times."""
    bad = lambda draw: [late_power(draw.seed(), 0.1)]
    return _warm(seed, "k5warm3", RTX_5090, DIFFUSION, _blips(95, 1, 2, 0.95, "software thermal"), disturb=bad)


def one_brake_of_the_hardware_for_a_second(seed: int) -> Scene:
    """An H100 is slowed by its hardware for a second or two each five minutes, at peaks of its current; nothing is lost."""
    return _warm(seed, "k5warm4", H100, LLM, _blips(300, 1, 2, 0.8, "hardware slowdown"), allows="thermal~ brake~")


# --- warm, and in order ---------------------------------------------------------------------------------------------
def passive_board_at_eighty_degrees(seed: int) -> Scene:
    """An L4 works at 79 °C all day, some degrees below its limit, at its full clock."""
    return _warm(seed, "k5warm5", L4, CNN, _held_at(L4, 76, 80))


def old_board_that_likes_it_warm(seed: int) -> Scene:
    """A T4 works at 80 °C in a full rack, and its clock is what it should be; readings fail at times."""
    bad = lambda draw: [faults(draw.seed(), 0.05, "temperature_c")]
    return _warm(seed, "k5warm6", T4, FP32, _held_at(T4, 77, 80), disturb=bad)


def warm_water_in_summer(seed: int) -> Scene:
    """A B200 is cooled with warm water and works at 73 °C at its limit of power."""
    return _warm(seed, "k5warm7", B200, LLM, _held_at(B200, 69, 74))


def laptop_on_a_table(seed: int) -> Scene:
    """A laptop's RTX 4070 comes to 79 °C on a table, and its fans hold it there, with a desktop beside."""
    return _warm(seed, "k5warm8", LAPTOP_4070, LORA, _held_at(LAPTOP_4070, 75, 80), beside=desktop())


def burn_in_of_two_minutes(seed: int) -> Scene:
    """A 3090 is heated to 84 °C by a test of two minutes, never throttles, and rests for eight."""
    does = lambda work: cycle((120, work), (480, ASLEEP))
    return _warm(
        seed, "k5warm9", RTX_3090, FP32, _held_at(RTX_3090, 82, 85), does=does, allows="idle~ stalled~ thermal~"
    )


# --- slow for other reasons -----------------------------------------------------------------------------------------
def limit_of_power_in_a_small_rack(seed: int) -> Scene:
    """An operator lowered the limit of power of an A100 to 250 W for a small rack; its clock is lower for that, at 50 °C."""
    limited = replace(A100, limit_w=250.0)
    return _warm(seed, "k5warm10", limited, LLM.but(share=1.7), _always())


def clock_locked_for_a_measurement(seed: int) -> Scene:
    """A researcher locked the clock of a V100 at 60 % for a measurement; the driver names the setting."""
    return _warm(seed, "k5warm11", V100, FP64, _always(clock=0.6, reasons=("applications clocks",)))


def limit_of_power_all_day_long(seed: int) -> Scene:
    """Four H200 are at their limit of power all day, as large trainings are, at 65 °C."""
    draw = Draw(seed, "k5warm12")
    work = train(draw.work(LLM, level=1.12), step_s=0.6)
    return team(seed, [H200] * 4, lambda rank: rippling(draw, work), mib_of(H200, 0.8), 900)


def renders_with_a_quiet_fan(seed: int) -> Scene:
    """An A6000 renders at 81 °C, as its fan is set to be quiet; its limit is nine degrees away."""
    return _warm(seed, "k5warm13", A6000, RENDER, _held_at(A6000, 78, 81), interval_s=2.0)
