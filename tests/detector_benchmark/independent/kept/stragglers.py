"""Jobs that one slow board or host holds back, and jobs whose ranks differ for a good reason."""

from collections.abc import Callable

from detector_benchmark.independent.activity import CNN, COLLECTIVE, FP32, IDLE, LLM, LORA, Activity, mix
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_3090, RTX_4090
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import Script, level, phases
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


def clock_of_one_board_is_low(seed: int) -> Scene:
    """The clock of board 1 fell to 45 %, by a power brake. Its three peers wait more than half of the time."""
    actors = ranks(range(4), _held(LLM, 1, 360, 0.45, LLM))
    world = World([A100] * 4, actors, seed=seed, conditions={1: _clock(360, 0.45, "power brake")})
    return Scene(
        world=world,
        until_s=1300,
        wants=[want("straggler brake", "rank1 gpu:1", 360, 1200)],
        allows=allow("hang~ brake straggler"),
    )


def independent_programs_of_one_launcher(seed: int) -> Scene:
    """A launcher starts four trainings that have nothing in common. Their sizes differ, and so does their use."""
    works = (LLM, CNN, FP32.but(util=55, share=0.3), LORA)
    actors = ranks(
        range(4),
        lambda rank: works[rank].but(nv=0),
        level(20000),
        launcher="spawn",
        command="python hpo.py --parallel 4",
    )
    return Scene(world=World([L40S] * 4, actors, seed=seed), until_s=1500)


def neighbour_on_one_board(seed: int) -> Scene:
    """Another user starts a program on board 2 of a job of four: that rank gets half of it, the others wait."""
    share = _held(FP32, 2, 420, 0.5, FP32)
    other = program("other", "python other_user.py", 2, FP32.but(rx=3), level(5200), user="bob", from_s=420)
    actors = [*ranks(range(4), share, level(15000)), other]
    return Scene(
        world=World([RTX_4090] * 4, actors, seed=seed),
        until_s=1500,
        wants=[want("straggler", "rank2 gpu:2 other", 420, 1320)],
        allows=allow("hang~"),
    )


def boards_of_two_kinds(seed: int) -> Scene:
    """A job runs on three 4090 and a 3090. It has always been that way: the 3090 sets the pace of all."""
    does = lambda rank: FP32 if rank == 3 else mix((0.7, FP32), (0.3, COLLECTIVE))
    actors = ranks(range(4), does, level(14000))
    return Scene(
        world=World([RTX_4090] * 3 + [RTX_3090], actors, seed=seed), until_s=1400, allows=allow("straggler hang~")
    )


def slow_host_thread_of_one_rank(seed: int) -> Scene:
    """The main thread of rank 0 shares its core with a backup: it launches half as fast; its three peers wait."""
    slow = mix((0.5, CNN), (0.5, IDLE.but(cpu=100, state="R")))
    does = lambda rank: phases(CNN, (350, slow if rank == 0 else mix((0.5, CNN), (0.5, COLLECTIVE))))
    return Scene(
        world=World([L40S] * 4, ranks(range(4), does, level(12000)), seed=seed),
        until_s=1400,
        wants=[want("straggler", "rank0 gpu:0", 350, 1250)],
        allows=allow("hang~ launch~"),
    )


def small_differences(seed: int) -> Scene:
    """Eight boards differ by some percent in power and temperature, as boards do."""
    actors = with_loaders(ranks(range(8), lambda rank: CNN.but(share=0.72 + 0.01 * rank, util=84 + 0.5 * rank)), 2)
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=900)
