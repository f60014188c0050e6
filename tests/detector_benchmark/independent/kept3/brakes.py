"""Boards that the power supply holds back."""

from detector_benchmark.independent.activity import CNN, FP32, LLM, LORA, Activity
from detector_benchmark.independent.boards import A100, A6000, H100, L40S, T4, V100, Board
from detector_benchmark.independent.circuit import Condition
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.sketches import from_then, mib_of, scene
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import train

_BRAKE = ("hardware slowdown", "power brake")


def _braked(
    seed: int, name: str, board: Board, work: Activity, *, clock: float, on_s: float = 60, off_s: float = 0
) -> Scene:
    """Hold the clock for ``on_s`` in each period, from a time on."""
    draw = Draw(seed, name)
    at_s = draw.between(200, 400)

    def brake(t_s: float) -> Condition:
        is_on = t_s >= at_s and (t_s - at_s) % (on_s + off_s) < on_s
        return Condition(clock=clock, reasons=_BRAKE) if is_on else Condition()

    actor = program("job", "python train.py", 0, draw.work(work).but(nv=0), mib_of(board, draw.between(0.2, 0.8)))
    wants = want("brake", "job gpu:0", at_s, at_s + 300)
    return scene(seed, [board], [actor], at_s + 600, wants, allows="brake thermal~", conditions={0: brake})


def supply_fails_under_an_h100(seed: int) -> Scene:
    """One of two power supplies failed; the brake halves the clock of an H100 at all times."""
    return _braked(seed, "k3brake1", H100, LLM, clock=0.5)


def brake_that_comes_and_goes(seed: int) -> Scene:
    """The brake of an A100 is on for 20 s in each minute, whenever the rack draws too much."""
    return _braked(seed, "k3brake2", A100, LLM, clock=0.4, on_s=20, off_s=40)


def cable_of_a_workstation(seed: int) -> Scene:
    """A cable of an A6000 makes poor contact: the brake is on most of the time."""
    return _braked(seed, "k3brake3", A6000, LORA, clock=0.35, on_s=40, off_s=10)


def server_board_on_a_weak_riser(seed: int) -> Scene:
    """A riser card cannot feed an L40S; its clock is a third while it works."""
    return _braked(seed, "k3brake4", L40S, CNN, clock=0.33)


def small_board_with_a_brake(seed: int) -> Scene:
    """A T4 in a chassis that asserts the brake for its fans, for half of each minute."""
    return _braked(seed, "k3brake5", T4, FP32, clock=0.4, on_s=30, off_s=30)


def brake_of_a_whole_node(seed: int) -> Scene:
    """The management of a node brakes all of its eight V100 for its power limit."""
    draw = Draw(seed, "k3brake6")
    at_s = draw.between(200, 400)
    bad = from_then(at_s, clock=0.45, reasons=_BRAKE)
    does = train(draw.work(CNN), step_s=0.5)
    actors = ranks(range(8), lambda rank: does, mib_of(V100, 0.7))
    wants = want("brake", "rank.job " + " ".join(f"rank{n} gpu:{n}" for n in range(8)), at_s, at_s + 300)
    conditions = dict.fromkeys(range(8), bad)
    return scene(seed, [V100] * 8, actors, at_s + 600, wants, allows="brake thermal~", conditions=conditions)
