"""Processes whose job is gone, and memory that belongs to no process."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, FP32, IDLE, LLM, LORA
from detector_benchmark.independent.actors import Actor, Use, docker
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    B200,
    H100,
    H200,
    L40S,
    PRO_6000,
    RTX_3090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import faults
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders, program, ranks, shell
from detector_benchmark.independent.scripts import Part, level, phases, script
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, train, wait_on
from detector_benchmark.independent.world import World

_ALSO = "hang stalled idle kernel~ spin"


def _ghost(gpu: int, from_s: float, mib: float, does: Part = IDLE, name: str = "ghost") -> Actor:
    """Return memory that the driver charges to no process: a kernel thread stands in for its owner."""
    use = Use(gpu, script(does), level(mib), is_listed=False)
    return Actor(name=name, command="[kworker/u129:2]", uses=(use,), user="root", from_s=from_s, host=script(IDLE))


def launcher_is_killed_and_eight_ranks_stay(seed: int) -> Scene:
    """A user kills torchrun with SIGKILL. Seven ranks notice and end; one stays for ever with 60 GB."""
    draw = Draw(seed, "orphan1")
    at_s, stays = draw.between(300, 700), draw.whole(0, 7)
    work = train(draw.work(LLM), step_s=3)
    actors = ranks(range(8), lambda rank: phases(work, (at_s, COLLECTIVE)), level(61000))
    actors = [one if one.name == f"rank{stays}" else but([one], one.name, until_s=at_s)[0] for one in actors]
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=at_s + 1000,
        wants=[want("orphan", f"rank{stays} gpu:{stays}", at_s, at_s + 800)],
        allows=allow(_ALSO),
    )


def shell_ends_and_its_training_idles_on(seed: int) -> Scene:
    """A script whose shell was closed sits under init, asleep, with 20 GB; its launcher was never on a GPU."""
    draw = Draw(seed, "orphan2")
    at_s = draw.between(250, 500)
    lead = shell("lead", "/bin/bash ./run_all.sh", until_s=at_s)
    main = program("python", "python run.py", 0, phases(draw.work(CNN), (at_s, ASLEEP)), level(20400), parent="lead")
    return Scene(
        world=World([A100_40], [lead, main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("orphan", "python gpu:0", at_s, at_s + 1200)],
        allows=allow(_ALSO),
    )


def driver_lists_a_process_that_is_gone(seed: int) -> Scene:
    """A process was killed in the middle of a kernel: no such pid any more, its 11 GB stay, the board is at 0 %."""
    draw = Draw(seed, "orphan3")
    at_s = draw.between(200, 600)
    main = program("python", "python train.py", 0, draw.work(FP32), level(11200), gone_s=at_s)
    return Scene(
        world=World([V100], [main], seed=seed),
        until_s=at_s + 700,
        wants=[want("orphan", "python gpu:0", at_s, at_s + 300)],
    )


def zombie_leader_keeps_its_memory(seed: int) -> Scene:
    """The main process is a zombie: its parent never waits for it, a loader lives on, and 16 GB stay allocated."""
    draw = Draw(seed, "orphan4")
    at_s = draw.between(250, 600)
    lead = shell("lead", "python sweep_agent.py")
    main = program("python", "python trial.py", 0, draw.work(CNN), level(16400), parent="lead", zombie_s=at_s)
    return Scene(
        world=World([RTX_3090], [lead, main, *loaders(main, 1, IDLE)], seed=seed),
        until_s=at_s + 800,
        wants=[want("orphan", "python gpu:0", at_s, at_s + 400)],
        allows=allow("idle~"),
    )


def memory_stays_after_a_killed_collective(seed: int) -> Scene:
    """Two RTX PRO 6000 stay at 100 %, 120 W and 624 MiB after a hung job was killed; no process is listed."""
    draw = Draw(seed, "orphan5")
    at_s = draw.between(200, 400)
    work = train(draw.work(LORA), step_s=1)
    actors = ranks(range(2), lambda rank: phases(work, (at_s - 100, wait_on(PRO_6000))), level(41000), until_s=at_s)
    ghosts = [_ghost(n, at_s, 624 + 2 * n, wait_on(PRO_6000), f"ghost{n}") for n in range(2)]
    scene = World([PRO_6000] * 2, [*actors, *ghosts], seed=seed)
    return Scene(
        world=scene,
        until_s=at_s + 900,
        wants=[want("orphan", "gpu:0 gpu:1", at_s, at_s + 500)],
        allows=allow("kernel hang tiny~ spin~"),
    )


def _left(seed: int, name: str, board: Board, mib: float, by_s: float = 400) -> Scene:
    """Return a board on which memory stays when its process ends."""
    draw = Draw(seed, name)
    at_s = draw.between(200, 500)
    main = program("python", "python train.py", 0, draw.work(CNN), level(mib + draw.between(500, 2000)), until_s=at_s)
    return Scene(
        world=World([board], [main, _ghost(0, at_s, mib)], seed=seed),
        until_s=at_s + by_s + 200,
        wants=[want("orphan", "gpu:0", at_s, at_s + by_s)],
    )


def memory_of_a_dead_process_on_a100(seed: int) -> Scene:
    """A process ended in the driver: 30 GB of an A100 stay in use, and no list has a process."""
    return _left(seed, "orphan6", A100, 30200)


def memory_of_a_dead_process_on_t4(seed: int) -> Scene:
    """4.5 GB of a T4 stay in use when the process has long ended, so that the next one runs out of memory."""
    return _left(seed, "orphan7", T4, 4600)


def memory_of_a_dead_container_seen_with_faults(seed: int) -> Scene:
    """A container was removed by force; 100 GB stay on an H200. Some readings of the memory fail."""
    scene = _left(seed, "orphan8", H200, 100_000, by_s=600)
    bad = faults(Draw(seed, "orphan8").seed(), 0.01, "power_average_w")
    return Scene(world=scene.world, until_s=scene.until_s, wants=scene.wants, disturbances=[bad])


def ranks_outlive_their_launcher(seed: int) -> Scene:
    """The launcher of four ranks dies; all four go on to wait for each other, under init, asleep."""
    draw = Draw(seed, "orphan9")
    at_s = draw.between(300, 600)
    work = train(draw.work(CNN), step_s=0.7)
    actors = ranks(range(4), lambda rank: phases(work, (at_s, ASLEEP)), level(draw.mib(A6000)), launcher="mpirun")
    actors = but(actors, "rank.job", until_s=at_s)
    return Scene(
        world=World([A6000] * 4, actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("orphan", everyone(4), at_s, at_s + 1000)],
        allows=allow(_ALSO),
    )


def worker_of_a_dead_server(seed: int) -> Scene:
    """The main process of a server crashed. Its worker stays, polls a closed pipe at 100 % CPU and keeps the model."""
    draw = Draw(seed, "orphan10")
    at_s = draw.between(400, 700)
    lead = shell("lead", "python -m sglang.launch_server --port 30000", until_s=at_s)
    does = phases(draw.work(DECODE), (at_s, IDLE.but(cpu=100, state="R")))
    main = program("worker", "sglang::scheduler", 0, does, level(38000), parent="lead", terminal=0)
    return Scene(
        world=World([L40S], [lead, main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("orphan", "worker gpu:0", at_s, at_s + 1200)],
        allows=allow(_ALSO),
    )


def ranks_of_a_stopped_container_job(seed: int) -> Scene:
    """The first process of a container job died by SIGKILL; two of its four ranks stay on their B200."""
    draw = Draw(seed, "orphan11")
    at_s = draw.between(300, 500)
    work = train(draw.work(LLM), step_s=6)
    actors = ranks(range(4), lambda rank: phases(work, (at_s, COLLECTIVE)), level(99000), cgroup=docker("d"))
    for name in ("rank.job", "rank0", "rank3"):
        actors = but(actors, name, until_s=at_s)
    return Scene(
        world=World([B200] * 4, actors, seed=seed),
        until_s=at_s + 1100,
        wants=[want("orphan", "rank1 rank2 gpu:1 gpu:2", at_s, at_s + 900)],
        allows=allow(_ALSO),
    )
