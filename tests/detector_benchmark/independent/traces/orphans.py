"""Processes left over by their parents, memory that no process owns, and those that only look like it."""

from detector_benchmark.independent.activity import COLLECTIVE, DECODE, FP32, IDLE, LLM, RENDER
from detector_benchmark.independent.actors import Actor, Use, docker
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_3090, RTX_4090, TITAN_X
from detector_benchmark.independent.roles import but, program, ranks, shell
from detector_benchmark.independent.scripts import level, phases, script, steps
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_ALSO = allow("idle stalled hang")


def launcher_without_a_gpu_was_killed(seed: int) -> Scene:
    """The launcher, never on a GPU, is killed; its four ranks stay behind, and wait for ever with 40 GiB each."""
    actors = ranks(range(4), lambda rank: phases(LLM, (300, COLLECTIVE)))
    actors = but(actors, "rank.job", until_s=300)
    return Scene(
        world=World([A100] * 4, actors, seed=seed),
        until_s=1100,
        wants=[want("orphan hang", "rank0 rank1 rank2 rank3", 300, 900)],
        allows=_ALSO + allow("orphan tiny~"),
    )


def training_after_nohup(seed: int) -> Scene:
    """A training was started with nohup, and its shell was closed: it works on, as intended."""
    actors = [
        shell(until_s=300),
        program("train", "python -u train.py", 0, FP32, level(9000), parent="shell", terminal=0),
    ]
    return Scene(world=World([RTX_4090], actors, seed=seed), until_s=1200)


def memory_that_no_process_owns(seed: int) -> Scene:
    """A process was killed, and its 7.6 GiB stay on the board. The driver lists no process for them."""
    ghost = Actor(
        name="ghost",
        command="ghost",
        uses=(Use(0, script(IDLE), steps((0, 0), (240, 7800)), is_listed=False),),
        gone_s=240,
    )
    job = program("train", "python train.py", 0, phases(FP32), level(7800), until_s=240)
    other = program("other", "python other.py", 1, FP32, level(5000))
    return Scene(
        world=World([TITAN_X] * 2, [ghost, job, other], seed=seed),
        until_s=700,
        wants=[want("orphan", "gpu:0", 240, 460, is_alarm=True)],
    )


def server_that_became_a_daemon(seed: int) -> Scene:
    """A start script starts a server, and exits at once. The server is a daemon, and works on."""
    actors = [
        shell("start", "bash start.sh", until_s=60),
        program(
            "server",
            "llama-server --port 8080 -m m.gguf",
            0,
            DECODE,
            level(9000),
            parent="start",
            terminal=0,
            from_s=30,
        ),
    ]
    return Scene(world=World([RTX_3090], actors, seed=seed), until_s=1100)


def zombie_whose_memory_stays(seed: int) -> Scene:
    """A rank became a zombie: its parent does not wait for it, a thread of it is stuck, and 2.5 GiB stay taken."""
    main = shell("main", "python launch.py")
    dead = program("dead", "python eval.py", 0, FP32, level(2560), parent="main", zombie_s=280)
    return Scene(
        world=World([RTX_3090], [main, dead], seed=seed),
        until_s=900,
        wants=[want("orphan", "dead", 280, 580)],
        allows=(),
    )


def memory_that_comes_back_late(seed: int) -> Scene:
    """A large process is killed; the driver gives its 70 GiB back after 40 s, and lists no process meanwhile."""
    late = Actor(
        name="late",
        command="late",
        uses=(Use(0, script(IDLE), level(70000), is_listed=False),),
        from_s=300,
        until_s=341,
    )
    job = program("train", "python train.py", 0, LLM.but(nv=0), level(70000), until_s=300)
    return Scene(world=World([H100], [late, job], seed=seed), until_s=800)


def spinning_worker_of_a_dead_server(seed: int) -> Scene:
    """The front end of a server died. Its two workers on GPUs spin for ever, without a way to reach them."""
    front = Actor(
        name="front",
        command="python -m lmdeploy serve --server-port 23333",
        host=script(IDLE.but(cpu=9)),
        until_s=350,
        cgroup=docker("d"),
    )
    workers = [
        program(
            f"worker{n}",
            "python -m lmdeploy serve --server-port 23333",
            n,
            phases(DECODE, (350, COLLECTIVE)),
            level(33000),
            parent="front",
            terminal=0,
            cgroup=docker("d"),
        )
        for n in range(2)
    ]
    return Scene(
        world=World([L40S] * 2, [front, *workers], seed=seed),
        until_s=1300,
        wants=[want("orphan hang kernel", "worker0 worker1", 350, 1250)],
        allows=_ALSO + allow("orphan tiny~ kernel"),
    )


def contexts_of_a_desktop(seed: int) -> Scene:
    """Drivers count some hundred MiB that belong to no listed process: the contexts of the desktop."""
    extra = Actor(name="extra", command="extra", uses=(Use(0, script(IDLE), level(380), is_listed=False),), age_s=90000)
    job = program("render", "blender -b a.blend -a", 0, RENDER, level(6000))
    return Scene(world=World([RTX_4090], [extra, job], seed=seed), until_s=900)
