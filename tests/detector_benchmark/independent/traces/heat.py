"""Boards that lower their clocks because of heat, and boards that only look like it."""

from detector_benchmark.independent.activity import DIFFUSION, IDLE, LLM, PREFILL, RENDER
from detector_benchmark.independent.boards import H100, L4, RTX_3090, RTX_4090, T4
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import cycle, level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World


def _from(at_s: float, condition: Condition) -> Conditions:
    return lambda t_s: condition if t_s >= at_s else GOOD


def _blips(*spans: tuple[float, float], clock: float = 0.9, reason: str = "software thermal") -> Conditions:
    blip = Condition(clock=clock, reasons=(reason,), warmer_c=6)
    return lambda t_s: blip if any(at <= t_s < at + length for at, length in spans) else GOOD


def fan_of_a_workstation_fails(seed: int) -> Scene:
    """The fan of a 4090 fails while it renders: within minutes it is at its limit, and its clocks fall for good."""
    actors = [program("render", "blender -b film.blend -a", 0, RENDER, level(9000)), *desktop()]
    world = World([RTX_4090], actors, seed=seed, conditions={0: _from(300, Condition(cooling=0.45))})
    return Scene(world=world, until_s=1000, wants=[want("thermal", "gpu:0 render", 300, 700)])


def blips_of_a_few_seconds(seed: int) -> Scene:
    """The hottest of eight boards lowers its clocks for three to eight seconds, four times in twenty minutes."""
    actors = ranks(range(8), lambda rank: LLM)
    world = World([H100] * 8, actors, seed=seed, conditions={0: _blips((200, 3), (480, 8), (700, 5), (1010, 4))})
    return Scene(world=world, until_s=1200, allows=allow("thermal~"))


def passive_board_in_a_desktop(seed: int) -> Scene:
    """A passive T4 sits in a desktop without a fan: it throttles from the third minute of its work on."""
    does = cycle((2000, PREFILL))
    world = World(
        [T4],
        [program("infer", "python infer.py", 0, does, level(5000))],
        seed=seed,
        conditions={0: _from(150, Condition(cooling=0.62))},
    )
    return Scene(world=world, until_s=900, wants=[want("thermal", "gpu:0 infer", 150, 600)])


def power_cap_of_every_busy_board(seed: int) -> Scene:
    """Eight boards train at their power limit: that is normal, and no heat."""
    return Scene(world=World([H100] * 8, ranks(range(8), lambda rank: LLM), seed=seed), until_s=700)


def hot_and_cold_by_turns(seed: int) -> Scene:
    """A board with a bad cooler throttles in each long request, for most of every two minutes."""
    does = cycle((100, DIFFUSION), (20, IDLE))
    world = World(
        [RTX_3090],
        [program("sd", "python txt2img.py --batch", 0, does, level(11000))],
        seed=seed,
        conditions={0: lambda t_s: Condition(cooling=0.42)},
    )
    return Scene(world=world, until_s=1100, wants=[want("thermal", "gpu:0 sd", 0, 900)])


def rare_blips_of_a_small_board(seed: int) -> Scene:
    """An L4 touches its limit for five seconds every six minutes or so."""
    world = World(
        [L4],
        [program("infer", "python infer.py", 0, PREFILL, level(7000))],
        seed=seed,
        conditions={0: _blips((150, 5), (510, 6), (900, 4), (1230, 7))},
    )
    return Scene(world=world, until_s=1400, allows=allow("thermal~"))
