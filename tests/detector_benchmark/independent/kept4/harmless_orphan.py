"""Processes without a parent, and memory without a process, that are in order."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, PREFILL
from detector_benchmark.independent.actors import TMUX, Actor, docker, service
from detector_benchmark.independent.boards import A100, B200, H100, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import lost_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders, program, ranks, shell
from detector_benchmark.independent.scripts import Curve, level
from detector_benchmark.independent.sketches import ghost, mib_of, scene, turns, well_fed
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, serves, train

_BATCH: Any = {"variables": {}, "terminal": 0}


def _works(
    seed: int,
    boards: Sequence[Board],
    actors: Sequence[Actor],
    *,
    until_s: float = 1200,
    allows: str = "",
    **more: Any,
) -> Scene:
    return scene(seed, boards, actors, until_s, allows=allows, **more)


# --- they are meant to live on -------------------------------------------------------------------------------------
def training_after_its_shell_was_left(seed: int) -> Scene:
    """A training on an A100 was started with nohup; its shell is left after some minutes, and it works on."""
    draw = Draw(seed, "k4kept1")
    login = shell("login", "-bash", until_s=draw.between(200, 400))
    job = program(
        "job", "nohup python train.py", 0, drifting(draw, draw.work(FP32)), mib_of(A100, 0.6), parent="login", **_BATCH
    )
    return _works(seed, [A100], [login, job, *loaders(job, 4, well_fed(draw))])


def server_that_made_itself_a_daemon(seed: int) -> Scene:
    """A server on an L4 forked, its first process ended, and parent 1 has it since: it answers requests."""
    draw = Draw(seed, "k4kept2")
    first = shell("first", "./answer --daemon", until_s=draw.between(100, 200))
    does = serves(draw, draw.work(PREFILL), each_s=15, for_s=8)
    job = program("job", "./answer --daemon --port 9000", 0, does, mib_of(L4, 0.5), parent="first", **_BATCH)
    return _works(seed, [L4], [first, job])


def service_of_the_system(seed: int) -> Scene:
    """A service on a T4 was started by the system, with parent 1, and works."""
    draw = Draw(seed, "k4kept3")
    does = serves(draw, draw.work(DECODE), each_s=20, for_s=12)
    job = program("job", "/opt/asr/bin/asr --port 7000", 0, does, mib_of(T4, 0.6), cgroup=service("asr"), **_BATCH)
    return _works(seed, [T4], [job])


def container_whose_starter_has_ended(seed: int) -> Scene:
    """The client that started a container on a B200 has ended, as it does; the training inside goes on."""
    draw = Draw(seed, "k4kept4")
    client = shell("client", "docker run -d --gpus all train", until_s=draw.between(60, 150))
    does = rippling(draw, draw.work(LLM))
    job = program("job", "python train.py", 0, does, mib_of(B200, 0.7), parent="client", cgroup=docker("e"), **_BATCH)
    return _works(seed, [B200], [client, job])


def session_that_was_detached(seed: int) -> Scene:
    """A user detached from tmux and left; the ranks of the job below it on two 4090 work on."""
    draw = Draw(seed, "k4kept5")
    work = train(draw.work(LORA), step_s=1.1, is_alone=True)
    login = shell("login", "-bash", until_s=draw.between(200, 400))
    multiplexer = shell("tmux", "tmux new -s a", parent="login")
    actors = but(ranks(range(2), lambda rank: work, mib_of(RTX_4090, 0.7)), "rank.job", parent="tmux", variables=TMUX)
    return _works(seed, [RTX_4090] * 2, [login, multiplexer, *actors])


# --- they are ending -----------------------------------------------------------------------------------------------
def _ends(seed: int, name: str, board: Board, for_s: float, **more: Any) -> Scene:
    """End a process with much memory: the driver needs some time to give it back."""
    draw = Draw(seed, name)
    at_s, high = draw.between(240, 400), draw.between(0.6, 0.9) * board.memory_mib // 2 * 2
    length_s = for_s * draw.between(0.9, 1.1)
    falls: Curve = lambda t_s: high * max(0.02, min(1.0, 1 - (t_s - at_s) / length_s)) // 2 * 2
    does = turns(drifting(draw, draw.work(CNN)), at_s, ASLEEP)
    gone = {key: at_s + (draw.between(2, 6) if key != "until_s" else 0) for key in more.pop("dies", ())}
    job = program("job", "python train.py", 0, does, falls, until_s=at_s + length_s, **_BATCH | gone | more)
    return _works(seed, [board], [job], until_s=at_s + 400)


def zombie_until_the_driver_is_done(seed: int) -> Scene:
    """A process on an H100 ended and is a zombie for 35 s, while the driver gives its 60 GiB back."""
    return _ends(seed, "k4kept6", H100, 36, dies=("zombie_s",))


def pid_listed_until_the_driver_is_done(seed: int) -> Scene:
    """The pid of a process on a V100 stays listed for 35 s after its end, with less and less memory."""
    return _ends(seed, "k4kept7", V100, 34, dies=("gone_s",))


def teardown_of_eight_ranks(seed: int) -> Scene:
    """Eight ranks on A100 end one after the other within 38 s of their launcher's end, as their tables are freed."""
    draw = Draw(seed, "k4kept8")
    at_s = draw.between(260, 400)
    work = train(draw.work(LLM), step_s=0.9)
    actors = ranks(range(8), lambda rank: turns(work, at_s, ASLEEP), mib_of(A100, 0.8))
    actors = but(actors, "rank.job", until_s=at_s + 4)
    for rank in range(8):
        actors = but(actors, f"rank{rank}", until_s=at_s + draw.between(14, 38))
    return _works(seed, [A100] * 8, actors, until_s=at_s + 300)


def memory_that_lags_behind_an_end(seed: int) -> Scene:
    """A process on an L40S has ended; for half a minute its memory is in use without a process, and then free."""
    draw = Draw(seed, "k4kept9")
    at_s = draw.between(240, 400)
    ended = program("ended", "python run.py", 0, drifting(draw, draw.work(FP32)), level(21000), until_s=at_s, **_BATCH)
    rest = ghost(0, 20500, at_s)
    uses = tuple(_until(use, at_s + draw.between(26, 36)) for use in rest.uses)
    actors = but([ended, rest], "ghost", uses=uses)
    return _works(seed, [L40S], actors, until_s=at_s + 400)


def _until(use: Any, end_s: float) -> Any:
    """Return the use with its memory until some time only."""
    mib = use.memory(0.0)
    return type(use)(use.gpu, use.does, lambda t_s: mib if t_s < end_s else 0.0, is_listed=False)


# --- gputop does not see all ---------------------------------------------------------------------------------------
def processes_of_other_containers(seed: int) -> Scene:
    """gputop runs in a container on an A100: memory of other containers belongs to processes that it cannot see."""
    draw = Draw(seed, "k4kept10")
    mine = program("job", "python train.py", 0, drifting(draw, draw.work(CNN)), mib_of(A100, 0.3), **_BATCH)
    other = ghost(0, draw.whole(9000, 15000) * 2, draw.between(100, 300))
    return _works(seed, [A100], [mine, other], is_in_container=True)


def memory_of_processes_that_fails_now_and_then(seed: int) -> Scene:
    """The memory of a process on a 3090 cannot be read in a fifth of the samples; its board says that it is in use."""
    draw = Draw(seed, "k4kept11")
    job = program("job", "python train.py", 0, drifting(draw, draw.work(FP32)), mib_of(RTX_3090, 0.7), **_BATCH)
    return _works(seed, [RTX_3090], [job], disturb=[lost_memory(seed, 0.2)])
