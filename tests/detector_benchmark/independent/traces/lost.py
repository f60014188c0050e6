"""Boards that do not answer any more, and boards that miss an answer."""

from detector_benchmark.independent.activity import CNN, FP32, IDLE, LLM, LORA
from detector_benchmark.independent.boards import A100, A6000, H100, L40S
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import faults
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


def board_falls_off_the_bus(seed: int) -> Scene:
    """Board 3 falls off the bus with Xid 79. Half a minute later the driver does not count it any more."""
    actors = ranks(range(8), lambda rank: phases(LLM, (300, IDLE)), level(50000))
    world = World([H100] * 8, actors, seed=seed, conditions={3: _falls(300, 330)})
    return Scene(world=world, until_s=1100, wants=[want("lost", "gpu:3", 300, 360, still_s=1080)], allows=_ALSO)


def readings_that_fail_for_a_while(seed: int) -> Scene:
    """In 3 % of the samples most readings of a board fail. It is there, and works."""
    names = ("gpu_utilization_percent", "power_average_w", "temperature_c", "memory_utilization_percent", "clock_sm_hz")
    world = World([A100] * 2, ranks([0, 1], lambda rank: CNN), seed=seed)
    return Scene(world=world, until_s=900, disturbances=[faults(seed, 0.03, *names)])


def driver_that_waits_for_a_board(seed: int) -> Scene:
    """A board does not answer: calls of the driver for it hang. The others answer."""
    actors = ranks(range(4), lambda rank: phases(LORA, (240, IDLE)), level(30000))
    world = World([L40S] * 4, actors, seed=seed, conditions={2: _falls(240, state=GpuState.HUNG, xid=119)})
    return Scene(world=world, until_s=800, wants=[want("lost", "gpu:2", 240, 330, still_s=780)], allows=_ALSO)


def board_that_sleeps(seed: int) -> Scene:
    """A board without any process is at rest: 0 %, 16 W, and low clocks."""
    job = program("train", "python train.py", 0, FP32, level(9000))
    return Scene(world=World([A6000] * 2, [job], seed=seed), until_s=900)
