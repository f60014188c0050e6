"""Processes without their first parent, and memory without a process, that are in order."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, FP64, LLM, LORA, PREFILL, Activity
from detector_benchmark.independent.actors import TMUX, Actor, Use, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    GH200,
    H100,
    H200,
    L4,
    L40S,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import lost_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders, program, ranks, shell
from detector_benchmark.independent.scripts import Curve, Part, level, script
from detector_benchmark.independent.sketches import BATCH, ghost, mib_of, scene, turns, well_fed
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, serves, train


def _lives_on(
    seed: int,
    name: str,
    board: Board,
    parent: str,
    command: str,
    does: Callable[[Draw], Part],
    *,
    workers: int = 0,
    **more: Any,
) -> Scene:
    """Let the parent of a program exit, as it is meant to; the program works on."""
    draw = Draw(seed, name)
    first = shell("first", parent, until_s=draw.between(80, 360))
    job = program("job", command, 0, does(draw), mib_of(board, 0.6), parent="first", **BATCH | more)
    return scene(seed, [board], [first, job, *loaders(job, workers, well_fed(draw))], 1100)


# --- they are meant to live on --------------------------------------------------------------------------------------
def training_after_a_logout(seed: int) -> Scene:
    """A training on an H200 was started with nohup; its user logged out, and it works on with its loaders."""
    does = lambda draw: rippling(draw, drifting(draw, draw.work(LLM)))
    return _lives_on(seed, "k5kept1", H200, "-bash", "nohup python train.py", does, workers=4)


def program_of_a_screen_session(seed: int) -> Scene:
    """The first process of a screen session on a V100 has ended; the solver below the session works on."""
    draw = Draw(seed, "k5kept2")
    first = shell("first", "screen -S run", until_s=draw.between(60, 120))
    session = shell("session", "SCREEN -S run", parent="first")
    job = program(
        "job", "./solve", 0, drifting(draw, draw.work(FP64)), mib_of(V100, 0.5), parent="session", variables=TMUX
    )
    return scene(seed, [V100], [first, session, job], 1000)


def server_that_forks_twice(seed: int) -> Scene:
    """A server on an L4 forked twice to become a daemon, its first process ended, and it answers requests since."""
    does = lambda draw: serves(draw, draw.work(PREFILL), each_s=14, for_s=9)
    return _lives_on(seed, "k5kept3", L4, "./tagger --daemon", "./tagger --daemon --port 9100", does)


def model_of_a_system_service(seed: int) -> Scene:
    """Ollama on an RTX 5090 is a service of the system; its runner answers questions, and the runner's parent is restarted."""
    does = lambda draw: serves(draw, draw.work(DECODE), each_s=20, for_s=14)
    command = "/usr/local/bin/ollama runner --port 41231"
    return _lives_on(seed, "k5kept4", RTX_5090, "/usr/local/bin/ollama serve", command, does, cgroup=service("ollama"))


def container_started_in_the_background(seed: int) -> Scene:
    """The client that started a container on an A10G in the background has ended; the tuning inside goes on."""
    does = lambda draw: drifting(draw, draw.work(LORA))
    return _lives_on(seed, "k5kept5", A10G, "docker run -d --gpus 0 tune", "python tune.py", does, cgroup=docker("c"))


def sweep_in_the_background(seed: int) -> Scene:
    """A script started four trials on A100 in the background with setsid, and ended; all of them work."""
    draw = Draw(seed, "k5kept6")
    first = shell("first", "/bin/bash start_all.sh", until_s=draw.between(60, 200))
    trials = [
        program(
            f"trial{n}",
            f"python trial.py {n}",
            n,
            drifting(draw, draw.work(CNN)),
            mib_of(A100, 0.4),
            parent="first",
            **BATCH,
        )
        for n in range(4)
    ]
    return scene(seed, [A100] * 4, [first, *trials], 1000, interval_s=2)


# --- they are ending ------------------------------------------------------------------------------------------------
def _gives_back(seed: int, name: str, board: Board, work: Activity, seconds: float, *, how: str = "") -> Scene:
    """End a process whose memory the driver needs some time to give back. ``how``: zombie_s, gone_s, or as it is."""
    draw = Draw(seed, name)
    at_s, high = draw.between(240, 400), draw.between(0.6, 0.9) * board.memory_mib // 2 * 2
    length_s = seconds * draw.between(0.85, 1.05)
    falls: Curve = lambda t_s: high * max(0.02, min(1.0, 1 - (t_s - at_s) / length_s)) // 2 * 2
    does = turns(drifting(draw, draw.work(work)), at_s, ASLEEP)
    ends: Any = {how: at_s + 3} if how else {}
    job = program("job", "python train.py", 0, does, falls, until_s=at_s + length_s, **BATCH | ends)
    return scene(seed, [board], [job], at_s + 380)


def zombie_for_half_a_minute(seed: int) -> Scene:
    """A training on a GH200 ended and is a zombie for half a minute, while its pinned memory is given back."""
    return _gives_back(seed, "k5kept7", GH200, LLM, 34, how="zombie_s")


def pid_listed_for_half_a_minute(seed: int) -> Scene:
    """The driver of a T4 lists the pid of an ended process for half a minute, with less and less memory."""
    return _gives_back(seed, "k5kept8", T4, CNN, 32, how="gone_s")


def ranks_that_end_in_turns(seed: int) -> Scene:
    """Four ranks on H100 end within forty seconds after their launcher, one after the other."""
    draw = Draw(seed, "k5kept9")
    at_s = draw.between(260, 380)
    work = train(draw.work(LLM), step_s=0.9)
    actors = ranks(range(4), lambda rank: turns(work, at_s, ASLEEP), mib_of(H100, 0.8))
    actors = but(actors, "rank.job", until_s=at_s + 3)
    for rank in range(4):
        actors = but(actors, f"rank{rank}", until_s=at_s + draw.between(10, 38))
    return scene(seed, [H100] * 4, actors, at_s + 300)


def memory_free_half_a_minute_later(seed: int) -> Scene:
    """A program on an L40S has ended; for half a minute its memory belongs to no process, and then it is free."""
    draw = Draw(seed, "k5kept10")
    at_s, mib = draw.between(240, 380), draw.whole(8000, 14000) * 2.0
    end_s = at_s + draw.between(22, 33)
    ended = program(
        "ended", "python run.py", 0, drifting(draw, draw.work(FP32)), level(mib + 300), until_s=at_s, **BATCH
    )
    use = Use(0, script(ASLEEP), lambda t_s: mib if t_s < end_s else 0.0, is_listed=False)
    return scene(seed, [L40S], but([ended, ghost(0, mib, at_s)], "ghost", uses=(use,)), at_s + 400)


# --- gputop does not see all ----------------------------------------------------------------------------------------
def memory_of_the_pod_beside(seed: int) -> Scene:
    """gputop runs in a pod on an H100: the memory of the pod beside belongs to processes that it cannot see."""
    draw = Draw(seed, "k5kept11")
    mine = program(
        "job", "python train.py", 0, drifting(draw, draw.work(CNN)), mib_of(H100, 0.3), cgroup=docker("a"), **BATCH
    )
    other = ghost(0, draw.whole(8000, 20000) * 2, draw.between(100, 300))
    return scene(seed, [H100], [mine, other], 1100, is_in_container=True)


def memory_that_cannot_be_read_at_times(seed: int) -> Scene:
    """The memory of two processes on a 3090 cannot be read in a quarter of the samples; their board reports it all the time."""
    draw = Draw(seed, "k5kept12")
    actors: Sequence[Actor] = [
        program(
            f"job{n}",
            f"python fold.py {n}",
            0,
            drifting(draw, draw.work(FP32).at(0.48)),
            level(7000 + 900 * n),
            **BATCH,
        )
        for n in range(2)
    ]
    return scene(seed, [RTX_3090], actors, 1100, disturb=[lost_memory(draw.seed(), 0.25)])
