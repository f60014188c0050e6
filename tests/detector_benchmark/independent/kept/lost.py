"""Boards that do not answer any more, and boards that miss an answer."""

from detector_benchmark.independent.activity import FP32, IDLE, LLM
from detector_benchmark.independent.boards import H100, RTX_3090, TITAN_X, V100
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import bad_gpu_zeros, gaps
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

from gputop.core.model.sample import GpuState

_ALSO = allow("hang stalled orphan idle blocked")


def _falls(at_s: float, unlisted_s: float = 1e9, state: GpuState = GpuState.LOST, xid: int = 79) -> Conditions:
    def condition(t_s: float) -> Condition:
        if t_s < at_s:
            return GOOD
        return Condition(state=state, xids=((at_s, xid),) if xid else (), is_listed=t_s < unlisted_s)

    return condition


def lost_before_gputop_looks_away(seed: int) -> Scene:
    """A board is lost while gputop is suspended for 40 s; afterwards the driver does not count it."""
    actors = [
        program(f"job{n}", f"python job.py {n}", n, FP32 if n else phases(FP32, (260, IDLE)), level(8000))
        for n in range(2)
    ]
    world = World([RTX_3090] * 2, actors, seed=seed, conditions={0: _falls(270, 280, xid=0)})
    return Scene(
        world=world,
        until_s=900,
        wants=[want("lost", "gpu:0", 270, 400, still_s=880)],
        allows=_ALSO,
        disturbances=[gaps((265, 40))],
    )


def zeros_of_a_board(seed: int) -> Scene:
    """A board says 0 % and 0 W for single seconds in a training. It is not lost, and nothing stands still."""
    world = World([V100] * 4, ranks(range(4), lambda rank: FP32, level(9000)), seed=seed)
    return Scene(world=world, until_s=900, disturbances=[bad_gpu_zeros(seed, 0.02)])


def lost_board_without_processes(seed: int) -> Scene:
    """An idle board is lost in the night; nobody works on it. It must be shown as long as it is away."""
    job = program("train", "python train.py", 0, FP32, level(9000))
    world = World([TITAN_X] * 3, [job], seed=seed, conditions={2: _falls(200, 215, xid=0)})
    return Scene(world=world, until_s=1500, wants=[want("lost", "gpu:2", 200, 300, still_s=1480)], allows=_ALSO)


def boards_after_a_gap(seed: int) -> Scene:
    """gputop took no samples for 35 s, twice. All boards are as before."""
    world = World([H100] * 4, ranks(range(4), lambda rank: LLM), seed=seed)
    return Scene(world=world, until_s=700, disturbances=[gaps((200, 35), (400, 35))])
