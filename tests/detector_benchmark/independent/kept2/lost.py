"""Boards that are lost, that do not answer, or that report grave errors."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, FP64, HOST, IDLE, LLM, LORA
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    GTX_1080_TI,
    H100,
    H100_MIG,
    H200,
    L4,
    RTX_4090,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, train
from detector_benchmark.independent.world import World

from gputop.core.model.sample import GpuState

_ALSO = "hang stalled idle~ spin orphan"


def _bad(at_s: float, xid: int | None, state: GpuState, *, unlisted_s: float = 1e9) -> Conditions:
    """Return a board that goes bad at a time, with a line in the kernel log."""
    xids = ((at_s, xid),) if xid else ()

    def condition(t_s: float) -> Condition:
        if t_s < at_s:
            return GOOD
        return Condition(state=state, xids=xids, is_listed=t_s < unlisted_s)

    return condition


def _alone(
    seed: int,
    name: str,
    board: Board,
    xid: int | None,
    *,
    state: GpuState = GpuState.LOST,
    unlisted_after_s: float = 1e9,
    later_s: float = 400,
) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(150, 700)
    condition = _bad(at_s, xid, state, unlisted_s=at_s + unlisted_after_s)
    does = phases(draw.work(draw.one_of([CNN, LORA, FP64])), (at_s, ASLEEP))
    main = program("main", "python train.py", 0, does, level(draw.mib(board)))
    other = program("other", "python train2.py", 1, draw.work(CNN), level(draw.mib(board)))
    world = World([board] * 2, [main, other], seed=seed, conditions={0: condition})
    return Scene(
        world=world,
        until_s=at_s + later_s,
        wants=[want("lost", "main gpu:0", at_s, at_s + 60, still_s=at_s + later_s - 60)],
        allows=allow(_ALSO, "main gpu:0"),
    )


def consumer_board_falls_off_the_bus(seed: int) -> Scene:
    """A consumer board falls off the bus under load, Xid 79; its process waits in the driver."""
    return _alone(seed, "lost1", RTX_4090, 79)


def board_is_lost_without_a_line_in_the_log(seed: int) -> Scene:
    """An A6000 is lost; no Xid can be read, since the kernel log is for root alone."""
    return _alone(seed, "lost2", A6000, None)


def board_is_gone_from_the_list(seed: int) -> Scene:
    """A board is lost, and 20 s later the driver counts one board less. It stays so for the rest of the trace."""
    return _alone(seed, "lost3", A100, 79, unlisted_after_s=20, later_s=900)


def firmware_does_not_answer(seed: int) -> Scene:
    """The firmware of an L4 does not answer any more, Xid 119; readings of the board hang."""
    return _alone(seed, "lost4", L4, 119, state=GpuState.HUNG)


def driver_call_hangs_on_an_old_board(seed: int) -> Scene:
    """A GTX 1080 Ti does not answer its driver; other boards do."""
    return _alone(seed, "lost5", GTX_1080_TI, None, state=GpuState.HUNG)


def one_of_eight_ranks_loses_its_board(seed: int) -> Scene:
    """One board of eight H100 is lost in a training. Its rank dies, its peers spin in the collective."""
    draw = Draw(seed, "lost6")
    at_s, bad = draw.between(200, 500), draw.whole(0, 7)
    work = train(draw.work(LLM), step_s=5)
    does = lambda rank: phases(work, (at_s, IDLE if rank == bad else COLLECTIVE))
    world = World(
        [H100] * 8, ranks(range(8), does, level(62000)), seed=seed, conditions={bad: _bad(at_s, 79, GpuState.LOST)}
    )
    return Scene(
        world=world,
        until_s=at_s + 700,
        wants=[want("lost", f"rank{bad} gpu:{bad}", at_s, at_s + 60, still_s=at_s + 600)],
        allows=allow(_ALSO),
    )


def board_in_a_mig_node_is_lost(seed: int) -> Scene:
    """A board with MIG slices is lost while both slices work; the second board of the node goes on."""
    draw = Draw(seed, "lost7")
    at_s = draw.between(200, 600)
    actors = [
        program(f"p{n}", f"python job{n}.py", 0, draw.work(CNN), level(21000), instance=n, user="ann") for n in (1, 2)
    ]
    actors.append(program("p3", "python job3.py", 1, draw.work(CNN), level(30000)))
    world = World([H100_MIG, H100], actors, seed=seed, conditions={0: _bad(at_s, 79, GpuState.LOST)})
    return Scene(
        world=world,
        until_s=at_s + 300,
        wants=[want("lost", "p1 p2 gpu:0", at_s, at_s + 60)],
        allows=allow(_ALSO, "p1 p2 gpu:0"),
    )


def uncorrectable_memory_error(seed: int) -> Scene:
    """An uncorrectable memory error, Xid 48: the process dies, the board answers, and has to be reset."""
    draw = Draw(seed, "lost8")
    at_s = draw.between(200, 500)
    main = program("main", "python train.py", 0, draw.work(FP64), level(12000), until_s=at_s + 2)
    world = World([V100], [main], seed=seed, conditions={0: _bad(at_s, 48, GpuState.OK)})
    return Scene(
        world=world,
        until_s=at_s + 300,
        wants=[want("lost", "main gpu:0", at_s, at_s + 120)],
        allows=allow(_ALSO),
    )


def lost_board_of_an_idle_node(seed: int) -> Scene:
    """A B200 without any process is lost at night; the others are idle too."""
    draw = Draw(seed, "lost9")
    at_s = draw.between(200, 500)
    main = program("main", "python serve.py --port 8000", 1, IDLE, level(draw.mib(B200)), terminal=0)
    world = World([B200] * 4, [main], seed=seed, conditions={3: _bad(at_s, 79, GpuState.LOST)})
    return Scene(
        world=world,
        until_s=at_s + 400,
        wants=[want("lost", "gpu:3", at_s, at_s + 60, still_s=at_s + 300)],
        allows=allow("idle", "main gpu:1"),
    )


def lost_board_of_a_server_seen_with_gaps(seed: int) -> Scene:
    """A board of a server is lost; gputop loses samples around it since the driver answers late."""
    draw = Draw(seed, "lost10")
    at_s = draw.between(200, 500)
    server = "python3 -m vllm.entrypoints.openai.api_server --port 8000"
    main = program("main", server, 0, phases(draw.work(DECODE), (at_s, HOST)), level(120_000), terminal=0)
    world = World([H200], [main], seed=seed, conditions={0: _bad(at_s, 79, GpuState.LOST)})
    return Scene(
        world=world,
        until_s=at_s + 500,
        wants=[want("lost", "main gpu:0", at_s, at_s + 90, still_s=at_s + 400)],
        allows=allow(_ALSO),
        disturbances=[often_gaps(draw.seed(), each_s=40, from_s=2, to_s=15)],
    )


def fabric_board_needs_a_reset(seed: int) -> Scene:
    """A board of a job of four needs a reset after an NVLink error, Xid 74; it hangs, and so do its peers."""
    draw = Draw(seed, "lost11")
    at_s = draw.between(300, 600)
    work = train(draw.work(LLM), step_s=2)
    actors = ranks(range(4), lambda rank: phases(work, (at_s, COLLECTIVE)), level(70000))
    world = World([A100] * 4, actors, seed=seed, conditions={1: _bad(at_s, 74, GpuState.HUNG)})
    return Scene(
        world=world,
        until_s=at_s + 600,
        wants=[want("lost", everyone(4), at_s, at_s + 90)],
        allows=allow(_ALSO),
    )
