"""Harmless: boards at their power limit, hot but not throttled, with short blips, or with lower limits by design."""

from detector_benchmark.independent.activity import (
    CNN,
    DIFFUSION,
    FP32,
    FP64,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    RENDER,
    STENCIL,
)
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H200,
    L4,
    LAPTOP_4070,
    RTX_3090,
    RTX_4090,
    T4,
    TITAN_X,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import faults
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import cycle, level
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import train
from detector_benchmark.independent.world import World
from msgspec.structs import replace


def _settles(board: Board, share: float, below_c: float) -> Conditions:
    """Return a cooling with which this work settles some degrees below the slowdown temperature."""
    power_w = min(0.99 * board.limit_w, board.context_w + share * (board.limit_w - board.context_w))
    goal_c = board.slowdown_c - below_c - board.ambient_c
    warm = Condition(cooling=board.kelvin_per_w * power_w / goal_c)
    return lambda t_s: warm


def _blips(at_s: list[float], for_s: float) -> Conditions:
    blip = Condition(clock=0.85, reasons=("software thermal",))
    return lambda t_s: blip if any(at <= t_s < at + for_s for at in at_s) else GOOD


def capped_at_700_watts(seed: int) -> Scene:
    """Eight H100 train at their power limit: the clocks are lower than the best, the reason is the power cap."""
    draw = Draw(seed, "cool1")
    work = draw.work(LLM, level=1.15)
    actors = ranks(range(8), lambda rank: train(work, step_s=3), level(71000))
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=1200)


def power_limit_is_halved_on_purpose(seed: int) -> Scene:
    """An operator runs four RTX 3090 at 220 of 350 W to save power: always at the cap, at a lower clock, all equal."""
    draw = Draw(seed, "cool2")
    board = replace(RTX_3090, limit_w=draw.between(210, 240))
    work = draw.work(LORA, level=1.4)
    actors = ranks(range(4), lambda rank: train(work, step_s=1), level(19000), launcher="spawn")
    return Scene(world=World([board] * 4, actors, seed=seed), until_s=1200)


def hot_but_not_throttled(seed: int) -> Scene:
    """A T4 works at 76 to 80 degrees for hours, below its limit of 87; no clock is lowered."""
    draw = Draw(seed, "cool3")
    work = draw.work(PREFILL)
    main = program("main", "python infer.py", 0, work, level(9000))
    world = World([T4], [main], seed=seed, conditions={0: _settles(T4, work.share, draw.between(7, 11))})
    return Scene(world=world, until_s=1400)


def warm_workstation_in_summer(seed: int) -> Scene:
    """A workstation's board renders at 80 of 90 degrees in a warm room; loads of 40 s with pauses of 10 s."""
    draw = Draw(seed, "cool4")
    work = draw.work(RENDER)
    main = program("main", "blender -b a.blend -a", 0, cycle((40, work), (10, IDLE.but(cpu=90))), level(8000))
    world = World([A6000], [main, *desktop()], seed=seed, conditions={0: _settles(A6000, work.share, 10)})
    return Scene(world=world, until_s=1400)


def short_thermal_blips(seed: int) -> Scene:
    """The driver reports a thermal reason for 3 to 6 s some times an hour, when the fans lag behind the load."""
    draw = Draw(seed, "cool5")
    main = program("main", "python sd_batch.py", 0, draw.work(DIFFUSION), level(12000))
    at_s = [draw.between(100, 1700) for _ in range(4)]
    world = World([RTX_4090], [main], seed=seed, conditions={0: _blips(at_s, draw.between(3, 6))})
    return Scene(world=world, until_s=1900, allows=allow("thermal~"))


def idle_board_at_a_low_clock(seed: int) -> Scene:
    """Four A100 without any process: low clocks and 58 W, as they should have."""
    draw = Draw(seed, "cool6")
    main = program("main", "python train.py", 0, draw.work(CNN).but(nv=0), level(20000))
    return Scene(world=World([A100] * 4, [main], seed=seed), until_s=1100)


def application_clocks_are_set_lower(seed: int) -> Scene:
    """Eight B200 run at fixed application clocks of 80 % so that runs compare: the same on all of them."""
    draw = Draw(seed, "cool7")
    held = Condition(clock=0.8, reasons=("application clocks",))
    work = train(draw.work(LLM, level=0.8), step_s=2)
    actors = ranks(range(8), lambda rank: work, level(120_000))
    world = World([B200] * 8, actors, seed=seed, conditions=dict.fromkeys(range(8), lambda t_s: held))
    return Scene(world=world, until_s=1200)


def power_swings_with_the_work(seed: int) -> Scene:
    """A solver swings between 250 and 600 W in periods of a minute: kernels of memory and of arithmetic in turn."""
    draw = Draw(seed, "cool8")
    does = cycle((30, draw.work(STENCIL)), (30, draw.work(FP64)))
    main = program("main", "./lbm", 0, does, level(60000))
    return Scene(world=World([H200], [main], seed=seed), until_s=1200)


def small_boards_at_their_cap(seed: int) -> Scene:
    """An L4 is at its 72 W under any real load: always capped, at 60 to 70 degrees, and healthy."""
    draw = Draw(seed, "cool9")
    main = program("main", "python tune.py", 0, draw.work(LORA, level=1.3), level(15000))
    return Scene(world=World([L4], [main], seed=seed), until_s=1200)


def laptop_on_its_battery(seed: int) -> Scene:
    """A laptop on its battery holds its board at 45 % of the clock by a power limit; the user knows it."""
    draw = Draw(seed, "cool10")
    held = Condition(clock=0.45, reasons=("power cap",))
    main = program("main", "python notebook_run.py", 0, draw.work(CNN), level(3900))
    world = World([LAPTOP_4070], [main, *desktop()], seed=seed, conditions={0: lambda t_s: held})
    return Scene(world=world, until_s=1100)


def temperature_that_cannot_be_read(seed: int) -> Scene:
    """Every tenth reading of the temperature of an old board fails; it is at 65 degrees."""
    draw = Draw(seed, "cool11")
    main = program("main", "python train.py", 0, draw.work(FP32, level=0.8), level(7000))
    bad = faults(draw.seed(), 0.1, "temperature_c", "temperature_margin_c")
    return Scene(world=World([TITAN_X], [main], seed=seed), until_s=1200, disturbances=[bad])
