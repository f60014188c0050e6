"""Boards that fell off the bus, hang in their driver, or need a reset."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, LLM, LORA, Activity
from detector_benchmark.independent.boards import (
    A100,
    B200,
    H100,
    H200,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import from_then, mib_of, scene, turns
from detector_benchmark.independent.textures import drifting, waits
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, train

from gputop.core.model.sample import GpuState

_OK = "hang stalled straggler idle~ orphan kernel~ spin~ blocked tiny~"  # of the jobs that lose their board


def _off(*, then_unlisted_s: float | None = None, **bad: Any) -> Callable[[float], Conditions]:
    """Return a failure; after some seconds the driver may count the board no longer."""

    def conditions(at_s: float) -> Conditions:
        def condition(t_s: float) -> Condition:
            if t_s < at_s:
                return GOOD
            is_listed = then_unlisted_s is None or t_s < at_s + then_unlisted_s
            return Condition(is_listed=is_listed, **{"state": GpuState.LOST} | bad)

        return condition

    return conditions


def _falls(
    seed: int,
    name: str,
    boards: Sequence[Board],
    work: Activity | None,
    fails: Callable[[float], Conditions],
    *,
    disturb: Any = (),
    interval_s: float = 1.0,
    within_s: float = 60,
    until_s: float = 420,
    **more: Any,
) -> Scene:
    """Let a job work on all boards, or none; one of them fails. It must be seen at once, and still at the end."""
    draw = Draw(seed, name)
    at_s, size = draw.between(140, 320), len(boards)
    which = draw.whole(0, size - 1)
    steps = train(draw.work(work or CNN), step_s=0.9, is_alone=size == 1)

    def does(rank: int) -> Any:
        rest = ASLEEP if size == 1 or rank == which else waits(draw, boards[rank])
        return turns(steps, at_s, rest)

    memory = mib_of(boards[0], draw.between(0.3, 0.7))
    if work is None:
        actors, names = [], f"gpu:{which}"
    elif size == 1:
        actors, names = [program("job", "python train.py", 0, does(0), memory)], "gpu:0 job"
    else:
        actors, names = ranks(range(size), does, memory, **more), f"gpu:{which} rank{which}"
    wants = want("lost", names, at_s, at_s + within_s, still_s=at_s + until_s - 10)
    conditions = {which: fails(at_s)}
    return scene(
        seed,
        boards,
        actors,
        at_s + until_s,
        wants,
        allows=_OK,
        conditions=conditions,
        disturb=disturb,
        interval_s=interval_s,
    )


# --- the driver no longer counts the board -------------------------------------------------------------------------
def board_that_is_no_longer_counted(seed: int) -> Scene:
    """One of eight H100 falls off the bus in a training; half a minute later the driver counts seven boards."""
    return _falls(seed, "k4lost1", [H100] * 8, LLM, _off(then_unlisted_s=30))


def board_that_vanishes_at_once(seed: int) -> Scene:
    """One of two RTX 4090 vanishes from the driver's list from one look to the next, in the middle of its work."""
    return _falls(seed, "k4lost2", [RTX_4090] * 2, DIFFUSION, _off(then_unlisted_s=0))


def idle_board_that_vanishes(seed: int) -> Scene:
    """One of four idle L40S is lost and then not counted; ten minutes later somebody looks, and must see it."""
    return _falls(seed, "k4lost3", [L40S] * 4, None, _off(then_unlisted_s=20), until_s=660)


def board_that_vanishes_after_its_xid(seed: int) -> Scene:
    """A V100 of four says Xid 79 and is gone from the list of the driver a minute later."""
    return _falls(seed, "k4lost4", [V100] * 4, CNN, _xid_then_off(79, 5, 60), launcher="mpirun")


def _xid_then_off(xid: int, after_s: float, unlisted_s: float | None) -> Callable[[float], Conditions]:
    """Return an Xid, soon a lost board, and perhaps one that the driver no longer counts."""

    def conditions(at_s: float) -> Conditions:
        def condition(t_s: float) -> Condition:
            if t_s < at_s:
                return GOOD
            state = GpuState.OK if t_s < at_s + after_s else GpuState.LOST
            is_listed = unlisted_s is None or t_s < at_s + unlisted_s
            return Condition(state=state, is_listed=is_listed, xids=((at_s, xid),))

        return condition

    return conditions


# --- lost, hung, or in need of a reset -----------------------------------------------------------------------------
def single_board_of_a_workstation_is_lost(seed: int) -> Scene:
    """The only board of a workstation, a 3090, is lost under load; the driver counts it all the time."""
    return _falls(seed, "k4lost5", [RTX_3090], LORA, _xid_then_off(79, 2, None))


def board_that_does_not_answer(seed: int) -> Scene:
    """One of four B200 answers no question of the driver any more, while its peers do."""
    return _falls(seed, "k4lost6", [B200] * 4, LLM, _off(state=GpuState.HUNG))


def processor_of_the_board_hangs(seed: int) -> Scene:
    """The system processor of an L4 times out, Xid 119, and the board does not answer from then on."""
    draw = Draw(seed, "k4lost7")
    at_s = draw.between(140, 300)
    actor = program("job", "python serve.py --port 8080", 0, drifting(draw, draw.work(DECODE)), level(9000))
    bad = from_then(at_s, state=GpuState.HUNG, xids=((at_s, 119),))
    wants = want("lost", "gpu:0 job", at_s, at_s + 60, still_s=at_s + 410)
    return scene(seed, [L4], [actor], at_s + 420, wants, allows=_OK, conditions={0: bad})


def idle_board_that_is_lost(seed: int) -> Scene:
    """One of two T4 without any process is lost; the driver says so for minutes."""
    return _falls(seed, "k4lost8", [T4] * 2, None, _off())


def lost_board_seen_through_gaps(seed: int) -> Scene:
    """One of eight A100 is lost in a Slurm job; gputop misses looks all the time."""
    disturb = [often_gaps(seed, each_s=30, from_s=2, to_s=9)]
    return _falls(seed, "k4lost9", [A100] * 8, LLM, _off(), disturb=disturb, launcher="srun")


def lost_board_seen_every_five_seconds(seed: int) -> Scene:
    """One of eight H200 is lost, then not counted; gputop looks every five seconds."""
    return _falls(seed, "k4lost10", [H200] * 8, LLM, _off(then_unlisted_s=40), interval_s=5.0)


def error_that_needs_a_reset(seed: int) -> Scene:
    """An uncontained memory error, Xid 95, ends a job on an H100; the board works again only after a reset."""
    draw = Draw(seed, "k4lost11")
    at_s = draw.between(140, 300)
    actor = program("job", "python train.py", 0, draw.work(FP32), level(30000), until_s=at_s + 2)
    bad = from_then(at_s, xids=((at_s, 95),))
    wants = want("lost", "gpu:0 job", at_s, at_s + 60)
    return scene(seed, [H100], [actor], at_s + 300, wants, allows=_OK, conditions={0: bad})


def all_boards_of_a_switch_are_lost(seed: int) -> Scene:
    """Four of eight A100 behind one switch are lost at the same time."""
    draw = Draw(seed, "k4lost12")
    at_s = draw.between(140, 300)
    steps = train(draw.work(LLM), step_s=0.9)
    does = lambda rank: turns(steps, at_s, ASLEEP if rank < 4 else waits(draw, A100))
    actors = ranks(range(8), does, mib_of(A100, 0.6))
    bad = {n: from_then(at_s, state=GpuState.LOST) for n in range(4)}
    wants = [want("lost", f"gpu:{n}", at_s, at_s + 60, still_s=at_s + 410) for n in range(4)]
    return scene(seed, [A100] * 8, actors, at_s + 420, *wants, allows=_OK, conditions=bad)
