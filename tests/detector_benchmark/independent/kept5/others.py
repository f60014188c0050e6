"""Other troubles: boards that fill up, that are busy without work, or braked; processes that are stopped or blocked."""

from collections.abc import Callable
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, GRAPHS, LLM, LORA, PREFILL, SPIN, Activity
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    GH200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import Condition, Conditions
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.scripts import Part, growing, level, sawtooth
from detector_benchmark.independent.sketches import alone, jammed, mib_of, team, turns
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import train


# --- full within minutes --------------------------------------------------------------------------------------------
def _fills(seed: int, name: str, board: Board, command: str, minutes: float, work: Activity, swing: float = 0) -> Scene:
    """Let a program grow after some minutes of even work, without a stop, until its board is full."""
    draw = Draw(seed, name)
    room, from_s = board.memory_mib - board.reserved_mib, draw.between(320, 520)
    end_s = from_s + 60 * minutes
    low = growing(level(0.25 * room // 2 * 2), mib_per_min=0.68 * room / minutes, from_s=from_s, until_s=end_s)
    memory = sawtooth(low, mib=swing * room, period_s=33) if swing else low
    wants = want("filling leak", "job gpu:0", from_s, end_s - 60)
    does = drifting(draw, draw.work(work))
    return alone(seed, board, does, memory, end_s, wants, command=command, allows="leak filling")


def queue_that_its_reader_does_not_empty(seed: int) -> Scene:
    """The reader of a queue of tensors on an A10G is slower than its writer: the board is full in a quarter of an hour."""
    return _fills(seed, "k5fill1", A10G, "python ingest.py", 16, CNN)


def answers_kept_for_the_end(seed: int) -> Scene:
    """An evaluation on an H200 keeps the logits of every answer on the board; it will be full in twenty minutes."""
    return _fills(seed, "k5fill2", H200, "python eval_logits.py", 21, PREFILL, 0.03)


def particles_that_multiply(seed: int) -> Scene:
    """A simulation on an RTX 5090 splits its particles faster than it merges them, up to the end of the memory."""
    return _fills(seed, "k5fill3", RTX_5090, "./sph splash.cfg", 18, FP32)


# --- busy without work ----------------------------------------------------------------------------------------------
def _hollow(seed: int, name: str, board: Board, command: str, work: Callable[[Draw], Part], **more: Any) -> Scene:
    draw = Draw(seed, name)
    wants = want("tiny launch kernel", "job gpu:0", 0, 800)
    given: Any = {"allows": "tiny launch kernel"} | more
    return alone(seed, board, work(draw), mib_of(board, draw.between(0.02, 0.3)), 900, wants, command=command, **given)


def _next_to_nothing(draw: Draw) -> Part:
    return drifting(
        draw,
        GRAPHS.but(
            share=draw.between(0.015, 0.06),
            mc=draw.between(0, 1),
            dram=draw.between(0, 1),
            sm=draw.between(1, 6),
            cpu=draw.between(4, 100),
        ),
        depth=0.01,
    )


def script_that_keeps_a_board_from_a_reaper(seed: int) -> Scene:
    """A script multiplies a small matrix on an H100, so that a reaper of idle jobs spares its place in the queue."""
    return _hollow(seed, "k5tiny1", H100, "python keep_alive.py", _next_to_nothing)


def game_of_life_on_a_large_board(seed: int) -> Scene:
    """A small field of the Game of Life is replayed as a graph on a GH200, at 99 % and next to no power."""
    return _hollow(seed, "k5tiny2", GH200, "./life 64x64", _next_to_nothing)


def counter_of_a_beginner(seed: int) -> Scene:
    """A beginner's kernel on a T4 counts in one thread, launch after launch, since before gputop was started."""
    counts = lambda draw: SPIN.but(spin=draw.between(0.3, 0.8), sm=draw.between(1, 3), cpu=2.0, thread=2.0, state="S")
    return _hollow(seed, "k5tiny3", T4, "./count_primes", counts)


# --- braked ---------------------------------------------------------------------------------------------------------
def _braked(seed: int, name: str, board: Board, size: int, is_on: Callable[[float], bool], clock: float) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(240, 400)

    def condition(t_s: float) -> Condition:
        is_braked = t_s >= at_s and is_on(t_s)
        return Condition(clock=clock, reasons=("hardware slowdown", "power brake")) if is_braked else Condition()

    bad: dict[int, Conditions] = dict.fromkeys(range(size), condition)
    steps = train(draw.work(LLM), step_s=0.8)
    wants = want("brake", " ".join(f"gpu:{n}" for n in range(size)), at_s, at_s + 420)
    more: Any = {"conditions": bad, "allows": "straggler thermal~"}
    return team(seed, [board] * size, lambda rank: rippling(draw, steps), mib_of(board, 0.6), at_s + 540, wants, **more)


def feed_that_failed_in_a_rack(seed: int) -> Scene:
    """A feed of a rack failed; the supply brakes all eight H200 of a node, for good."""
    return _braked(seed, "k5brake1", H200, 8, lambda t_s: True, 0.5)


def supply_that_brakes_at_every_peak(seed: int) -> Scene:
    """A weak supply brakes four A100 for fifteen seconds of each forty, at the peaks of a training."""
    return _braked(seed, "k5brake2", A100, 4, lambda t_s: t_s % 40 < 15, 0.45)


def cable_that_is_not_seated(seed: int) -> Scene:
    """A cable of a V100 is not seated well: the board is braked in spells of a minute and a half."""
    return _braked(seed, "k5brake3", V100, 1, lambda t_s: t_s % 150 < 90, 0.4)


# --- stopped or blocked ---------------------------------------------------------------------------------------------
def _halted(seed: int, name: str, board: Board, work: Activity, state: str, **more: Any) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(240, 420)
    does = turns(drifting(draw, draw.work(work)), at_s, jammed(0, state))
    wants = want("blocked stalled", "job gpu:0", at_s, at_s + 600)
    given: Any = {"allows": "blocked stalled idle~"} | more
    return alone(seed, board, does, mib_of(board, draw.between(0.3, 0.8)), at_s + 660, wants, **given)


def training_stopped_by_a_colleague(seed: int) -> Scene:
    """A colleague sent SIGSTOP to a training on an L40S to try something on its board, and forgot to continue it."""
    return _halted(seed, "k5blocked1", L40S, CNN, "T")


def program_held_by_a_debugger(seed: int) -> Scene:
    """A debugger holds a program on a 3090 in the state T; its user went home."""
    return _halted(seed, "k5blocked2", RTX_3090, FP32, "T", command="./app --scene 4")


def write_to_a_dead_disk(seed: int) -> Scene:
    """A tuning on an H100 is blocked in a write to a disk that died, in the state D; no signal ends it."""
    return _halted(seed, "k5blocked3", H100, LORA, "D", command="python tune.py")


def ioctl_that_does_not_return(seed: int) -> Scene:
    """A server in a container on an A10G is blocked in a call of the driver that does not return, in the state D."""
    more: Any = {"command": "python -m infer.batch --all", "cgroup": docker("0")}
    return _halted(seed, "k5blocked4", A10G, DECODE, "D", **more)
