"""Ranks that wait in a collective for ever, as seen well: over NVLink, PCIe and host memory, of many sizes."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, FP32, IDLE, LLM, POLLING
from detector_benchmark.independent.boards import A100, A100_40, B200, H100, PCIE, POWER, RTX_3090, RTX_4090
from detector_benchmark.independent.roles import ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_OBSERVED = allow("tiny~")


def all_ranks_of_an_h100_node_wait(seed: int) -> Scene:
    """A collective across nodes never ends: all eight ranks wait at 150 W after six minutes of work."""
    actors = with_loaders(ranks(range(8), lambda rank: phases(LLM, (360, COLLECTIVE)), launcher="srun"), 2)
    wants = [want("hang", " ".join(f"rank{n}" for n in range(8)), 360, 960)]
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=1000, wants=wants, allows=_OBSERVED)


def two_consumer_boards_poll_host_memory(seed: int) -> Scene:
    """Two 4090 without P2P hang in an all-reduce after eight minutes; their kernels poll host memory over PCIe."""
    actors = with_loaders(ranks([0, 1], lambda rank: phases(FP32, (480, POLLING)), level(19000)), 3)
    return Scene(
        world=World([RTX_4090] * 2, actors, seed=seed), until_s=1100, wants=[want("hang", "rank0 rank1", 480, 1080)],
        allows=_OBSERVED,
    )  # fmt: skip


def polling_with_one_rank_a_step_ahead(seed: int) -> Scene:
    """One rank skipped a step and waits in the next collective: it polls less than the others, for ever."""
    does = lambda rank: phases(CNN.but(nv=900), (420, POLLING.but(rx=60, tx=20) if rank == 1 else POLLING))
    wants = [want("hang", "rank0 rank1 rank2 rank3", 420, 1020)]
    actors = with_loaders(ranks(range(4), does, level(14500)), 2)
    return Scene(world=World([RTX_3090] * 4, actors, seed=seed), until_s=1050, wants=wants, allows=_OBSERVED)


def hang_after_a_long_night(seed: int) -> Scene:
    """Gradient accumulation with a short wait in every step; then one wait never ends. Sixteen boards."""
    step = cycle((7, LLM), (2, COLLECTIVE))
    actors = ranks(range(16), lambda rank: phases(step, (400, COLLECTIVE)), level(150000))
    wants = [want("hang", " ".join(f"rank{n}" for n in range(16)), 400, 1000)]
    return Scene(world=World([B200] * 16, actors, seed=seed), until_s=1010, wants=wants, allows=_OBSERVED)


def hang_without_power_readings(seed: int) -> Scene:
    """The driver has neither power nor PCIe traffic. All four ranks stay at 100 % and leave the memory idle."""
    boards = [A100_40.without(POWER, PCIE)] * 4
    actors = with_loaders(ranks(range(4), lambda rank: phases(CNN.but(nv=0), (390, COLLECTIVE)), level(29000)), 4)
    wants = [want("hang", "rank0 rank1 rank2 rank3", 390, 1110)]
    return Scene(world=World(boards, actors, seed=seed), until_s=1150, wants=wants, allows=_OBSERVED)


def hang_of_pipeline_stages_with_light_copies(seed: int) -> Scene:
    """Pipeline stages hang: two wait in a receive, one is idle; a thread copies a little every ten seconds."""
    quiet = cycle((9, COLLECTIVE), (1, COLLECTIVE.but(rx=240, tx=30)))
    does = lambda rank: phases(LLM, (330, IDLE if rank == 0 else quiet))
    wants = [want("hang stalled", "rank0 rank1 rank2", 330, 930)]
    return Scene(
        world=World([A100] * 3, ranks(range(3), does, level(52000)), seed=seed), until_s=1000, wants=wants,
        allows=_OBSERVED + allow("idle~", "rank0"),
    )  # fmt: skip
