"""Boards that lower their clocks because of heat, and boards that only look like it."""

from detector_benchmark.independent.activity import FP32, FP64, IDLE, LLM, LORA
from detector_benchmark.independent.boards import A100, A6000, H100, RTX_3090, V100
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import cycle, level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World


def _from(at_s: float, condition: Condition) -> Conditions:
    return lambda t_s: condition if t_s >= at_s else GOOD


def _blips(*spans: tuple[float, float], clock: float = 0.9, reason: str = "software thermal") -> Conditions:
    blip = Condition(clock=clock, reasons=(reason,), warmer_c=6)
    return lambda t_s: blip if any(at <= t_s < at + length for at, length in spans) else GOOD


def air_of_a_rack_is_too_warm(seed: int) -> Scene:
    """The air of a rack warms up: one of eight boards reaches its limit in a training, and stays there."""
    actors = ranks(range(8), lambda rank: LLM, level(60000))
    world = World([H100] * 8, actors, seed=seed, conditions={2: _from(240, Condition(cooling=0.6, warmer_c=8))})
    return Scene(
        world=world,
        until_s=900,
        wants=[want("thermal", "gpu:2 rank2", 240, 700)],
        allows=allow("straggler", "gpu:2 rank2"),
    )


def hot_but_below_the_limit(seed: int) -> Scene:
    """A board computes at 80 °C for twenty minutes. Its limit is 90, and its clocks stay."""
    world = World(
        [A6000],
        [program("sim", "./sim", 0, FP64, level(9000))],
        seed=seed,
        conditions={0: lambda t_s: Condition(cooling=0.75, warmer_c=2)},
    )
    return Scene(world=world, until_s=1200)


def throttling_without_counters(seed: int) -> Scene:
    """A V100 has no counters of throttling, only the reasons of the moment; its cooler is full of dust."""
    world = World(
        [V100],
        [program("train", "python train.py", 0, FP32, level(9000))],
        seed=seed,
        conditions={0: _from(200, Condition(cooling=0.5))},
    )
    return Scene(world=world, until_s=900, wants=[want("thermal", "gpu:0 train", 200, 620)])


def one_slowdown_at_the_start(seed: int) -> Scene:
    """A hardware slowdown for two seconds at the start of a heavy load, once."""
    actors = ranks(range(4), lambda rank: cycle((60, IDLE), (600, LORA)))
    world = World([A100] * 4, actors, seed=seed, conditions={1: _blips((61, 2), clock=0.6, reason="hardware slowdown")})
    return Scene(world=world, until_s=700)


def two_boards_beside_each_other(seed: int) -> Scene:
    """The upper of two boards breathes the air of the lower one, and throttles all the time."""
    actors = [program(f"job{n}", f"python job.py {n}", n, FP32, level(18000)) for n in range(2)]
    world = World([RTX_3090] * 2, actors, seed=seed, conditions={1: _from(180, Condition(cooling=0.55, warmer_c=6))})
    return Scene(world=world, until_s=900, wants=[want("thermal", "gpu:1 job1", 180, 640)])


def clocks_locked_by_the_operator(seed: int) -> Scene:
    """The operator locked the clocks of four boards at 70 %: lower than they could be, as intended."""
    held = lambda t_s: Condition(clock=0.7, reasons=("application clocks",))
    world = World([A100] * 4, ranks(range(4), lambda rank: LORA), seed=seed, conditions=dict.fromkeys(range(4), held))
    return Scene(world=world, until_s=900)
