"""Jobs that one slow board or host holds back, and jobs whose ranks differ for a good reason."""

from collections.abc import Callable

from detector_benchmark.independent.activity import CNN, COLLECTIVE, HOST, IDLE, LLM, LORA, Activity, mix
from detector_benchmark.independent.boards import A100, A6000, H100, H200
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.roles import ranks
from detector_benchmark.independent.scripts import Script, cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World


def _held(work: Activity, slow: int, at_s: float, speed: float, slowly: Activity) -> Callable[[int], Script]:
    """Return ranks that work together until one of them becomes slow; the others wait for it in every step."""
    waits = mix((speed, work), (1 - speed, COLLECTIVE))
    return lambda rank: phases(work, (at_s, slowly if rank == slow else waits))


def _clock(at_s: float, clock: float, *reasons: str) -> Conditions:
    return lambda t_s: Condition(clock=clock, reasons=reasons) if t_s >= at_s else GOOD


def _stretched(work: Activity, speed: float) -> Activity:
    """Return the work of a board that needs longer for it: as many bytes, in more time, at 100 %."""
    return work.but(
        util=100,
        mc=work.mc * speed,
        share=work.share * speed * 0.92,
        dram=work.dram * speed,
        tensor=work.tensor * speed,
    )


def slow_board_at_the_same_clock(seed: int) -> Scene:
    """Board 5 became slow at its usual clock. Its seven peers poll for it at 100 % for 40 % of every step."""
    actors = ranks(range(8), _held(LLM, 5, 400, 0.6, _stretched(LLM, 0.6)))
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=1400,
        wants=[want("straggler", "rank5 gpu:5", 400, 1300)],
        allows=allow("hang~"),
    )


def stages_of_a_pipeline(seed: int) -> Scene:
    """The four stages of a pipeline differ by design: the last one, with the loss, works 25 % more than the first."""
    does = lambda rank: mix((0.74 + 0.08 * rank, LLM), (0.26 - 0.08 * rank, COLLECTIVE))
    actors = ranks(range(4), does, memory_of=lambda rank: level(60000 - 6000 * rank))
    return Scene(world=World([A100] * 4, actors, seed=seed), until_s=1500, allows=allow("straggler~"))


def loaders_of_one_rank_are_slow(seed: int) -> Scene:
    """The loaders of rank 3 are on a slow disk: it waits for data for half of each step, its peers wait for it."""
    slow = cycle((2, CNN), (2, IDLE.but(cpu=9, state="S")))
    fast = cycle((2, CNN), (2, COLLECTIVE))
    actors = ranks(range(8), lambda rank: phases(CNN, (300, slow if rank == 3 else fast)), level(15000))
    return Scene(
        world=World([A100] * 8, actors, seed=seed),
        until_s=1400,
        wants=[want("straggler", "rank3 gpu:3", 300, 1200)],
        allows=allow("hang~ input~"),
    )


def rank_0_logs_and_saves(seed: int) -> Scene:
    """Rank 0 writes logs for two seconds in each minute, and holds 3 GiB more than the others."""
    does = lambda rank: cycle((58, LORA), (2, HOST if rank == 0 else COLLECTIVE))
    actors = ranks(range(4), does, memory_of=lambda rank: level(33000 if rank == 0 else 30000))
    return Scene(world=World([A6000] * 4, actors, seed=seed), until_s=1300)


def straggler_that_costs_half_of_the_job(seed: int) -> Scene:
    """A degraded board holds back sixteen: all others wait for more than half of the time. That is an alarm."""
    actors = ranks(range(16), _held(LLM, 9, 300, 0.45, _stretched(LLM, 0.45)), level(120000))
    wants = [want("straggler", "rank9 gpu:9", 300, 1400, is_alarm=True)]
    return Scene(world=World([H200] * 16, actors, seed=seed), until_s=1500, wants=wants, allows=allow("hang~"))


def experts_that_are_used_unevenly(seed: int) -> Scene:
    """A mixture of experts: in each minute other ranks have more to do, by a fifth; none is slow."""
    does = lambda rank: cycle(
        *[
            (
                45.0,
                mix(
                    (0.8 + 0.2 * ((n * 5 + rank * 3) % 8) / 7, LLM),
                    (0.2 - 0.2 * ((n * 5 + rank * 3) % 8) / 7, COLLECTIVE),
                ),
            )
            for n in range(8)
        ]
    )
    return Scene(world=World([H100] * 8, ranks(range(8), does), seed=seed), until_s=1200, allows=allow("straggler~"))
