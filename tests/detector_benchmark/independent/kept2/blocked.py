"""Processes that the kernel or a user has stopped."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DISK, FP32, LLM, LORA
from detector_benchmark.independent.boards import A100, A6000, H100, L4, RTX_4090
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, train
from detector_benchmark.independent.world import World

_STOPPED = ASLEEP.but(state="T", cpu=0, thread=0.0)
_DEEP = DISK.but(cpu=0, thread=0.0)


def training_is_stopped_by_a_signal(seed: int) -> Scene:
    """A user pressed Ctrl-Z in a training and went home: it is stopped, with 18 GB of an A6000."""
    draw = Draw(seed, "blocked1")
    at_s = draw.between(300, 700)
    work = train(draw.work(CNN), step_s=1, is_alone=True)
    main = program("python", "python train.py", 0, phases(work, (at_s, _STOPPED)), level(18000))
    return Scene(
        world=World([A6000], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("blocked stalled idle", "python gpu:0", at_s, at_s + 1200)],
        allows=allow("blocked stalled idle"),
    )


def rank_is_stopped_and_its_peers_wait(seed: int) -> Scene:
    """One of four ranks is stopped by a signal; its peers spin in the collective."""
    draw = Draw(seed, "blocked2")
    at_s, odd = draw.between(300, 700), draw.whole(0, 3)
    work = train(draw.work(LLM), step_s=3)
    does = lambda rank: phases(work, (at_s, _STOPPED if rank == odd else COLLECTIVE))
    return Scene(
        world=World([A100] * 4, ranks(range(4), does, level(55000)), seed=seed),
        until_s=at_s + 1200,
        wants=[want("blocked", f"rank{odd} gpu:{odd}", at_s, at_s + 900)],
        allows=allow("hang stalled idle~"),
    )


def process_waits_in_the_driver(seed: int) -> Scene:
    """A process is in D in the driver since it was killed, and does not end; its memory stays."""
    draw = Draw(seed, "blocked3")
    at_s = draw.between(200, 500)
    main = program("python", "python train.py", 0, phases(draw.work(LORA), (at_s, _DEEP)), level(15000))
    return Scene(
        world=World([RTX_4090], [main], seed=seed),
        until_s=at_s + 1200,
        wants=[want("blocked stalled", "python gpu:0", at_s, at_s + 900)],
        allows=allow("idle stalled blocked"),
    )


def checkpoint_to_a_dead_server(seed: int) -> Scene:
    """A training writes its checkpoint to a server that is down: in D for ever, its loaders asleep."""
    draw = Draw(seed, "blocked4")
    at_s = draw.between(400, 800)
    work = train(draw.work(FP32), step_s=1, is_alone=True)
    main = program("python", "python train.py", 0, phases(work, (at_s, _DEEP)), level(11000), terminal=0)
    return Scene(
        world=World([L4], [main, *loaders(main, 3, phases(ASLEEP.but(cpu=30), (at_s, ASLEEP)))], seed=seed),
        until_s=at_s + 1200,
        wants=[want("blocked stalled", "python gpu:0", at_s, at_s + 900)],
        allows=allow("idle stalled blocked"),
    )


def rank_in_d_holds_a_node(seed: int) -> Scene:
    """Rank 0 of eight is in D at a page of a mapped file whose disk is broken; seven ranks spin."""
    draw = Draw(seed, "blocked5")
    at_s = draw.between(300, 600)
    work = train(draw.work(LLM), step_s=2)
    does = lambda rank: phases(work, (at_s, COLLECTIVE if rank else _DEEP))
    actors = ranks(range(8), does, level(59000))
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=at_s + 1200,
        wants=[want("blocked hang", " ".join(f"rank{n} gpu:{n}" for n in range(8)), at_s, at_s + 1000)],
        allows=allow("hang stalled blocked idle~"),
    )
