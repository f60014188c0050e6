"""Boards and drivers that fail."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, Activity
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H200,
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
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, train, wait_on

from gputop.core.model.sample import GpuState

_OK = "lost hang stalled straggler idle~ orphan blocked spin~"


def _fails(
    seed: int,
    name: str,
    boards: Sequence[Board],
    work: Activity | None,
    bad: Callable[[float], Conditions],
    *,
    which: int = 0,
    still: bool = True,
    disturb: Any = (),
    by_s: float = 60,
) -> Scene:
    """Let a job work, or none; one board fails. It must be shown at once, and still at the end."""
    draw = Draw(seed, name)
    at_s, size = draw.between(150, 400), len(boards)
    after = ASLEEP if size == 1 else wait_on(boards[0])
    does = turns(train(draw.work(work), step_s=3, is_alone=size == 1), at_s, after) if work else ASLEEP
    memory = mib_of(boards[0], 0.5)
    actors = ranks(range(size), lambda rank: does, memory) if work else []
    wants = want(
        "lost",
        f"gpu:{which} rank{which}" if work else f"gpu:{which}",
        at_s,
        at_s + by_s,
        still_s=at_s + 290 if still else None,
    )
    return scene(seed, boards, actors, at_s + 300, wants, allows=_OK, conditions={which: bad(at_s)}, disturb=disturb)


def _state(state: GpuState, *xids: int) -> Callable[[float], Conditions]:
    return lambda at_s: from_then(at_s, state=state, xids=tuple((at_s, xid) for xid in xids))


def _only_xid(*xids: int) -> Callable[[float], Conditions]:
    return lambda at_s: from_then(at_s, xids=tuple((at_s, xid) for xid in xids))


def _unlisted(after_s: float) -> Callable[[float], Conditions]:
    """Lose a board, and no longer count it some seconds later."""

    def bad(at_s: float) -> Conditions:
        def condition(t_s: float) -> Condition:
            if t_s < at_s:
                return GOOD
            xids = ((at_s, 79),)
            return Condition(state=GpuState.LOST, xids=xids, is_listed=t_s < at_s + after_s)

        return condition

    return bad


def one_of_eight_falls_off_the_bus(seed: int) -> Scene:
    """GPU 6 of eight H100 falls off the bus in a training: Xid 79, and no call about it is answered."""
    return _fails(seed, "k3lost1", [H100] * 8, LLM, _state(GpuState.LOST, 79), which=6)


def consumer_board_is_lost(seed: int) -> Scene:
    """An RTX 4090 is lost under load, by its power cable."""
    return _fails(seed, "k3lost2", [RTX_4090], LORA, _state(GpuState.LOST, 79))


def firmware_no_longer_answers(seed: int) -> Scene:
    """The firmware of an A100 no longer answers: Xid 119, each call hangs."""
    return _fails(seed, "k3lost3", [A100] * 4, LLM, _state(GpuState.HUNG, 119), which=2)


def board_is_no_longer_counted(seed: int) -> Scene:
    """A lost L40S is still listed for 20 s; then the driver counts only three boards."""
    return _fails(seed, "k3lost4", [L40S] * 4, CNN, _unlisted(20), which=3)


def driver_hangs_for_all(seed: int) -> Scene:
    """No call about any board is answered since some minutes: the driver hangs."""
    draw = Draw(seed, "k3lost5")
    at_s = draw.between(150, 300)
    bad = from_then(at_s, state=GpuState.HUNG)
    actors = ranks(range(4), lambda rank: train(draw.work(LLM), step_s=3), level(60000))
    wants = want("lost", "gpu:0 gpu:1 gpu:2 gpu:3", at_s, at_s + 90, still_s=at_s + 290)
    return scene(seed, [H200] * 4, actors, at_s + 300, wants, allows=_OK, conditions=dict.fromkeys(range(4), bad))


def double_bit_error_in_memory(seed: int) -> Scene:
    """A V100 reports an uncorrectable error of its memory, Xid 48; its process dies, the board still answers."""
    draw = Draw(seed, "k3lost6")
    at_s = draw.between(150, 300)
    actor = program("job", "python train.py", 0, draw.work(CNN).but(nv=0), level(9000), until_s=at_s)
    wants = want("lost", "gpu:0", at_s, at_s + 60)
    return scene(seed, [V100], [actor], at_s + 300, wants, allows=_OK, conditions={0: _only_xid(48)(at_s)})


def empty_board_is_lost(seed: int) -> Scene:
    """A T4 that nothing uses falls off the bus."""
    return _fails(seed, "k3lost7", [T4] * 2, None, _state(GpuState.LOST, 79), which=1)


def lost_board_seen_with_gaps(seed: int) -> Scene:
    """One of two A6000 is lost; gputop itself loses seconds at that time."""
    draw = Draw(seed, "k3lost8+")
    gaps = often_gaps(draw.seed(), each_s=60, from_s=2, to_s=10)
    return _fails(seed, "k3lost8", [A6000] * 2, FP32, _state(GpuState.LOST, 79), which=1, disturb=[gaps], by_s=90)


def board_of_a_server_hangs(seed: int) -> Scene:
    """The only board of a server no longer answers; its server waits in the driver."""
    draw = Draw(seed, "k3lost9")
    at_s = draw.between(150, 300)
    does = turns(draw.work(DECODE), at_s, ASLEEP.but(state="D"))
    actor = program("serve", "python -m vllm.entrypoints.openai.api_server --port 8000", 0, does, level(150000))
    bad = from_then(at_s, state=GpuState.HUNG, xids=((at_s, 119),))
    wants = want("lost", "gpu:0 serve", at_s, at_s + 90, still_s=at_s + 290)
    return scene(seed, [B200], [actor], at_s + 300, wants, allows=_OK, conditions={0: bad})


def old_desktop_board_is_lost(seed: int) -> Scene:
    """An RTX 3090 is lost in the night and no longer counted at once; its neighbour works on."""
    return _fails(seed, "k3lost10", [RTX_3090] * 2, CNN, _unlisted(2), which=1)


def row_of_memory_cannot_be_contained(seed: int) -> Scene:
    """An H100 reports an uncontained error of its memory, Xid 95: it has to be reset."""
    return _fails(seed, "k3lost11", [H100] * 2, LLM, _only_xid(95), which=0, still=False)
