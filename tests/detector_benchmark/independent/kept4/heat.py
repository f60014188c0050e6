"""Boards that are too hot, and slow for it."""

from collections.abc import Callable
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, FP64, LLM, LORA, STENCIL, Activity
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_PCIE,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.sketches import from_then, mib_of, scene
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import train

_BATCH: Any = {"variables": {}, "terminal": 0}


def _cooks(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    *,
    margin_c: tuple[float, float] = (9, 20),
    condition: Callable[[float], Conditions] | None = None,
    disturb: Any = (),
    interval_s: float = 1.0,
    beside: Any = (),
    command: str = "python train.py",
) -> Scene:
    """Let a board work at high load; from some time on its cooling is too weak by some degrees, for good."""
    draw = Draw(seed, name)
    at_s = draw.between(200, 420)
    hard = draw.work(work, level=1.08)
    heat = board.kelvin_per_w * min(0.985, hard.share + 0.1) * board.limit_w
    cooling = heat / (board.slowdown_c + draw.between(*margin_c) - board.ambient_c)
    actor = program("job", command, 0, rippling(draw, drifting(draw, hard, depth=0.02)), mib_of(board, 0.6), **_BATCH)
    bad = condition(at_s) if condition else from_then(at_s, cooling=cooling)
    wants = want("thermal", "gpu:0 job", at_s, at_s + 420)
    return scene(
        seed,
        [board],
        [*beside, actor],
        at_s + 540,
        wants,
        allows="straggler~",
        conditions={0: bad},
        disturb=disturb,
        interval_s=interval_s,
    )


def fan_of_a_server_failed(seed: int) -> Scene:
    """A fan failed in front of an H100 in training; it is throttled for heat, and stays so."""
    return _cooks(seed, "k4heat1", H100, LLM)


def cooler_full_of_dust(seed: int) -> Scene:
    """The cooler of an RTX 4090 is full of dust; an hour of pictures is too much for it."""
    return _cooks(seed, "k4heat2", RTX_4090, DIFFUSION, beside=desktop())


def passive_board_in_a_case_without_a_fan(seed: int) -> Scene:
    """A passive L4 sits in a case without a fan in front of it and throttles in every job."""
    return _cooks(seed, "k4heat3", L4, CNN)


def small_board_in_a_closed_rack(seed: int) -> Scene:
    """A T4 in a closed rack reaches its limit under an encoder of sentences."""
    return _cooks(seed, "k4heat4", T4, FP32)


def cooling_loop_without_water(seed: int) -> Scene:
    """The pump of a loop stops: a B200 is held at a fraction of its clock."""
    return _cooks(seed, "k4heat5", B200, LLM, margin_c=(20, 40))


def air_of_the_neighbour(seed: int) -> Scene:
    """A 3090 breathes the air of its neighbour and throttles, with gaps in the samples."""
    return _cooks(seed, "k4heat6", RTX_3090, LORA, disturb=[often_gaps(seed, each_s=60, from_s=3, to_s=8)])


def hot_aisle_in_summer(seed: int) -> Scene:
    """A V100 without counters in a hot aisle is throttled under a solver."""
    return _cooks(seed, "k4heat7", V100, STENCIL)


def paste_that_dried_out(seed: int) -> Scene:
    """The paste of an A6000 dried out; gputop looks every two seconds, and power is late at times."""
    return _cooks(seed, "k4heat8", A6000, FP32, interval_s=2.0, disturb=[late_power(seed, 0.1)])


def blocked_inlet_of_a_pcie_board(seed: int) -> Scene:
    """A cable hangs in front of the inlet of an H100 PCIe; the hardware brakes as well."""
    return _cooks(seed, "k4heat9", H100_PCIE, LLM, margin_c=(25, 45))


def throttled_in_turns(seed: int) -> Scene:
    """An L40S throttles for half of each minute for heat, and recovers in the other half, for good."""

    def condition(at_s: float) -> Conditions:
        hot = Condition(clock=0.62, reasons=("software thermal",))
        return lambda t_s: hot if t_s >= at_s and t_s % 60 < 32 else GOOD

    return _cooks(seed, "k4heat10", L40S, DECODE, condition=condition)


def eight_boards_of_a_hot_node(seed: int) -> Scene:
    """The fans of a node with eight A100 run at half speed; all its boards throttle in a training."""
    draw = Draw(seed, "k4heat11")
    at_s = draw.between(200, 400)
    work = train(draw.work(LLM), step_s=0.8)
    actors = ranks(range(8), lambda rank: rippling(draw, work), mib_of(A100, 0.7))
    bad = {n: from_then(at_s, cooling=draw.between(0.42, 0.5)) for n in range(8)}
    wants = want("thermal", " ".join(f"gpu:{n}" for n in range(8)), at_s, at_s + 420)
    return scene(seed, [A100] * 8, actors, at_s + 540, wants, conditions=bad, allows="straggler")


def brake_for_the_heat_of_memory(seed: int) -> Scene:
    """The memory of an A100 is too hot: the driver names software thermal at 70 °C of the chip, and the clock falls."""
    bad = lambda at_s: from_then(at_s, clock=0.6, reasons=("software thermal",))
    return _cooks(seed, "k4heat12", A100, FP64, condition=bad)
