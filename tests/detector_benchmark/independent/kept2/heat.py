"""Boards that lower their clocks since they are too hot, or since their power supply asks for it."""

from collections.abc import Callable

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP32, FP64, LLM, LORA, PREFILL, RENDER, Activity
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    B200,
    H100,
    H200,
    L4,
    LAPTOP_4070,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import faults, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.trace import Scene, Want, allow, want
from detector_benchmark.independent.workloads import everyone, saves, train
from detector_benchmark.independent.world import World


def _fails(board: Board, share: float, at_s: float, over_c: float) -> Conditions:
    """Return a cooling that fails, so that this work would settle ``over_c`` above the slowdown temperature."""
    power_w = min(board.limit_w, board.context_w + share * (board.limit_w - board.context_w))
    goal_c = board.slowdown_c + over_c - board.ambient_c
    bad = Condition(cooling=min(1.0, board.kelvin_per_w * power_w / goal_c))
    return lambda t_s: bad if t_s >= at_s else GOOD


def _hot(
    seed: int, name: str, board: Board, work: Activity, over_c: tuple[float, float], *, command: str = "python x.py"
) -> Scene:
    """Return one program on one board whose cooling fails; the heat takes some minutes to build up."""
    draw = Draw(seed, name)
    at_s, does = draw.between(200, 500), draw.work(work)
    cooling = _fails(board, does.share, at_s, draw.between(*over_c))
    main = program("main", command, 0, does, level(draw.mib(board)))
    return Scene(
        world=World([board], [main], seed=seed, conditions={0: cooling}),
        until_s=at_s + 900,
        wants=[_want("main gpu:0", at_s)],
    )


def _want(names: str, at_s: float, kinds: str = "thermal") -> Want:
    return want(kinds, names, at_s, at_s + 600)


def fan_stops_during_a_rendering(seed: int) -> Scene:
    """The fan of an A6000 stops in a rendering: within minutes it is at its limit and at half of its clock."""
    return _hot(seed, "heat1", A6000, RENDER, (10, 25), command="blender -b scene.blend -a")


def dust_in_a_gaming_board(seed: int) -> Scene:
    """An RTX 3090 full of dust throttles in every long training, by some percent of its clock."""
    return _hot(seed, "heat2", RTX_3090, CNN, (6, 12))


def laptop_on_a_blanket(seed: int) -> Scene:
    """A laptop on a blanket: its board reaches the limit after some minutes of image generation."""
    draw = Draw(seed, "heat3")
    does = draw.work(DIFFUSION)
    cooling = _fails(LAPTOP_4070, does.share, 240, draw.between(8, 20))
    main = program("main", "python ComfyUI/main.py", 0, does, level(6000))
    return Scene(
        world=World([LAPTOP_4070], [main, *desktop()], seed=seed, conditions={0: cooling}),
        until_s=1200,
        wants=[_want("main gpu:0", 240)],
    )


def passive_t4_without_air(seed: int) -> Scene:
    """A passive T4 in a desktop case without a fan throttles hard under inference."""
    return _hot(seed, "heat4", T4, PREFILL, (12, 30), command="python serve.py --port 8000")


def l4_in_a_hot_rack(seed: int) -> Scene:
    """The air of a rack is 20 degrees too warm: an L4 stays at its slowdown temperature."""
    draw = Draw(seed, "heat5")
    at_s, does = draw.between(200, 500), draw.work(LORA)
    power_w = L4.context_w + does.share * (L4.limit_w - L4.context_w)
    warmer_c = L4.slowdown_c + 8 - L4.ambient_c - L4.kelvin_per_w * power_w
    warm = Condition(warmer_c=max(10.0, warmer_c))
    main = program("main", "python tune.py", 0, does, level(17000))
    return Scene(
        world=World([L4], [main], seed=seed, conditions={0: lambda t_s: warm if t_s >= at_s else GOOD}),
        until_s=at_s + 900,
        wants=[_want("main gpu:0", at_s)],
    )


def one_of_eight_h100_has_a_loose_heat_sink(seed: int) -> Scene:
    """The heat sink of one of eight H100 is loose: it throttles, and its seven peers wait for it in each step."""
    draw = Draw(seed, "heat6")
    at_s, bad, does = draw.between(300, 600), draw.whole(0, 7), draw.work(LLM)
    cooling = _fails(H100, does.share, at_s, draw.between(8, 18))
    actors = ranks(range(8), lambda rank: train(does, step_s=2), level(66000))
    return Scene(
        world=World([H100] * 8, actors, seed=seed, conditions={bad: cooling}),
        until_s=at_s + 900,
        wants=[_want(f"rank{bad} gpu:{bad}", at_s)],
        allows=allow("straggler"),
    )


def pump_of_a_liquid_cooled_node_fails(seed: int) -> Scene:
    """The pump of a node with four B200 fails: all of them throttle within the same minutes."""
    draw = Draw(seed, "heat7")
    at_s, does = draw.between(300, 600), draw.work(LLM)
    cooling = _fails(B200, does.share, at_s, draw.between(15, 30))
    actors = ranks(range(4), saves(train(does, step_s=9), every_s=300, for_s=15), level(140_000))
    return Scene(
        world=World([B200] * 4, actors, seed=seed, conditions=dict.fromkeys(range(4), cooling)),
        until_s=at_s + 900,
        wants=[_want(everyone(4), at_s)],
        allows=allow("straggler~"),
    )


def old_v100_dries_out(seed: int) -> Scene:
    """The thermal paste of a V100 has dried out: a solver with double precision runs at two thirds of its clock."""
    return _hot(seed, "heat8", V100, FP64, (10, 22), command="./solver case.nml")


def a100_pcie_in_the_wrong_slot(seed: int) -> Scene:
    """An A100 sits behind another board that blows hot air at it, and throttles when both work."""
    draw = Draw(seed, "heat9")
    does = draw.work(FP32)
    cooling = _fails(A100_40, does.share, 250, draw.between(7, 14))
    actors = [program(f"job{n}", f"python job.py {n}", n, does, level(21000)) for n in range(2)]
    return Scene(
        world=World([A100_40] * 2, actors, seed=seed, conditions={1: cooling}),
        until_s=1200,
        wants=[_want("job1 gpu:1", 250)],
    )


def throttling_seen_with_gaps_and_faults(seed: int) -> Scene:
    """An RTX 4090 throttles; gputop loses seconds, and some readings of the temperature fail."""
    scene = _hot(seed, "heat10", RTX_4090, DIFFUSION, (8, 20))
    draw = Draw(seed, "heat10")
    bad = (
        often_gaps(draw.seed(), each_s=60, from_s=2, to_s=8),
        faults(draw.seed(), 0.03, "temperature_c", "power_average_w"),
    )
    return Scene(world=scene.world, until_s=scene.until_s, wants=scene.wants, disturbances=bad)


def driver_holds_the_clocks_below_the_limit(seed: int) -> Scene:
    """The firmware of an H200 holds the clocks at 60 % and says hardware thermal, though the core is cool."""
    draw = Draw(seed, "heat11")
    at_s = draw.between(300, 500)
    held = Condition(clock=0.6, reasons=("hardware slowdown", "hardware thermal"))
    main = program("main", "python infer.py", 0, draw.work(PREFILL), level(101_000))
    return Scene(
        world=World([H200], [main], seed=seed, conditions={0: lambda t_s: held if t_s >= at_s else GOOD}),
        until_s=at_s + 700,
        wants=[_want("main gpu:0", at_s)],
    )


def _brakes(draw: Draw, at_s: float, clock: float) -> Callable[[float], Condition]:
    held = Condition(clock=clock * draw.between(0.9, 1.1), reasons=("hardware slowdown", "power brake"))
    return lambda t_s: held if t_s >= at_s else GOOD


def power_supply_brakes_one_board(seed: int) -> Scene:
    """A power cable of an A100 is loose: the board asserts its power brake and runs at half of its clock."""
    draw = Draw(seed, "brake1")
    at_s = draw.between(200, 600)
    main = program("main", "python train.py", 0, draw.work(LORA), level(50000))
    return Scene(
        world=World([A100], [main], seed=seed, conditions={0: _brakes(draw, at_s, 0.5)}),
        until_s=at_s + 600,
        wants=[_want("main gpu:0", at_s, "brake")],
    )


def power_supply_brakes_a_whole_node(seed: int) -> Scene:
    """One of the power supplies of a node with eight H100 fails: all boards brake to a third of their clocks."""
    draw = Draw(seed, "brake2")
    at_s = draw.between(200, 600)
    work = train(draw.work(LLM), step_s=4)
    actors = ranks(range(8), lambda rank: work, level(70000))
    return Scene(
        world=World([H100] * 8, actors, seed=seed, conditions=dict.fromkeys(range(8), _brakes(draw, at_s, 0.35))),
        until_s=at_s + 600,
        wants=[_want(everyone(8), at_s, "brake")],
        allows=allow("brake straggler~"),
    )


def power_brake_on_an_old_node(seed: int) -> Scene:
    """A V100 without counters of time brakes from the first second on, in a training."""
    draw = Draw(seed, "brake3")
    main = program("main", "python train.py", 0, draw.work(CNN), level(9000))
    return Scene(
        world=World([V100], [main], seed=seed, conditions={0: _brakes(draw, 0, 0.55)}),
        until_s=700,
        wants=[_want("main gpu:0", 0, "brake")],
    )
