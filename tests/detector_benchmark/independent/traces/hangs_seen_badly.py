"""Ranks that wait for ever, while readings are bad, gputop starts late, or the ranks were never seen at work."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, IDLE, LLM, LORA
from detector_benchmark.independent.boards import A6000, H100, H200, L40S, UTILIZATION
from detector_benchmark.independent.disturbances import (
    bad_gpu_zeros,
    bad_process_zeros,
    clock_jump,
    faults,
)
from detector_benchmark.independent.roles import ranks, with_loaders
from detector_benchmark.independent.scripts import level, phases, started
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_OBSERVED = allow("tiny~")
_FOUR = "rank0 rank1 rank2 rank3"
_EIGHT = _FOUR + " rank4 rank5 rank6 rank7"


def single_zeros_of_processes(seed: int) -> Scene:
    """Eight ranks hang. Now and then the driver charges a process nothing for a second, at 100 % of the board."""
    actors = ranks(range(8), lambda rank: phases(LLM, (300, COLLECTIVE)), level(72000))
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=950,
        wants=[want("hang", _EIGHT, 300, 900)],
        allows=_OBSERVED,
        disturbances=[bad_process_zeros(seed, 0.01)],
    )


def clock_of_the_host_jumps(seed: int) -> Scene:
    """Two minutes into a hang the clock of the host is set an hour forward."""
    actors = ranks(range(4), lambda rank: phases(LORA, (280, COLLECTIVE)), level(39000))
    return Scene(
        world=World([L40S] * 4, actors, seed=seed),
        until_s=1150,
        wants=[want("hang", _FOUR, 280, 1090)],
        allows=_OBSERVED,
        disturbances=[clock_jump(400, 3600)],
    )


def gputop_starts_after_the_hang(seed: int) -> Scene:
    """Seven ranks have waited for an hour when gputop starts; rank 3 sits at 0 % with all its memory."""
    does = lambda rank: IDLE.but(cpu=0.3) if rank == 3 else COLLECTIVE
    return Scene(
        world=World([H100] * 8, ranks(range(8), does, level(55000), age_s=40000), seed=seed),
        until_s=1300,
        wants=[want("hang stalled", _EIGHT, 0, 1200)],
        allows=_OBSERVED + allow("idle~", "rank3"),
    )


def first_collective_with_one_rank_missing(seed: int) -> Scene:
    """Rank 0 dies inside before the first collective: it never worked, the others have waited since they loaded."""
    does = lambda rank: started(IDLE if rank == 0 else COLLECTIVE, 60)
    actors = ranks(range(4), does, level(8800), age_s=0)
    return Scene(
        world=World([H200] * 4, actors, seed=seed),
        until_s=1300,
        wants=[want("hang stalled", _FOUR, 72, 1270)],
        allows=_OBSERVED + allow("idle~", "rank0"),
    )


def boards_that_say_zero_for_a_second(seed: int) -> Scene:
    """A hang of four ranks; one sample of two hundred has 0 % and 0 W of a whole board."""
    actors = with_loaders(ranks(range(4), lambda rank: phases(CNN, (260, COLLECTIVE)), level(26000)), 2)
    return Scene(
        world=World([A6000] * 4, actors, seed=seed),
        until_s=1000,
        wants=[want("hang", _FOUR, 260, 860)],
        allows=_OBSERVED,
        disturbances=[bad_gpu_zeros(seed, 0.005), faults(seed, 0.01, "power_average_w", "pcie_rx_bytes_per_s")],
    )


def utilization_of_the_board_is_missing(seed: int) -> Scene:
    """The driver has utilization of processes but not of boards; eight ranks hang at 150 W."""
    actors = ranks(range(8), lambda rank: phases(LLM, (300, COLLECTIVE)), level(64000))
    return Scene(
        world=World([H100.without(UTILIZATION)] * 8, actors, seed=seed),
        until_s=1000,
        wants=[want("hang", _EIGHT, 300, 960)],
        allows=_OBSERVED,
    )
