"""Processes that hold GPU memory for long and do nothing, on the GPU or on the host.

Of a program that worked, finished and did not exit, `idle` and `stalled` are both right: from outside they are one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, LORA, QUERY, Activity
from detector_benchmark.independent.actors import TMUX, Actor, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A30_MIG,
    A100,
    GH200,
    H100,
    H200,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_5090,
    T4,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import lost_memory, no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import BATCH, alone, jammed, mib_of, notebook, scene, turns
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want

_SHOWN_S = 1500
_END_S = 1620


def _never_works(seed: int, name: str, board: Board, command: str, *, share: float, **more: Any) -> Scene:
    """Let a process hold memory, without any use since gputop began to look."""
    draw = Draw(seed, name)
    rest = jammed(draw.between(0, 1.5))
    wants = want("idle", "job gpu:0", 0, _SHOWN_S)
    given: Any = {"allows": "stalled~", "interval_s": 2.0, "age_s": draw.between(20000, 90000)} | more
    return alone(seed, board, rest, mib_of(board, share), _END_S, wants, command=command, **given)


def _rests_after(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    kinds: str,
    allows: str = "stalled~",
    at: tuple[float, float] = (80, 420),
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    """Let a process work for some minutes, then hold its memory and do nothing."""
    draw = Draw(seed, name)
    at_s = draw.between(*at)
    does = turns(drifting(draw, draw.work(work)), at_s, jammed(draw.between(0, 1.8)))
    wants = want(kinds, "job gpu:0", at_s, at_s + _SHOWN_S)
    given: Any = {
        "allows": allows,
        "interval_s": 2.0,
        "disturb": disturb(draw),
        "actors": beside,
        "command": command,
    } | more
    return alone(seed, board, does, mib_of(board, draw.between(0.3, 0.9)), at_s + _END_S, wants, **given)


# --- nothing since gputop began to look -----------------------------------------------------------------------------
def model_server_of_a_finished_project(seed: int) -> Scene:
    """A server of models on an A10G still runs for a project that has ended; no request comes."""
    command = "tritonserver --model-repository=/models --http-port=8000"
    return _never_works(seed, "k5idle1", A10G, command, share=0.55, cgroup=docker("c"))


def memory_reserved_by_a_framework(seed: int) -> Scene:
    """A program in JAX took three quarters of an A100 at its start, and waits for a file that comes tomorrow."""
    return _never_works(seed, "k5idle2", A100, "python watch_inbox.py", share=0.75)


def chat_program_without_a_user(seed: int) -> Scene:
    """Ollama on an RTX 5090 keeps a model in memory without a limit of time; a desktop is beside."""
    more: Any = {"actors": desktop(), "cgroup": service("ollama"), "user": "ollama"}
    return _never_works(seed, "k5idle3", RTX_5090, "/usr/local/bin/ollama runner --port 38117", share=0.6, **more)


def kernel_of_last_week(seed: int) -> Scene:
    """A kernel of Jupyter on a GH200 has held forty gigabytes since last week; its browser is closed."""
    draw = Draw(seed, "k5idle4")
    actors = notebook("nb", 0, jammed(draw.between(0, 0.8)), mib_of(GH200, 0.44), age_s=600000)
    return scene(seed, [GH200], actors, _END_S, want("idle", "nb gpu:0", 0, _SHOWN_S), interval_s=2)


def shell_of_python_in_an_old_session(seed: int) -> Scene:
    """A prompt of IPython in a session of tmux holds half of an L40S since yesterday, while Bob works on the same board."""
    draw = Draw(seed, "k5idle5")
    old = program("old", "python /opt/env/bin/ipython", 0, jammed(0.2), mib_of(L40S, 0.5), variables=TMUX, age_s=90000)
    bob = program("bob", "python train.py", 0, drifting(draw, draw.work(CNN)), mib_of(L40S, 0.3), user="bob", **BATCH)
    return scene(seed, [L40S], [old, bob], _END_S, want("idle", "old", 0, _SHOWN_S), interval_s=2)


# --- people who left ------------------------------------------------------------------------------------------------
def notebook_after_a_meeting_began(seed: int) -> Scene:
    """A notebook on an H100 trained for some minutes; then its author went to a meeting of half an hour."""
    draw = Draw(seed, "k5idle6")
    at_s = draw.between(150, 420)
    actors = notebook("nb", 0, turns(drifting(draw, draw.work(LORA)), at_s, jammed(0.4)), mib_of(H100, 0.7))
    return scene(seed, [H100], actors, at_s + _END_S, want("idle", "nb gpu:0", at_s, at_s + _SHOWN_S), interval_s=2)


def tables_of_a_database_without_queries(seed: int) -> Scene:
    """A database on a V100 keeps its tables on the board; after the last report of the day no query comes."""
    command = "./heavydb --port 6274 --data /srv/db"
    return _rests_after(seed, "k5idle7", V100, QUERY, command, kinds="idle", cgroup=service("heavydb"))


def picture_server_after_the_party(seed: int) -> Scene:
    """A web program for pictures on a 3090 has drawn its last picture and keeps two models in memory."""
    command = "python launch.py --listen --port 7860"
    return _rests_after(seed, "k5idle8", RTX_3090, DIFFUSION, command, kinds="idle", beside=desktop())


def holder_in_a_slice_of_a_small_board(seed: int) -> Scene:
    """A notebook holds a slice of an A30 and sleeps; another user works in the next slice."""
    draw = Draw(seed, "k5idle9")
    at_s = draw.between(150, 380)
    does = turns(draw.work(CNN).but(share=0.2), at_s, jammed(0.2))
    other = program("works", "python train.py", 0, draw.work(FP32).but(share=0.3), level(4000), instance=5, **BATCH)
    actors = [*notebook("nb", 0, does, level(9000), instance=3), other]
    wants = want("idle", "nb gpu:0", at_s, at_s + _SHOWN_S)
    return scene(seed, [A30_MIG], actors, at_s + _END_S, wants, interval_s=2)


# --- programs that are done and do not exit -------------------------------------------------------------------------
def training_that_is_done_and_stays(seed: int) -> Scene:
    """A training on an H200 has written its last checkpoint and does not exit, as a thread of its logger never ends."""
    return _rests_after(
        seed, "k5idle10", H200, LORA, "python train.py --max-steps 900", kinds="idle stalled", allows="stalled"
    )


def workers_left_by_a_finished_pool(seed: int) -> Scene:
    """Three workers of a pool on a T4 are done; their pool is never closed, and they keep their models."""
    draw = Draw(seed, "k5idle11")
    at_s = draw.between(100, 400)
    work = draw.work(DECODE).at(0.3)
    parts = [
        program(f"worker{n}", "python score.py", 0, turns(work, at_s, jammed(0)), level(3900 - 300 * n), **BATCH)
        for n in range(3)
    ]
    wants = want("idle stalled", "worker0 worker1 worker2 gpu:0", at_s, at_s + _SHOWN_S)
    return scene(seed, [T4], parts, at_s + _END_S, wants, allows="stalled", interval_s=2)


def finished_run_seen_badly(seed: int) -> Scene:
    """A run on an RTX PRO 6000 is done and waits for Enter at its terminal; samples and values are missing."""
    bad = lambda draw: [
        often_gaps(draw.seed(), each_s=100, from_s=4, to_s=18),
        no_process_values(draw.seed(), 0.05),
        lost_memory(draw.seed(), 0.03),
    ]
    more: Any = {"kinds": "idle stalled", "allows": "stalled", "disturb": bad}
    return _rests_after(seed, "k5idle12", PRO_6000, FP32, "python report.py --pause", **more)


def finished_run_in_a_coarse_recording(seed: int) -> Scene:
    """A solver on a TITAN X, whose driver charges no process, is done and stays; there is a sample in ten seconds."""
    more: Any = {"kinds": "idle stalled", "allows": "stalled", "interval_s": 10.0}
    return _rests_after(seed, "k5idle13", TITAN_X, FP32, "./poisson --wait", **more)
