"""Boards that are too hot, and slow down."""

from collections.abc import Mapping
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, FP64, LLM, LORA, Activity
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_MIG,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import Condition, Conditions
from detector_benchmark.independent.disturbances import faults, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import from_then, mib_of, scene
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import train

_OK = "thermal straggler hang~"


def _hot(board: Board, work: Activity, over_c: float = 16) -> float:
    """Return the cooling with which this work would take a board that far over its limit, if it did not slow down."""
    watts = min(board.limit_w, board.context_w + work.share * (board.limit_w - board.context_w))
    return board.kelvin_per_w * watts / (board.slowdown_c + over_c - board.ambient_c)


def _alone(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    work_level: float = 1.0,
    disturb: Any = (),
    beside: Any = (),
    reasons: tuple[str, ...] = (),
    **more: Any,
) -> Scene:
    """Work; from a time on the cooler carries too little away."""
    draw = Draw(seed, name)
    does, at_s = draw.work(work, level=work_level).but(nv=0), draw.between(200, 500)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.2, 0.8)), **more)
    hot = from_then(at_s, cooling=_hot(board, does), reasons=reasons)
    wants = want("thermal", "job gpu:0", at_s, at_s + 480)
    return scene(
        seed, [board], [*beside, actor], at_s + 780, wants, allows="thermal", conditions={0: hot}, disturb=disturb
    )


def _node(
    seed: int, name: str, board: Board, size: int, work: Activity, hot: Mapping[int, Conditions], at_s: float
) -> Scene:
    draw = Draw(seed, name)
    does = train(draw.work(work), step_s=3)
    names = " ".join(f"gpu:{n} rank{n}" for n in hot)
    wants = want("thermal", f"{names} rank.job", at_s, at_s + 480)
    actors = ranks(range(size), lambda rank: does, mib_of(board, 0.6))
    return scene(seed, [board] * size, actors, at_s + 780, wants, allows=_OK, conditions=hot)


def fan_of_a_consumer_board_fails(seed: int) -> Scene:
    """The fans of an RTX 4090 stop in the middle of a training: 87 degrees, and a falling clock."""
    return _alone(seed, "k3heat1", RTX_4090, LORA, "python train.py", beside=desktop())


def passive_board_without_air(seed: int) -> Scene:
    """A T4 sits in a tower without an air duct; under full load it slows down within minutes."""
    return _alone(seed, "k3heat2", T4, FP32, "python train.py", work_level=1.1)


def dust_in_a_workstation(seed: int) -> Scene:
    """The filter of a workstation is full; its RTX 3090 reaches 90 degrees in each long render."""
    return _alone(seed, "k3heat3", RTX_3090, DIFFUSION, "python render.py")


def edge_server_in_a_hot_room(seed: int) -> Scene:
    """The air conditioning of a server room failed: an L4 under full decoding slows down."""
    return _alone(
        seed, "k3heat4", L4, DECODE, "python -m vllm.entrypoints.openai.api_server --port 8000", work_level=1.5
    )


def two_boards_of_eight_are_too_hot(seed: int) -> Scene:
    """In a node of eight H100 the two at the outlet slow down since a fan is missing."""
    draw = Draw(seed, "k3heat5+")
    at_s = draw.between(250, 500)
    bad = from_then(at_s, cooling=_hot(H100, LLM, 28))
    return _node(seed, "k3heat5", H100, 8, LLM, {3: bad, 7: bad}, at_s)


def all_boards_of_a_node_are_too_hot(seed: int) -> Scene:
    """The water of a rack has stopped: all eight B200 slow down together."""
    at_s = 400.0
    bad = from_then(at_s, cooling=_hot(B200, LLM, 32))
    return _node(seed, "k3heat6", B200, 8, LLM, dict.fromkeys(range(8), bad), at_s)


def heat_read_with_gaps_and_faults(seed: int) -> Scene:
    """An A6000 throttles for ten minutes; its temperature cannot be read at times, and gputop loses seconds."""
    draw = Draw(seed, "k3heat7+")
    disturb = [faults(draw.seed(), 0.02, "temperature_c"), often_gaps(draw.seed(), each_s=60, from_s=2, to_s=8)]
    return _alone(seed, "k3heat7", A6000, LLM, "python train.py", disturb=disturb)


def old_board_without_counters(seed: int) -> Scene:
    """One of four V100 has lost its thermal paste; it gives the reason in single readings, no counters of time."""
    at_s = 300.0
    return _node(seed, "k3heat8", V100, 4, CNN, {2: from_then(at_s, cooling=_hot(V100, CNN, 28))}, at_s)


def memory_is_too_hot_and_the_core_is_not(seed: int) -> Scene:
    """The memory of an A100 is at its limit, its core at 60 degrees: the driver lowers the clock for thermal reasons."""
    draw = Draw(seed, "k3heat9")
    at_s = draw.between(200, 400)

    def hot(t_s: float) -> Condition:
        is_hot = t_s >= at_s and t_s % 20 < 16
        return Condition(clock=0.7, reasons=("software thermal",)) if is_hot else Condition()

    actor = program("job", "./stencil", 0, draw.work(LLM).but(nv=0), mib_of(A100, 0.5))
    wants = want("thermal", "job gpu:0", at_s, at_s + 480)
    return scene(seed, [A100], [actor], at_s + 780, wants, allows="thermal", conditions={0: hot})


def instances_of_mig_on_a_hot_board(seed: int) -> Scene:
    """Two instances of an H100 work at full load; the board they share slows down as its heat sink came loose."""
    draw = Draw(seed, "k3heat10")
    at_s = draw.between(200, 400)
    work = draw.work(FP64, level=0.9).but(nv=0, util=60, share=0.45)
    actors = [program(f"job{n}", "./cp2k", 0, work, level(20000), instance=n) for n in (1, 2)]
    hot = from_then(at_s, cooling=_hot(H100_MIG, work.but(share=0.85)))
    wants = want("thermal", "job1 job2 gpu:0", at_s, at_s + 480)
    return scene(seed, [H100_MIG], actors, at_s + 780, wants, allows="thermal", conditions={0: hot})


def hardware_slows_a_board_at_once(seed: int) -> Scene:
    """A pump fails: the hardware itself halves the clock of an L40S at its limit, for minutes."""
    return _alone(seed, "k3heat11", L40S, LLM, "python train.py", reasons=("hardware slowdown", "hardware thermal"))
