"""Boards that fell off the bus, answer no more, or need a reset."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, Activity
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    B200,
    GB200,
    GTX_1080_TI,
    H100,
    H100_PCIE,
    H200,
    L40S,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import gaps, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import BATCH, from_then, mib_of, scene, turns
from detector_benchmark.independent.textures import drifting, waits
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, train

from gputop.core.model.sample import GpuState

_OK = "hang stalled straggler idle~ orphan kernel~ spin~ blocked tiny~"  # of the jobs that lose their board
_Fails = Callable[[float], Conditions]


def _failure(
    state: GpuState = GpuState.LOST, *, xid: int = 0, after_s: float = 0, unlisted_after_s: float = 1e9
) -> _Fails:
    """Return a failure: an Xid, then another state, then a driver that does not count the board."""

    def of(at_s: float) -> Conditions:
        xids = ((at_s, xid),) if xid else ()

        def condition(t_s: float) -> Condition:
            if t_s < at_s:
                return GOOD
            now = state if t_s >= at_s + after_s else GpuState.OK
            return Condition(state=now, xids=xids, is_listed=t_s < at_s + unlisted_after_s)

        return condition

    return of


def _fails(
    seed: int,
    name: str,
    board: Board,
    size: int,
    work: Activity,
    failure: _Fails,
    *,
    failed: Sequence[int] | None = None,
    disturb: Callable[[float], Sequence[Any]] = lambda at_s: (),
    for_s: float = 420,
    within_s: float = 60,
    interval_s: float = 1.0,
    **more: Any,
) -> Scene:
    """Let a job work; a board of it fails. It must be shown soon, and still at the end."""
    draw = Draw(seed, name)
    at_s = draw.between(140, 320)
    bad = [draw.whole(0, size - 1)] if failed is None else failed
    steps = train(draw.work(work), step_s=0.9, is_alone=size == 1)
    wait = waits(draw, board)
    does = lambda rank: turns(steps, at_s, ASLEEP if rank in bad else wait)
    actors = ranks(range(size), does, mib_of(board, draw.between(0.3, 0.7)), **more)
    wants = [want("lost", f"gpu:{n} rank{n}", at_s, at_s + within_s, still_s=at_s + for_s - 10) for n in bad]
    conditions = dict.fromkeys(bad, failure(at_s))
    given: Any = {"conditions": conditions, "disturb": disturb(at_s), "interval_s": interval_s, "allows": _OK}
    return scene(seed, [board] * size, actors, at_s + for_s, *wants, **given)


# --- off the bus ----------------------------------------------------------------------------------------------------
def gaming_board_behind_a_riser(seed: int) -> Scene:
    """One of two RTX 5090 hangs on a bad riser and falls off the bus with Xid 79, under load."""
    return _fails(seed, "k5lost1", RTX_5090, 2, LORA, _failure(xid=79, after_s=2))


def board_that_the_driver_forgets(seed: int) -> Scene:
    """One of eight H200 is lost in a training; after forty seconds the driver counts seven boards."""
    return _fails(seed, "k5lost2", H200, 8, LLM, _failure(unlisted_after_s=40), launcher="srun")


def board_gone_from_one_sample_to_the_next(seed: int) -> Scene:
    """One of four L40S is not in the list of the driver any more, from one sample to the next; the job waits for it."""
    return _fails(seed, "k5lost3", L40S, 4, CNN, _failure(unlisted_after_s=0))


def only_board_of_an_old_machine(seed: int) -> Scene:
    """The only board of an old machine, a GTX 1080 Ti, is lost in a training; the driver still counts it."""
    return _fails(seed, "k5lost4", GTX_1080_TI, 1, FP32, _failure(xid=79, after_s=1))


def two_boards_of_one_riser(seed: int) -> Scene:
    """Two of four A6000 share a riser and are lost at the same time, in a tuning on all of them."""
    return _fails(seed, "k5lost5", A6000, 4, LORA, _failure(), failed=(2, 3), launcher="spawn")


def empty_board_that_is_lost_and_forgotten(seed: int) -> Scene:
    """One of eight empty A100 is lost; the driver soon counts seven. Ten minutes later an operator comes and must see it."""
    draw = Draw(seed, "k5lost6")
    at_s, which = draw.between(140, 300), draw.whole(0, 7)
    wants = want("lost", f"gpu:{which}", at_s, at_s + 60, still_s=at_s + 650)
    conditions = {which: _failure(unlisted_after_s=15)(at_s)}
    return scene(seed, [A100] * 8, [], at_s + 660, wants, conditions=conditions, interval_s=2.0)


# --- no answer ------------------------------------------------------------------------------------------------------
def board_whose_processor_hangs(seed: int) -> Scene:
    """The system processor of one of eight B200 times out with Xid 119, and the board answers no question since."""
    return _fails(seed, "k5lost7", B200, 8, LLM, _failure(GpuState.HUNG, xid=119, after_s=6))


def server_whose_board_does_not_answer(seed: int) -> Scene:
    """The board of a server on an A10G answers no question any more; its requests time out."""
    draw = Draw(seed, "k5lost8")
    at_s = draw.between(140, 300)
    work = turns(drifting(draw, draw.work(DECODE)), at_s, ASLEEP)
    api = program("api", "python api.py --port 8080", 0, work, level(15000), cgroup=service("api"), **BATCH)
    wants = want("lost", "gpu:0 api", at_s, at_s + 60, still_s=at_s + 410)
    bad = {0: from_then(at_s, state=GpuState.HUNG)}
    return scene(seed, [A10G], [api], at_s + 420, wants, allows=_OK, conditions=bad)


def board_of_a_superchip_that_hangs(seed: int) -> Scene:
    """One of four GB200 does not answer; there is a sample in five seconds."""
    return _fails(seed, "k5lost9", GB200, 4, LLM, _failure(GpuState.HUNG), interval_s=5.0)


# --- errors that need a reset ---------------------------------------------------------------------------------------
def error_of_two_bits_ends_a_training(seed: int) -> Scene:
    """A double-bit error, Xid 48, ends a training on a V100; the board must be reset."""
    return _reset(seed, "k5lost10", V100, 48)


def uncontained_error_on_a_pcie_board(seed: int) -> Scene:
    """An uncontained memory error, Xid 95, ends a training on an H100 PCIe; the board must be reset."""
    return _reset(seed, "k5lost11", H100_PCIE, 95)


def _reset(seed: int, name: str, board: Board, xid: int) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(140, 320)
    does = drifting(draw, draw.work(FP32))
    job = program("job", "python train.py", 0, does, mib_of(board, 0.5), until_s=at_s + 3, **BATCH)
    wants = want("lost", "gpu:0 job", at_s, at_s + 60)
    bad = {0: from_then(at_s, xids=((at_s, xid),))}
    return scene(seed, [board], [job], at_s + 300, wants, allows=_OK, conditions=bad)


# --- seen badly -----------------------------------------------------------------------------------------------------
def board_lost_in_a_gap(seed: int) -> Scene:
    """One of four H100 falls off the bus while no sample arrives for 25 s; after the gap the driver counts three."""
    gap = lambda at_s: [gaps((at_s - 5, 25))]
    return _fails(seed, "k5lost12", H100, 4, LLM, _failure(unlisted_after_s=10), disturb=gap, within_s=80)


def lost_board_of_four_small_ones(seed: int) -> Scene:
    """One of four T4 is lost; gputop takes a sample each three seconds, and misses some of them."""
    disturb = lambda at_s: [often_gaps(seed, each_s=45, from_s=3, to_s=9)]
    return _fails(seed, "k5lost13", T4, 4, CNN, _failure(), disturb=disturb, interval_s=3.0)
