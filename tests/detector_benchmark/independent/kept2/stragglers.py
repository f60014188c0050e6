"""Jobs that one slow board, host or rank holds back."""

from collections.abc import Callable

from detector_benchmark.independent.activity import CNN, COLLECTIVE, FP64, HOST, IDLE, LLM, LORA, Activity, mix
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_PCIE,
    H200,
    L40S,
    RTX_4090,
    T4,
    V100,
)
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import bad_process_zeros, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, Script, cycle, level, phases
from detector_benchmark.independent.trace import Scene, Want, allow, want
from detector_benchmark.independent.workloads import saves, train, wait_on, with_pauses
from detector_benchmark.independent.world import World


def _held(
    work: Activity, wait: Activity, slow: int, at_s: float, speed: float, slowly: Part
) -> Callable[[int], Script]:
    """Return ranks that work together, until all of them wait for the slow one in each step."""
    peers = mix((speed, work), (1 - speed, wait))
    return lambda rank: phases(work, (at_s, slowly if rank == slow else peers))


def _clock(at_s: float, clock: float, *reasons: str) -> Conditions:
    return lambda t_s: Condition(clock=clock, reasons=reasons) if t_s >= at_s else GOOD


def _of(rank: int, at_s: float, by_s: float = 900) -> Want:
    return want("straggler", f"rank{rank} gpu:{rank}", at_s, at_s + by_s)


def _longer(work: Activity, speed: float) -> Activity:
    """Return the same work on a board that needs longer for it."""
    changes = {name: getattr(work, name) * speed for name in ("mc", "dram", "tensor", "sm", "nv")}
    return work.but(util=100, share=work.share * speed * 0.95, **changes)


def clock_of_one_board_is_held(seed: int) -> Scene:
    """One of eight H100 runs at 60 % of its clock for no reason that its driver gives; its peers poll for it."""
    draw = Draw(seed, "slow1")
    at_s, slow, speed = draw.between(300, 700), draw.whole(0, 7), draw.between(0.55, 0.65)
    work = draw.work(LLM)
    does = _held(work, COLLECTIVE, slow, at_s, speed, work.but(util=100, nv=work.nv * speed))
    world = World([H100] * 8, ranks(range(8), does, level(68000)), seed=seed, conditions={slow: _clock(at_s, speed)})
    return Scene(world=world, until_s=at_s + 1100, wants=[_of(slow, at_s)], allows=allow("hang~"))


def power_limit_of_one_board_is_lower(seed: int) -> Scene:
    """One of four A100 got a low clock by a script of its previous user: 30 % slower from the start of the job."""
    draw = Draw(seed, "slow2")
    slow, work = draw.whole(0, 3), draw.work(CNN)
    does = _held(work, COLLECTIVE, slow, 0, 0.7, work.but(util=99, nv=work.nv * 0.7))
    world = World([A100] * 4, ranks(range(4), does, level(30000)), seed=seed, conditions={slow: _clock(0, 0.68)})
    return Scene(world=world, until_s=1200, wants=[_of(slow, 0, 1000)], allows=allow("hang~"))


def core_of_one_rank_is_taken(seed: int) -> Scene:
    """Another process took the core of rank 1: it launches too slowly, its board falls to 55 %, its peers poll."""
    draw = Draw(seed, "slow3")
    at_s, work = draw.between(300, 600), draw.work(CNN).but(util=97)
    slowly = mix((0.55, work), (0.45, IDLE.but(cpu=100, state="R")))
    does = _held(work, COLLECTIVE, 1, at_s, 0.55, slowly)
    world = World([V100] * 8, ranks(range(8), does, level(9000), launcher="mpirun"), seed=seed)
    return Scene(world=world, until_s=at_s + 1100, wants=[_of(1, at_s)], allows=allow("hang~ launch~"))


def disk_of_one_rank_is_slow(seed: int) -> Scene:
    """The loaders of one of four ranks read from a failing disk: it waits 2 s in each step of 5 s, its peers poll."""
    draw = Draw(seed, "slow4")
    at_s, slow, work = draw.between(250, 500), draw.whole(0, 3), draw.work(CNN)
    slowly = cycle((3, work), (2, IDLE.but(cpu=5)))
    peers = cycle((3, work), (2, wait_on(A6000)))
    does = lambda rank: phases(work, (at_s, slowly if rank == slow else peers))
    world = World([A6000] * 4, with_loaders(ranks(range(4), does, level(25000)), 1), seed=seed)
    return Scene(world=world, until_s=at_s + 1200, wants=[_of(slow, at_s, 1000)], allows=allow("hang~ input~"))


def degraded_board_at_the_usual_clock(seed: int) -> Scene:
    """A board of sixteen became slow at its usual clock, as its memory retries: half of the speed for all."""
    draw = Draw(seed, "slow5")
    at_s, slow, work = draw.between(250, 400), draw.whole(0, 15), draw.work(LLM)
    does = _held(work, COLLECTIVE, slow, at_s, 0.5, _longer(work, 0.5))
    world = World([H200] * 16, ranks(range(16), does, level(110_000), launcher="srun"), seed=seed)
    return Scene(world=world, until_s=at_s + 1100, wants=[_of(slow, at_s)], allows=allow("hang~"))


def neighbour_takes_half_of_one_board(seed: int) -> Scene:
    """Another user starts a job on a board of a running training: its rank gets half of the time, its peers wait."""
    draw = Draw(seed, "slow6")
    at_s, slow, work = draw.between(300, 600), draw.whole(0, 3), draw.work(LORA).but(util=99)
    does = _held(work, wait_on(L40S), slow, at_s, 0.5, work)
    other = program("other", "python eval.py", slow, draw.work(LORA), level(9000), user="bob", from_s=at_s)
    world = World([L40S] * 4, [*ranks(range(4), does, level(26000)), other], seed=seed)
    wants = [want("straggler", f"rank{slow} gpu:{slow} other", at_s, at_s + 900)]
    return Scene(world=world, until_s=at_s + 1100, wants=wants, allows=allow("hang~"))


def one_hot_board_of_a_consumer_node(seed: int) -> Scene:
    """Of four RTX 4090 the inner one throttles to 70 %; with few readings of the others, they poll in host memory."""
    draw = Draw(seed, "slow7")
    board = RTX_4090.without("pcie")
    at_s, work = draw.between(300, 500), draw.work(LORA)
    does = _held(work, wait_on(board), 2, at_s, 0.7, work.but(util=100))
    held = _clock(at_s, 0.68, "software thermal")
    world = World([board] * 4, ranks(range(4), does, level(17000), launcher="spawn"), seed=seed, conditions={2: held})
    return Scene(world=world, until_s=at_s + 1100, wants=[_of(2, at_s)], allows=allow("hang~ thermal"))


def straggler_in_long_steps(seed: int) -> Scene:
    """Steps of 30 s on eight B200: seven ranks work 18 s and poll 12 s, one works 30 s. It began after some hours."""
    draw = Draw(seed, "slow8")
    at_s, slow, work = 600.0, draw.whole(0, 7), draw.work(LLM)
    before, peers = train(work, step_s=18), cycle((18, work), (12, COLLECTIVE))
    does = lambda rank: phases(before, (at_s, _longer(work, 0.6) if rank == slow else peers))
    world = World([B200] * 8, ranks(range(8), does, level(130_000)), seed=seed)
    return Scene(world=world, until_s=at_s + 1400, wants=[_of(slow, at_s, 1200)], allows=allow("hang~"))


def straggler_between_checkpoints_and_gaps(seed: int) -> Scene:
    """Rank 6 of 8 is slow by a third; rank 0 saves every 4 min, gputop loses seconds and reads some zeros."""
    draw = Draw(seed, "slow9")
    at_s, work = draw.between(300, 500), draw.work(LLM)
    pauses = saves(phases(work), every_s=240, for_s=20)
    peers = saves(phases(mix((0.66, work), (0.34, COLLECTIVE))), every_s=240, for_s=20)
    slow = with_pauses(phases(_longer(work, 0.66)), COLLECTIVE, every_s=240, for_s=20)
    does = lambda rank: phases(pauses(rank), (at_s, slow if rank == 6 else peers(rank)))
    return Scene(
        world=World([H100] * 8, ranks(range(8), does, level(60000)), seed=seed),
        until_s=at_s + 1400,
        wants=[_of(6, at_s, 1200)],
        allows=allow("hang~"),
        disturbances=[
            often_gaps(draw.seed(), each_s=100, from_s=2, to_s=9),
            bad_process_zeros(draw.seed(), 0.005),
        ],
    )


def three_small_boards_and_one_slow_link(seed: int) -> Scene:
    """Of four T4 one has a PCIe link of width 1: its rank copies while the others poll for it for half of the step."""
    draw = Draw(seed, "slow10")
    slow, work = draw.whole(0, 3), draw.work(CNN).but(nv=0)
    copies = IDLE.but(util=6, share=0.03, rx=620, tx=20, cpu=80)
    slowly = mix((0.5, work), (0.5, copies))
    does = lambda rank: slowly if rank == slow else mix((0.5, work), (0.5, wait_on(T4)))
    world = World([T4] * 4, ranks(range(4), does, level(8000)), seed=seed)
    return Scene(world=world, until_s=1300, wants=[_of(slow, 0, 1100)], allows=allow("hang~ input~"))


def rank_on_the_wrong_socket(seed: int) -> Scene:
    """The rank of a solver is pinned to cores of the other socket, shared with its loader: 40 % of its time is CPU."""
    draw = Draw(seed, "slow11")
    slow, work = draw.whole(0, 2), draw.work(FP64)
    slowly = mix((0.6, work), (0.4, HOST))
    does = lambda rank: slowly if rank == slow else mix((0.6, work), (0.4, wait_on(H100_PCIE)))
    actors = ranks(range(3), does, level(33000), launcher="mpirun", command="./cp2k.psmp -i box.inp")
    world = World([H100_PCIE] * 3, actors, seed=seed)
    return Scene(world=world, until_s=1300, wants=[_of(slow, 0, 1100)], allows=allow("hang~ launch~"))
