"""Other troubles: boards that fill up, do next to nothing, or are braked; processes that are stopped or blocked."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, GRAPHS, LLM, LORA
from detector_benchmark.independent.boards import A100, B200, H100, L4, L40S, RTX_4090, T4, V100, Board
from detector_benchmark.independent.circuit import Condition, Conditions
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import growing, level
from detector_benchmark.independent.sketches import jammed, mib_of, scene, turns
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import train

_BATCH: Any = {"variables": {}, "terminal": 0}


# --- memory that is full within minutes ----------------------------------------------------------------------------
def _fills(seed: int, name: str, board: Board, command: str, minutes: float) -> Scene:
    """Let a working program grow without a stop, until its board is full."""
    draw = Draw(seed, name)
    room = board.memory_mib - board.reserved_mib
    base, from_s = 0.3 * room // 2 * 2, draw.between(300, 500)
    rate = 0.66 * room / minutes
    memory = growing(level(base), mib_per_min=rate, from_s=from_s, until_s=from_s + 60 * minutes)
    actor = program("job", command, 0, drifting(draw, draw.work(FP32)), memory, **_BATCH)
    end_s = from_s + 60 * minutes
    wants = want("filling leak", "job gpu:0", from_s, end_s - 60)
    return scene(seed, [board], [actor], end_s, wants, allows="leak filling")


def results_fill_a_board_in_minutes(seed: int) -> Scene:
    """A program on an A100 collects its results on the board: it will be full in twenty minutes."""
    return _fills(seed, "k4fill1", A100, "python score_all.py", 20)


def queue_of_frames_fills_a_board(seed: int) -> Scene:
    """The writer of an L4 is slower than its reader: frames pile up, and the board is full in a quarter of an hour."""
    return _fills(seed, "k4fill2", L4, "./restream", 16)


def cache_without_a_bound_fills_a_board(seed: int) -> Scene:
    """A cache without a bound on a B200 takes five gigabytes a minute, and will not stop before the end."""
    return _fills(seed, "k4fill3", B200, "python prefill_cache.py", 24)


# --- busy in time, not in work -------------------------------------------------------------------------------------
def _seems_busy(seed: int, name: str, board: Board, command: str) -> Scene:
    draw = Draw(seed, name)
    work = GRAPHS.but(
        share=draw.between(0.02, 0.07), mc=draw.between(0, 1), sm=draw.between(1, 6), cpu=draw.between(2, 100)
    )
    actor = program("warm", command, 0, work, mib_of(board, draw.between(0.02, 0.4)), **_BATCH)
    wants = want("tiny launch", "warm gpu:0", 0, 800)
    return scene(seed, [board], [actor], 900, wants, allows="tiny launch")


def reservation_by_a_loop_of_additions(seed: int) -> Scene:
    """A user keeps an A100 from being taken away by a loop that adds two numbers on it."""
    return _seems_busy(seed, "k4tiny1", A100, "python occupy.py --gpu 0")


def one_thread_counts_on_a_large_board(seed: int) -> Scene:
    """One thread of a B200 counts to a large number."""
    return _seems_busy(seed, "k4tiny2", B200, "./count")


def animation_of_a_few_points(seed: int) -> Scene:
    """An RTX 4090 moves a few hundred points, over and over, at 99 %."""
    return _seems_busy(seed, "k4tiny3", RTX_4090, "python swarm.py")


# --- braked by the supply ------------------------------------------------------------------------------------------
def _brakes(seed: int, name: str, board: Board, size: int, *, spell_s: float, every_s: float) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(240, 400)

    def condition(t_s: float) -> Condition:
        is_braked = t_s >= at_s and t_s % every_s < spell_s
        return Condition(clock=0.45, reasons=("hardware slowdown", "power brake")) if is_braked else Condition()

    bad: dict[int, Conditions] = dict.fromkeys(range(size), condition)
    steps = train(draw.work(LLM), step_s=0.9)
    actors = ranks(range(size), lambda rank: steps, mib_of(board, 0.7))
    wants = want("brake", " ".join(f"gpu:{n}" for n in range(size)), at_s, at_s + 420)
    return scene(seed, [board] * size, actors, at_s + 540, wants, allows="straggler thermal~", conditions=bad)


def supply_that_is_too_weak_for_eight(seed: int) -> Scene:
    """The supply of a node asserts the brake of all its H100 whenever they work together."""
    return _brakes(seed, "k4brake1", H100, 8, spell_s=600, every_s=600)


def brake_in_spells(seed: int) -> Scene:
    """A supply brakes two A100 for twenty seconds of each minute."""
    return _brakes(seed, "k4brake2", A100, 2, spell_s=20, every_s=60)


def brake_of_one_failed_feed(seed: int) -> Scene:
    """One of two feeds failed: four L40S are braked for good."""
    return _brakes(seed, "k4brake3", L40S, 4, spell_s=900, every_s=900)


# --- stopped or blocked --------------------------------------------------------------------------------------------
def _halted(seed: int, name: str, board: Board, state: str, command: str) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(240, 400)
    does = turns(drifting(draw, draw.work(CNN)), at_s, jammed(0, state))
    actor = program("job", command, 0, does, mib_of(board, 0.5), **_BATCH)
    wants = want("blocked stalled", "job gpu:0", at_s, at_s + 600)
    return scene(seed, [board], [actor], at_s + 660, wants, allows="blocked stalled idle~")


def stopped_by_a_signal(seed: int) -> Scene:
    """A training on a V100 got SIGSTOP; nobody continued it."""
    return _halted(seed, "k4blocked1", V100, "T", "python train.py")


def stopped_at_a_terminal_and_forgotten(seed: int) -> Scene:
    """A program on a T4 was stopped with Control-Z and forgotten."""
    return _halted(seed, "k4blocked2", T4, "T", "python predict.py")


def blocked_in_the_driver(seed: int) -> Scene:
    """A tuning on an H100 hangs in a call of the driver, in the state D, and no signal ends it."""
    return _halted(seed, "k4blocked3", H100, "D", "python tune.py")


def neighbour_of_a_stopped_server(seed: int) -> Scene:
    """A server on an A100 was stopped by a signal and holds its memory, while Bob trains on the same board."""
    draw = Draw(seed, "k4blocked4")
    at_s = draw.between(240, 400)
    does = turns(drifting(draw, draw.work(DECODE).at(0.35)), at_s, jammed(0, "T"))
    server = program("server", "python -m chat.server --port 9000", 0, does, level(30000), **_BATCH)
    bob = program("bob", "python train.py", 0, draw.work(LORA).at(0.5), level(30000), user="bob")
    wants = want("blocked stalled", "server", at_s, at_s + 600)
    return scene(seed, [A100], [server, bob], at_s + 660, wants, allows="idle~ stalled blocked")


def stopped_in_a_debugger_of_its_own(seed: int) -> Scene:
    """A job on an L40S is held by a tracer that has died with its terminal, in the state T."""
    draw = Draw(seed, "k4blocked5")
    at_s = draw.between(240, 400)
    actor = program("job", "./solver", 0, turns(draw.work(FP32), at_s, jammed(0, "T")), mib_of(L40S, 0.4), **_BATCH)
    wants = want("blocked stalled", "job gpu:0", at_s, at_s + 600)
    return scene(seed, [L40S], [actor], at_s + 660, wants, allows="idle~ stalled")
