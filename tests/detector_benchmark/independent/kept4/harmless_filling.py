"""Boards that fill fast for a moment, and are not in danger."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, COPY, DECODE, FP32, LLM, LORA, PREFILL, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import A100, A100_40, B200, H100, H200, L4, L40S, RTX_4090, V100, Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import Curve, Part, level
from detector_benchmark.independent.sketches import scene
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train

_BATCH: Any = {"variables": {}, "terminal": 0}


def _rises(
    seed: int,
    name: str,
    board: Board,
    does: Callable[[Draw, float], Part],
    memory: Callable[[Draw, float, float], Curve],
    *,
    command: str = "python -m chat.server --port 8000",
    beside: Callable[[Draw, float], Sequence[Actor]] = lambda draw, at_s: (),
    starts: bool = False,
    interval_s: float = 1.0,
    until_s: float = 1260,
) -> Scene:
    """Let a program's memory rise at some time. ``memory``: of the dice, the time, and the room on the board."""
    draw = Draw(seed, name)
    at_s, room = draw.between(150, 300), float(board.memory_mib - board.reserved_mib)
    more: Any = {"from_s": at_s} if starts else {}
    actor = program("job", command, 0, does(draw, at_s), memory(draw, at_s, room), **_BATCH | more)
    return scene(seed, [board], [*beside(draw, at_s), actor], until_s, interval_s=interval_s)


def _ramp(low: float, high: float, at_s: float, over_s: float) -> Curve:
    return lambda t_s: low + (high - low) * max(0.0, min(1.0, (t_s - at_s) / over_s)) // 2 * 2


# --- weights that are loaded ---------------------------------------------------------------------------------------
def _after(draw: Draw, at_s: float, over_s: float, work: Activity) -> Part:
    busy = serves(draw, draw.work(work), each_s=20, for_s=15)
    return lambda t_s: COPY if t_s < at_s + over_s else busy(t_s)


def weights_over_a_slow_network(seed: int) -> Scene:
    """Weights of 60 GiB come to an H100 over a slow network in six minutes, one shard after the other; then it serves."""
    memory = lambda draw, at_s, room: _ramp(500, draw.between(0.72, 0.86) * room, at_s, 360)
    return _rises(seed, "k4calm1", H100, lambda draw, at_s: _after(draw, at_s, 360, DECODE), memory, starts=True)


def weights_from_a_fast_disk(seed: int) -> Scene:
    """Weights fill nine tenths of a B200 in a minute and a half, from a fast disk; then it serves."""
    memory = lambda draw, at_s, room: _ramp(500, draw.between(0.84, 0.92) * room, at_s, 90)
    return _rises(seed, "k4calm2", B200, lambda draw, at_s: _after(draw, at_s, 90, DECODE), memory, starts=True)


def adapter_after_adapter_at_the_start(seed: int) -> Scene:
    """A server on an L4 loads twenty adapters, one in ten seconds, up to four fifths of its board; then no more."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        each = 0.5 * room / 20 // 2 * 2
        return lambda t_s: 0.28 * room // 2 * 2 + each * max(0, min(20, (t_s - at_s) // 10))

    return _rises(seed, "k4calm3", L4, lambda draw, at_s: _after(draw, at_s, 200, DECODE), memory)


# --- an allocator that doubles -------------------------------------------------------------------------------------
def pool_that_doubles_up_to_half(seed: int) -> Scene:
    """The pool of a training on an A100 doubles each minute, from one gigabyte to half of the board; then it has enough."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        each_s = draw.between(40, 75)
        return lambda t_s: 1400 + min(0.5 * room // 2 * 2, 1100 * 2 ** max(0, (t_s - at_s) // each_s))

    work = lambda draw, at_s: drifting(draw, draw.work(FP32))
    return _rises(seed, "k4calm4", A100, work, memory, command="python train.py")


def tables_that_double_with_the_joins(seed: int) -> Scene:
    """A join on a 40 GB board doubles its table four times in two minutes, to three quarters, and keeps it."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        return lambda t_s: 0.04 * room // 2 * 2 + 0.045 * room // 2 * 2 * 2 ** max(0, min(4, (t_s - at_s) // 28))

    work = lambda draw, at_s: drifting(draw, draw.work(CNN))
    return _rises(seed, "k4calm5", A100_40, work, memory, command="./join -i orders.parquet")


# --- one long request ----------------------------------------------------------------------------------------------
def one_request_of_a_million_tokens(seed: int) -> Scene:
    """One request of a million tokens takes half of an H200 within three minutes, is answered, and gives all back."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        rise = _ramp(0.38 * room // 2 * 2, 0.86 * room, at_s, 190)
        return lambda t_s: rise(t_s) if t_s < at_s + 260 else 0.38 * room // 2 * 2

    return _rises(seed, "k4calm6", H200, lambda draw, at_s: drifting(draw, draw.work(PREFILL)), memory)


def long_films_one_after_the_other(seed: int) -> Scene:
    """Each film of a restoration on an RTX 4090 takes more and more of the board for minutes, and then lets go."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        period_s = draw.between(200, 280)
        return lambda t_s: 0.2 * room + 0.66 * room * min(1.0, (t_s % period_s) / (0.85 * period_s)) // 2 * 2

    work = lambda draw, at_s: drifting(draw, draw.work(FP32))
    return _rises(seed, "k4calm7", RTX_4090, work, memory, command="python restore.py -i film.mkv")


# --- a neighbour that swings ---------------------------------------------------------------------------------------
def neighbour_that_takes_and_gives(seed: int) -> Scene:
    """Bob's experiments on an A100 take a third of the board for some minutes and give it back; Ann trains beside."""

    def beside(draw: Draw, at_s: float) -> Sequence[Actor]:
        period_s = draw.between(240, 330)
        swings = lambda t_s: 1000 + 26000 * abs(((t_s + at_s) % period_s) / period_s * 2 - 1) // 2 * 2
        work = draw.work(CNN).at(0.4)
        return [program("bob", "python try.py", 0, work, swings, user="bob")]

    work = lambda draw, at_s: draw.work(LORA).at(0.5)
    return _rises(seed, "k4calm8", A100, work, lambda *_: level(38000), command="python train.py", beside=beside)


def three_users_who_come_and_go(seed: int) -> Scene:
    """Three users of an L40S start programs one after the other within five minutes; each takes its part and keeps it."""

    def beside(draw: Draw, at_s: float) -> Sequence[Actor]:
        work = draw.work(CNN).at(0.25)
        return [
            program(f"user{n}", "python run.py", 0, work, _ramp(600, 11000, at_s + 100 * n, 45), user=f"user{n}",
                    from_s=at_s + 100 * n)
            for n in range(3)
        ]  # fmt: skip

    work = lambda draw, at_s: draw.work(LORA).at(0.25)
    return _rises(seed, "k4calm9", L40S, work, lambda *_: level(7000), command="python train.py", beside=beside)


# --- a jump, then a small rise -------------------------------------------------------------------------------------
def jump_and_a_small_rise(seed: int) -> Scene:
    """A server on an H100 jumps to 34 GiB, then rises by some dozen megabytes within two minutes, and stays."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        rise = _ramp(35500, 35500 + draw.whole(20, 60) * 2, at_s + 20, 110)
        return lambda t_s: 530 if t_s < at_s else rise(t_s)

    return _rises(seed, "k4calm10", H100, lambda draw, at_s: _after(draw, at_s, 8, DECODE), memory)


def jump_close_to_the_top(seed: int) -> Scene:
    """A training on a V100 jumps to 95 % of its board, rises by some blocks of 2 MiB for two minutes, and trains on."""

    def memory(draw: Draw, at_s: float, room: float) -> Curve:
        rise = _ramp(0.95 * room // 2 * 2, 0.95 * room // 2 * 2 + draw.whole(10, 40) * 2, at_s, 130)
        return lambda t_s: 1400 if t_s < at_s else rise(t_s)

    work = lambda draw, at_s: train(draw.work(CNN), step_s=0.7, is_alone=True)
    return _rises(seed, "k4calm11", V100, work, memory, command="python train.py")


def optimiser_states_at_the_first_step(seed: int) -> Scene:
    """The first steps of a training on a B200 add states of its optimiser, layer by layer, to 85 % in four minutes."""
    memory = lambda draw, at_s, room: _ramp(0.2 * room // 2 * 2, draw.between(0.8, 0.87) * room, at_s, 240)
    work = lambda draw, at_s: rippling(draw, draw.work(LLM))
    return _rises(seed, "k4calm12", B200, work, memory, command="python train.py", interval_s=2.0)
