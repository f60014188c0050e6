"""Processes that the kernel or a user has stopped."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, DISK, FP32, FP64, IDLE, LLM, LORA
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import A100, A6000, B200, H100, H100_MIG, L4, L40S, RTX_3090, RTX_4090, V100
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, train
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


def writer_of_a_solver_waits_for_its_disk(seed: int) -> Scene:
    """A solver on two V100 writes to a disk that has failed: both of its processes are in D for ever."""
    draw = Draw(seed, "blocked6")
    at_s = draw.between(300, 600)
    does = phases(draw.work(FP64), (at_s, _DEEP))
    actors = ranks(range(2), lambda rank: does, level(9000), launcher="mpirun", command="./ns3d case.nml")
    return Scene(
        world=World([V100] * 2, actors, seed=seed),
        until_s=at_s + 1200,
        wants=[want("blocked stalled hang", "rank0 rank1 gpu:0 gpu:1 rank.job", at_s, at_s + 900)],
        allows=allow("idle stalled hang blocked"),
    )


def server_is_frozen_by_an_administrator(seed: int) -> Scene:
    """An administrator froze a server with SIGSTOP and forgot it: its clients wait, its memory is taken."""
    draw = Draw(seed, "blocked7")
    at_s = draw.between(200, 500)
    does = phases(draw.work(DECODE), (at_s, _STOPPED))
    server = program("server", "ollama serve", 0, does, level(15000), terminal=0)
    return Scene(
        world=World([RTX_3090], [server], seed=seed),
        until_s=at_s + 1200,
        wants=[want("blocked idle", "server gpu:0", at_s, at_s + 900)],
        allows=allow("blocked stalled idle"),
    )


def job_of_a_slice_is_stopped(seed: int) -> Scene:
    """A job in a MIG slice was stopped at its terminal and never continued; the other slice works."""
    draw = Draw(seed, "blocked8")
    at_s = draw.between(200, 600)
    one = program("one", "python train.py", 0, phases(draw.work(LORA), (at_s, _STOPPED)), level(21000), instance=1)
    two = program("two", "python other.py", 0, draw.work(CNN), level(17000), instance=2, user="bob")
    return Scene(
        world=World([H100_MIG], [one, two], seed=seed),
        until_s=at_s + 1400,
        wants=[want("blocked idle stalled", "one", at_s, at_s + 1200)],
        allows=allow("blocked stalled idle", "one gpu:0"),
    )


def download_hangs_in_a_broken_file_system(seed: int) -> Scene:
    """A program in a container is in D in a FUSE file system whose server crashed, before its first step."""
    draw = Draw(seed, "blocked9")
    at_s = draw.between(30, 90)
    does = phases(IDLE.but(cpu=60), (at_s, _DEEP))
    main = program("python", "python eval.py", 0, does, level(510), terminal=0, cgroup=docker("3"), age_s=5.0)
    return Scene(
        world=World([L40S], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("blocked", "python gpu:0", at_s, at_s + 1200)],
        allows=allow("idle stalled"),
    )


def all_ranks_of_a_job_are_stopped(seed: int) -> Scene:
    """A user stopped a job of four ranks with its process group, to free the boards; their memory stays full."""
    draw = Draw(seed, "blocked10")
    at_s = draw.between(300, 600)
    does = phases(train(draw.work(LLM), step_s=1), (at_s, _STOPPED))
    actors = ranks(range(4), lambda rank: does, level(140_000))
    return Scene(
        world=World([B200] * 4, actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("blocked stalled idle", everyone(4), at_s, at_s + 1000)],
        allows=allow("blocked stalled idle hang"),
    )
