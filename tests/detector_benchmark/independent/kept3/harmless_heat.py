"""Warm boards, boards at their power limit, and short dips of the clock, as they should be."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, IDLE, LLM, LORA, STENCIL, Activity
from detector_benchmark.independent.boards import A100, A6000, B200, H100, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, scene
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import train


def _warm(
    seed: int,
    draw: Draw,
    board: Board,
    does: Part,
    condition: Conditions | None = None,
    *,
    until_s: float = 1500,
    **more: Any,
) -> Scene:
    actor = program("job", "python train.py", 0, does, mib_of(board, draw.between(0.3, 0.8)))
    return scene(seed, [board], [actor], until_s, conditions={0: condition} if condition else None, **more)


def _at_celsius(board: Board, work: Activity, celsius: float) -> Conditions:
    """Cool a board so that this work holds it at a temperature."""
    watts = min(board.limit_w, board.context_w + work.share * (board.limit_w - board.context_w))
    cooling = board.kelvin_per_w * watts / (celsius - board.ambient_c)
    return lambda t_s: Condition(cooling=cooling)


def _warmer(celsius: float) -> Conditions:
    return lambda t_s: Condition(warmer_c=celsius)


def _dips(every_s: float, for_s: float, clock: float, *reasons: str) -> Conditions:
    return lambda t_s: Condition(clock=clock, reasons=reasons) if t_s % every_s < for_s else GOOD


def at_the_power_limit_for_an_hour(seed: int) -> Scene:
    """A training keeps an H100 at its power limit all the time, with a clock that follows."""
    draw = Draw(seed, "k3warm1")
    return _warm(seed, draw, H100, LLM.but(nv=0, share=1.1))


def warm_but_below_its_limit(seed: int) -> Scene:
    """A training holds an A100 at 74 degrees, well below its limit."""
    draw = Draw(seed, "k3warm2")
    work = draw.work(LLM).but(nv=0)
    return _warm(seed, draw, A100, work, _at_celsius(A100, work, draw.between(70, 76)))


def blips_while_the_fans_are_late(seed: int) -> Scene:
    """At the start of each render the fans are late: three to five seconds of thermal slowdown, each ten minutes."""
    draw = Draw(seed, "k3warm3")
    condition = _dips(600, draw.between(3, 5), 0.9, "software thermal")
    return _warm(seed, draw, RTX_4090, draw.work(DIFFUSION), condition)


def limit_lowered_for_all(seed: int) -> Scene:
    """A cluster runs all of its eight A100 at a lower clock to save power: even, and slow by decision."""
    draw = Draw(seed, "k3warm4")
    work = train(draw.work(LLM), step_s=4)
    held = lambda t_s: Condition(clock=0.8, reasons=("application clocks",))
    actors = ranks(range(8), lambda rank: work, mib_of(A100, 0.7))
    return scene(seed, [A100] * 8, actors, 1500, conditions=dict.fromkeys(range(8), held))


def empty_boards_at_rest(seed: int) -> Scene:
    """Four boards have nothing to do: low clocks, and the reason idle."""
    return scene(seed, [L40S, L40S, T4, T4], [], 1200)


def bursts_warm_and_cool_a_board(seed: int) -> Scene:
    """Work of two minutes and rest of one let an RTX 3090 swing between 45 and 75 degrees."""
    draw = Draw(seed, "k3warm6")
    return _warm(seed, draw, RTX_3090, cycle((120, draw.work(CNN).but(nv=0)), (60, IDLE.but(cpu=3))))


def outlet_boards_are_warmer(seed: int) -> Scene:
    """In a node of eight H100 the boards at the outlet are eight degrees warmer than those at the inlet."""
    draw = Draw(seed, "k3warm7")
    work = train(draw.work(LLM), step_s=4)
    conditions: dict[int, Conditions] = {n: (_warmer(8.0 if n >= 4 else 0.0)) for n in range(8)}
    return scene(seed, [H100] * 8, ranks(range(8), lambda rank: work, mib_of(H100, 0.7)), 1500, conditions=conditions)


def power_limit_on_a_small_board(seed: int) -> Scene:
    """An L4 decodes at its limit of 72 W all day, at a low clock, for lack of power and not by heat."""
    draw = Draw(seed, "k3warm8")
    return _warm(seed, draw, L4, DECODE.but(share=1.15), lambda t_s: Condition(cooling=1.1))


def memory_bound_at_low_power(seed: int) -> Scene:
    """A stencil is limited by memory: an A6000 at 55 % of its power, full clock, cool."""
    draw = Draw(seed, "k3warm9")
    return _warm(seed, draw, A6000, draw.work(STENCIL))


def clocks_synchronised_for_a_moment(seed: int) -> Scene:
    """Two V100 lower their clock for a second in some minutes, to stay in step."""
    draw = Draw(seed, "k3warm10")
    work = train(draw.work(CNN), step_s=1)
    blip = _dips(draw.between(170, 230), 1.0, 0.95, "sync boost")
    actors = ranks(range(2), lambda rank: work, mib_of(V100, 0.5))
    return scene(seed, [V100] * 2, actors, 1500, conditions={0: blip, 1: blip})


def warm_room_in_summer(seed: int) -> Scene:
    """A B200 in a room that is six degrees too warm works at 70 to 75 degrees, at full clock."""
    draw = Draw(seed, "k3warm11")
    work = draw.work(LORA)
    return _warm(seed, draw, B200, work, _at_celsius(B200, work, 73))


def full_load_without_heat_for_hours(seed: int) -> Scene:
    """A T4 with a good air duct works at its limit at 75 degrees."""
    draw = Draw(seed, "k3warm12")
    work = draw.work(FP32).but(share=0.93)
    return _warm(seed, draw, T4, work, _at_celsius(T4, work, 75))
