"""Processes left over by their parents, memory that no process owns, and those that only look like it."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, FP32, IDLE, LORA, SPIN
from detector_benchmark.independent.actors import TMUX, Actor, Use, docker, service
from detector_benchmark.independent.boards import A100_40, A6000, L40S, RTX_3090, T4, V100
from detector_benchmark.independent.roles import but, program, ranks, shell
from detector_benchmark.independent.scripts import level, phases, script, steps
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_ALSO = allow("idle stalled hang")


def worker_left_by_a_program_in_python(seed: int) -> Scene:
    """A Python program without a GPU started a worker process, and crashed. The worker sleeps with 12 GiB for ever."""
    main = shell("main", "python sweep_main.py", until_s=330)
    worker = program(
        "worker", "python sweep_main.py", 0, phases(CNN.but(nv=0), (330, IDLE)), level(12400), parent="main"
    )
    return Scene(
        world=World([A6000], [main, worker], seed=seed),
        until_s=1500,
        wants=[want("orphan", "worker", 330, 1230)],
        allows=_ALSO,
    )


def ranks_that_need_a_while_to_exit(seed: int) -> Scene:
    """A launcher ends its job. Its ranks need 35 s to give back their memory; then they are gone."""
    actors = ranks(range(4), lambda rank: phases(CNN, (400, IDLE.but(cpu=60, state="D"))), level(30000), until_s=436)
    actors = but(actors, "rank.job", until_s=401)
    return Scene(world=World([A100_40] * 4, actors, seed=seed), until_s=900)


def process_that_the_driver_still_lists(seed: int) -> Scene:
    """A process died in the kernel of the driver: the driver lists its pid with 5.4 GiB, /proc has it no more."""
    dead = program("dead", "python train.py", 1, FP32, level(5400), gone_s=300)
    other = program("other", "python other.py", 0, LORA, level(9000))
    return Scene(
        world=World([V100] * 2, [dead, other], seed=seed), until_s=800, wants=[want("orphan", "dead", 300, 520)]
    )


def neighbours_in_other_containers(seed: int) -> Scene:
    """gputop runs in a container: the memory of other containers belongs to processes that it cannot see."""
    hidden = Actor(
        name="hidden", command="hidden", uses=(Use(0, script(FP32), level(19000), is_listed=False),), cgroup=docker("e")
    )
    own = program("own", "python train.py", 0, CNN.but(nv=0), level(8100), cgroup=docker("a"))
    return Scene(world=World([L40S], [hidden, own], seed=seed, is_in_container=True), until_s=900)


def one_rank_left_alone(seed: int) -> Scene:
    """Three of four ranks and the launcher died, outside of Slurm. Rank 2 spins in a collective for ever."""
    actors = ranks(range(4), lambda rank: phases(LORA, (300, COLLECTIVE)), level(22000), launcher="mpirun")
    for name in ("rank.job", "rank0", "rank1", "rank3"):
        actors = but(actors, name, until_s=300)
    return Scene(
        world=World([RTX_3090] * 4, actors, seed=seed),
        until_s=1300,
        wants=[want("orphan", "rank2", 300, 1200, is_alarm=True)],
        allows=_ALSO + allow("orphan tiny~ kernel"),
    )


def training_in_tmux(seed: int) -> Scene:
    """A training runs below tmux, whose shell was replaced. It computes."""
    actors = [
        shell("old", until_s=200),
        program("train", "python train.py", 0, FP32, level(15000), parent="old", variables=TMUX),
    ]
    return Scene(world=World([A100_40], actors, seed=seed), until_s=1000)


def unexplained_memory_after_a_crash(seed: int) -> Scene:
    """Two boards keep 624 MiB and a kernel at 100 %, 103 W, after a hung job was killed; no process is listed."""
    ghosts = [
        Actor(
            name=f"ghost{n}",
            command="ghost",
            uses=(Use(n, phases(IDLE, (260, SPIN)), steps((0, 0), (260, 1624)), is_listed=False),),
            from_s=260,
        )
        for n in range(2)
    ]
    job = ranks([0, 1], lambda rank: phases(FP32, (200, COLLECTIVE)), level(18000), until_s=260)
    return Scene(
        world=World([L40S] * 2, [*ghosts, *job], seed=seed),
        until_s=800,
        wants=[want("orphan", "gpu:0 gpu:1", 260, 480, is_alarm=True)],
    )


def service_of_systemd(seed: int) -> Scene:
    """A service has pid 1 as its parent from the beginning, and little to do."""
    job = program(
        "svc",
        "/opt/asr/bin/asr-server --port 7001",
        0,
        DECODE.at(0.1).but(cpu=10),
        level(5000),
        terminal=0,
        cgroup=service("asr"),
        age_s=900000,
    )
    return Scene(world=World([T4], [job], seed=seed), until_s=1200)
