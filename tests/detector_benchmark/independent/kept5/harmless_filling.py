"""Boards that fill fast for some minutes, and are in no danger."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, COPY, DECODE, FP32, LLM, LORA, PREFILL, QUERY, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    B200,
    GH200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    V100,
    Board,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import Curve, Part, level
from detector_benchmark.independent.sketches import BATCH, alone, scene, team
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train

_Memory = Callable[[Draw, float, float], Curve]  # of the dice, a time, and the room on the board


def _ramp(low: float, high: float, at_s: float, over_s: float) -> Curve:
    return lambda t_s: low + (high - low) * max(0.0, min(1.0, (t_s - at_s) / over_s)) // 2 * 2


def _loads(seed: int, name: str, board: Board, work: Activity, memory: _Memory, over_s: float, **more: Any) -> Scene:
    """Start a server within the trace: its weights come, then it answers."""
    draw = Draw(seed, name)
    at_s, room = draw.between(120, 280), float(board.memory_mib - board.reserved_mib)
    busy = serves(draw, draw.work(work), each_s=18, for_s=15)
    does = lambda t_s: COPY.but(rx=COPY.rx * 60 / over_s) if t_s < at_s + over_s else busy(t_s)
    given: Any = {"command": "vllm serve m --port 8000", "from_s": at_s} | more
    return alone(seed, board, does, memory(draw, at_s, room), 1200, **given)


def _rises(seed: int, name: str, board: Board, work: Activity, memory: _Memory, **more: Any) -> Scene:
    """Let the memory of a program that works rise at some time."""
    draw = Draw(seed, name)
    at_s, room = draw.between(150, 320), float(board.memory_mib - board.reserved_mib)
    does = rippling(draw, drifting(draw, draw.work(work)))
    return alone(seed, board, does, memory(draw, at_s, room), 1260, **more)


# --- weights --------------------------------------------------------------------------------------------------------
def shards_from_a_distant_store(seed: int) -> Scene:
    """The shards of a model come to an H200 from a distant store within seven minutes, up to five sixths of the board."""
    memory = lambda draw, at_s, room: _ramp(500, draw.between(0.75, 0.86) * room, at_s, 420)
    return _loads(seed, "k5calm1", H200, DECODE, memory, 420)


def weights_from_a_local_disk(seed: int) -> Scene:
    """Weights from a local disk fill nine tenths of a GH200 within a minute."""
    memory = lambda draw, at_s, room: _ramp(500, draw.between(0.86, 0.92) * room, at_s, 55)
    return _loads(seed, "k5calm2", GH200, PREFILL, memory, 55)


def models_of_a_shop_one_by_one(seed: int) -> Scene:
    """A server on an A10G loads eighteen small models, one in twelve seconds, up to three quarters; that is all of them."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        each = 0.7 * room / 18 // 2 * 2
        return lambda t_s: 600 + each * max(0, min(18, (t_s - at_s) // 12))

    return _loads(seed, "k5calm3", A10G, CNN, memory, 225, command="tritonserver --http-port=8000")


def four_ranks_that_load_together(seed: int) -> Scene:
    """Four ranks on H100 load their parts of a model within five minutes, to four fifths of their boards, then train."""
    draw = Draw(seed, "k5calm4")
    at_s = draw.between(60, 120)
    steps = train(draw.work(LLM), step_s=1.1)
    does = lambda rank: lambda t_s: COPY.but(rx=900.0) if t_s < at_s + 300 else steps(t_s)
    memory = _ramp(600, draw.between(0.74, 0.82) * H100.memory_mib, at_s, 300)
    return team(seed, [H100] * 4, does, memory, 1100, from_s=at_s)


# --- growth that ends -----------------------------------------------------------------------------------------------
def table_of_a_join_that_doubles(seed: int) -> Scene:
    """A join on an A100 doubles its table five times in three minutes, to two thirds of the board, and keeps it."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        return lambda t_s: 0.03 * room // 2 * 2 + 0.02 * room // 2 * 2 * 2 ** max(0, min(5, (t_s - at_s) // 34))

    return _rises(seed, "k5calm5", A100, QUERY, memory, command="./warehouse -q report.sql")


def states_of_an_optimiser_in_its_first_step(seed: int) -> Scene:
    """The first step of a training on a B200 adds the states of its optimiser, to five sixths within three minutes."""
    memory = lambda draw, at_s, room: _ramp(0.25 * room // 2 * 2, draw.between(0.78, 0.86) * room, at_s, 180)
    return _rises(seed, "k5calm6", B200, LLM, memory)


def data_set_moved_to_the_board(seed: int) -> Scene:
    """A training on an RTX 5090 moves its data set to the board within four minutes, to three quarters; it is all there then."""
    memory = lambda draw, at_s, room: _ramp(0.2 * room // 2 * 2, draw.between(0.7, 0.78) * room, at_s, 240)
    return _rises(seed, "k5calm7", RTX_5090, CNN, memory)


def jump_of_a_graph_and_a_small_rest(seed: int) -> Scene:
    """A training on a V100 jumps to nine tenths when its graph is captured, then takes some blocks of 2 MiB, and trains on."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        rest = _ramp(0.9 * room // 2 * 2, 0.9 * room // 2 * 2 + draw.whole(12, 45) * 2, at_s, 120)
        return lambda t_s: 2100 if t_s < at_s else rest(t_s)

    return _rises(seed, "k5calm8", V100, FP32, memory)


# --- growth that comes back -----------------------------------------------------------------------------------------
def book_read_in_one_request(seed: int) -> Scene:
    """One request with a whole book takes half of an H100 within two minutes and a half, is answered, and all is given back."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        base = 0.36 * room // 2 * 2
        rise = _ramp(base, draw.between(0.82, 0.9) * room, at_s, 150)
        return lambda t_s: rise(t_s) if t_s < at_s + 230 else base

    return _rises(seed, "k5calm9", H100, PREFILL, memory, command="vllm serve m --port 8000")


def pictures_stitched_one_after_the_other(seed: int) -> Scene:
    """Each panorama on a 3090 takes more and more of the board for four minutes, is saved, and lets all go."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        period_s = draw.between(220, 280)
        return lambda t_s: 0.12 * room + 0.7 * room * min(1.0, (t_s % period_s) / (0.9 * period_s)) // 2 * 2

    return _rises(seed, "k5calm10", RTX_3090, FP32, memory, command="python stitch.py -i flight/")


def colleagues_who_come_and_go(seed: int) -> Scene:
    """Three colleagues use an L40S: each starts a program that takes its part within a minute, works, and ends."""
    draw = Draw(seed, "k5calm11")
    actors: list[Actor] = [program("base", "python train.py", 0, draw.work(LORA).at(0.3), level(9000), **BATCH)]
    for n in range(3):
        at_s = draw.between(120, 200) + 130 * n
        does: Part = draw.work(CNN).at(0.25)
        life: Any = {"user": f"user{n}", "from_s": at_s, "until_s": at_s + draw.between(420, 560)}
        actors.append(program(f"user{n}", "python run.py", 0, does, _ramp(600, 10500, at_s, 60), **BATCH | life))
    return scene(seed, [L40S], actors, 1200)


def neighbour_whose_batches_swing(seed: int) -> Scene:
    """Bob's batches on an H200 rise by half of the board within three minutes and fall at once; Ann trains beside him."""
    draw = Draw(seed, "k5calm12")
    period_s = draw.between(200, 260)
    swings = lambda t_s: 4000 + 62000 * min(1.0, (t_s % period_s) / (0.8 * period_s)) // 2 * 2
    ann = program("ann", "python train.py", 0, draw.work(LORA).at(0.5), level(50000), **BATCH)
    bob = program("bob", "python eval.py", 0, draw.work(PREFILL).at(0.4), swings, user="bob", **BATCH)
    other: Sequence[Actor] = [ann, bob]
    return scene(seed, [H200], other, 1260)
