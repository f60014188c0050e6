"""Boards that the power brake slows down: the supply of power asks for it."""

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP64, LLM, LORA, PREFILL, Activity
from detector_benchmark.independent.boards import A6000, B200, H100_PCIE, H200, L4, L40S, T4, Board
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import faults, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import train
from detector_benchmark.independent.world import World

_REASONS = ("hardware slowdown", "power brake")


def _from(at_s: float, clock: float, *, on_s: float = 1.0, period_s: float = 1.0) -> Conditions:
    """Return a brake that is on for some seconds of each period."""
    held = Condition(clock=clock, reasons=_REASONS)
    return lambda t_s: held if t_s >= at_s and (t_s - at_s) % period_s < on_s else GOOD


def _alone(seed: int, name: str, board: Board, work: Activity, *, on_s: float = 1.0, period_s: float = 1.0) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(200, 700)
    brake = _from(at_s, draw.between(0.3, 0.65), on_s=on_s, period_s=period_s)
    main = program("main", "python job.py", 0, draw.work(work), level(draw.mib(board)), terminal=0)
    return Scene(
        world=World([board], [main], seed=seed, conditions={0: brake}),
        until_s=at_s + 700,
        wants=[want("brake", "main gpu:0", at_s, at_s + 600)],
    )


def undersized_supply_of_a_workstation(seed: int) -> Scene:
    """The power supply of a workstation is too small for an A6000 under full load: it brakes again and again."""
    return _alone(seed, "brake4", A6000, DIFFUSION, on_s=20, period_s=30)


def riser_cable_of_an_l40s(seed: int) -> Scene:
    """A damaged riser cable lets an L40S brake for as long as it works."""
    return _alone(seed, "brake5", L40S, PREFILL)


def rack_reaches_its_limit(seed: int) -> Scene:
    """The distribution unit of a rack is at its limit: an H200 brakes for 40 s of each minute."""
    return _alone(seed, "brake6", H200, LLM, on_s=40, period_s=60)


def brake_of_a_small_board(seed: int) -> Scene:
    """An L4 in a server brakes, as the firmware of the server takes it for a board of 75 W without a cable."""
    return _alone(seed, "brake7", L4, LORA)


def brake_seen_through_the_bits_alone(seed: int) -> Scene:
    """A T4 has no counters of the time: the bits alone say that its power brake is on; some readings fail."""
    scene = _alone(seed, "brake8", T4, CNN)
    draw = Draw(seed, "brake8")
    bad = (
        faults(draw.seed(), 0.03, "clocks_event_reasons", "power_average_w"),
        often_gaps(draw.seed(), each_s=90, from_s=2, to_s=6),
    )
    return Scene(world=scene.world, until_s=scene.until_s, wants=scene.wants, disturbances=bad)


def two_boards_on_one_cable_brake(seed: int) -> Scene:
    """Two of four H100 PCIe share a cable and brake together in a solver; the other two wait for them."""
    draw = Draw(seed, "brake9")
    at_s, work = draw.between(200, 500), draw.work(FP64)
    brake = _from(at_s, draw.between(0.45, 0.6))
    actors = ranks(range(4), lambda rank: work, level(31000), launcher="mpirun", command="./qmc")
    return Scene(
        world=World([H100_PCIE] * 4, actors, seed=seed, conditions={1: brake, 2: brake}),
        until_s=at_s + 700,
        wants=[want("brake", "rank1 rank2 gpu:1 gpu:2", at_s, at_s + 600)],
        allows=allow("straggler"),
    )


def whole_node_brakes_in_turns(seed: int) -> Scene:
    """A node with four B200 brakes whenever all of them work at once: for 10 s of each 25 s."""
    draw = Draw(seed, "brake10")
    at_s, work = draw.between(200, 500), train(draw.work(LLM), step_s=3)
    brake = _from(at_s, 0.5, on_s=10, period_s=25)
    actors = ranks(range(4), lambda rank: work, level(120_000))
    return Scene(
        world=World([B200] * 4, actors, seed=seed, conditions=dict.fromkeys(range(4), brake)),
        until_s=at_s + 700,
        wants=[want("brake", " ".join(f"rank{n} gpu:{n}" for n in range(4)), at_s, at_s + 600)],
        allows=allow("straggler~"),
    )
