"""Boards that are warm, capped or slowed for a moment, and in order."""

from collections.abc import Callable
from typing import Any

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP32, FP64, LLM, LORA, STENCIL, Activity
from detector_benchmark.independent.boards import A100, A6000, B200, H100, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import late_power
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, scene
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, train

_BATCH: Any = {"variables": {}, "terminal": 0}


def _warm(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    condition: Callable[[Draw], Conditions],
    *,
    does: Callable[[Part], Part] = lambda work: work,
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    busy = rippling(draw, drifting(draw, draw.work(work, level=1.04), depth=0.03))
    actor = program("job", "python train.py", 0, does(busy), mib_of(board, 0.6), **_BATCH)
    return scene(seed, [board], [actor], 1200, conditions={0: condition(draw)}, **more)


def _blips(draw: Draw, *, each_s: float, low_s: int, high_s: int, reasons: tuple[str, ...], clock: float) -> Conditions:
    """Slow a board for some seconds, about every ``each_s``."""
    spans, at_s = [], 0.0
    while at_s < 1200:
        at_s += draw.about(each_s, 1.3)
        spans.append((at_s, at_s + draw.whole(low_s, high_s)))
    bad = Condition(clock=clock, reasons=reasons)
    return lambda t_s: bad if any(from_s <= t_s < to_s for from_s, to_s in spans) else GOOD


def _cooled_to(board: Board, celsius: float, share: float) -> Conditions:
    """Cool a board so that it comes to a temperature at some share of its limit."""
    good = Condition(cooling=board.kelvin_per_w * share * board.limit_w / (celsius - board.ambient_c))
    return lambda t_s: good


# --- blips ---------------------------------------------------------------------------------------------------------
def thermal_blips_of_some_seconds(seed: int) -> Scene:
    """An H100 names software thermal for three to eight seconds every three minutes, and is at its clock at once."""
    blips = lambda draw: _blips(draw, each_s=190, low_s=3, high_s=8, reasons=("software thermal",), clock=0.9)
    return _warm(seed, "k4warm1", H100, LLM, blips)


def thermal_blips_when_a_job_begins(seed: int) -> Scene:
    """An L4 names software thermal for four to seven seconds whenever its load begins anew, every five minutes."""
    blips = lambda draw: _blips(draw, each_s=300, low_s=4, high_s=7, reasons=("software thermal",), clock=0.85)
    does = lambda work: cycle((280, work), (20, ASLEEP))
    return _warm(seed, "k4warm2", L4, CNN, blips, does=does)


def one_blip_of_the_hardware(seed: int) -> Scene:
    """A 3090 names software thermal for five seconds three times in twenty minutes, at 80 °C."""
    blips = lambda draw: _blips(draw, each_s=380, low_s=4, high_s=6, reasons=("software thermal",), clock=0.92)
    return _warm(seed, "k4warm3", RTX_3090, FP32, blips)


def blips_without_counters(seed: int) -> Scene:
    """A V100 without counters names software thermal in single looks, once in two minutes; power is late at times."""
    blips = lambda draw: _blips(draw, each_s=120, low_s=1, high_s=3, reasons=("software thermal",), clock=0.95)
    return _warm(seed, "k4warm4", V100, STENCIL, blips, disturb=[late_power(seed, 0.1)])


# --- warm, and in order --------------------------------------------------------------------------------------------
def passive_board_close_to_its_limit(seed: int) -> Scene:
    """A T4 works at 80 °C all day, some degrees below its limit, at its full clock."""
    return _warm(seed, "k4warm5", T4, CNN, lambda draw: _cooled_to(T4, draw.between(77, 80), 0.9))


def water_at_forty_degrees(seed: int) -> Scene:
    """A B200 is cooled with warm water and works at 72 °C, at the cap of its power."""
    return _warm(seed, "k4warm6", B200, LLM, lambda draw: _cooled_to(B200, draw.between(68, 73), 1.0))


def workstation_without_much_air(seed: int) -> Scene:
    """An A6000 comes to 82 °C in a workstation and its fan holds it there."""
    return _warm(seed, "k4warm7", A6000, DIFFUSION, lambda draw: _cooled_to(A6000, draw.between(79, 83), 0.97))


# --- slow for other reasons ----------------------------------------------------------------------------------------
def cap_of_the_power_all_the_time(seed: int) -> Scene:
    """Eight H100 are at the cap of their power all the time, as large trainings are."""
    draw = Draw(seed, "k4warm8")
    work = train(draw.work(LLM, level=1.1), step_s=0.7)
    return scene(
        seed, [H100] * 8, ranks(range(8), lambda rank: rippling(draw, work), mib_of(H100, 0.8)), 900, interval_s=2
    )


def clock_that_an_operator_locked(seed: int) -> Scene:
    """An operator locked the clock of an A100 at 70 %, and the driver gives the setting as the reason."""
    locked = Condition(clock=0.7, reasons=("applications clocks",))
    return _warm(seed, "k4warm9", A100, FP64, lambda draw: lambda t_s: locked)


def lower_cap_of_the_power(seed: int) -> Scene:
    """A 4090 is capped far below its limit by its user; its clock is at 80 % for that, at 60 °C."""
    capped = Condition(clock=0.8, reasons=("power cap",))
    return _warm(seed, "k4warm10", RTX_4090, LORA, lambda draw: lambda t_s: capped)


def heat_of_a_test_that_ends(seed: int) -> Scene:
    """An L40S is heated to 84 °C by a load of two minutes, never throttles, and cools down for ten."""
    does = lambda work: cycle((120, work), (600, ASLEEP))
    return _warm(
        seed, "k4warm11", L40S, FP32, lambda draw: _cooled_to(L40S, 83, 0.97), does=does, allows="idle~ stalled~"
    )
