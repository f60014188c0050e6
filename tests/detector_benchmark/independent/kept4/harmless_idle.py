"""Processes whose GPU seems to rest, and that use it, or need what they hold."""

from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    DIFFUSION,
    DISK,
    FP32,
    IDLE,
    LORA,
    MANY,
    TRICKLE,
    Activity,
)
from detector_benchmark.independent.actors import TMUX, docker, service
from detector_benchmark.independent.boards import (
    A100,
    B200,
    H100,
    H100_MIG,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Curve, Part, cycle, level, phases
from detector_benchmark.independent.sketches import jammed, mib_of, notebook, scene
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, serves, since, with_pauses

_BATCH: Any = {"variables": {}, "terminal": 0}


def _seems_idle(
    seed: int,
    name: str,
    board: Board,
    does: Part,
    command: str,
    *,
    memory: Curve | None = None,
    until_s: float = 2100,
    allows: str = "",
    disturb: Any = (),
    interval_s: float = 2.0,
    beside: Any = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    held = memory or mib_of(board, draw.between(0.3, 0.8))
    actor = program("job", command, 0, does, held, **_BATCH | more)
    return scene(seed, [board], [*beside, actor], until_s, allows=allows, disturb=disturb, interval_s=interval_s)


# --- they compute on the CPU ---------------------------------------------------------------------------------------
def trees_are_built_on_the_host(seed: int) -> Scene:
    """A program on an A100 builds trees on thirty cores for twenty minutes, between two passes on the board."""
    draw = Draw(seed, "k4used1+")
    does = phases(draw.work(FP32), (240, MANY.but(cpu=2800.0)), (1500, draw.work(FP32)))
    return _seems_idle(seed, "k4used1", A100, does, "python boost.py", allows="spin")


def table_is_joined_in_a_notebook(seed: int) -> Scene:
    """A notebook on an L40S joins tables on four cores for a quarter of an hour, with its model on the board."""
    draw = Draw(seed, "k4used2")
    does = phases(draw.work(LORA), (300, MANY.but(cpu=390.0)), (1250, draw.work(LORA)))
    return scene(seed, [L40S], notebook("nb", 0, does, mib_of(L40S, 0.5)), 1500, allows="spin", interval_s=2)


def answers_are_graded_on_the_host(seed: int) -> Scene:
    """An RL job on a B200 runs the tests of a thousand programs on the host for twelve minutes, then learns."""
    draw = Draw(seed, "k4used3+")
    does = with_pauses(
        drifting(draw, draw.work(LORA)), MANY.but(cpu=1500.0), every_s=1020, for_s=draw.between(640, 720)
    )
    return _seems_idle(seed, "k4used3", B200, does, "python grpo.py", allows="spin")


def conversion_on_one_core_and_a_disk(seed: int) -> Scene:
    """A program on a V100 converts files for a quarter of an hour: half computing, half waiting for the disk."""
    draw = Draw(seed, "k4used4+")
    convert = cycle((7, MANY.but(cpu=130.0)), (6, DISK))
    does = phases(draw.work(CNN), (260, convert), (1200, draw.work(CNN)))
    return _seems_idle(seed, "k4used4", V100, does, "python convert.py -i raw/", until_s=1500, allows="spin")


# --- they work now and then, or elsewhere on the board -------------------------------------------------------------
def request_every_few_minutes(seed: int) -> Scene:
    """A server on a T4 has a request of some seconds every three minutes or so, all day."""
    draw = Draw(seed, "k4used5+")
    does = serves(draw, draw.work(DECODE), each_s=150, for_s=6, rest=ASLEEP)
    return _seems_idle(seed, "k4used5", T4, does, "python api.py --port 8080", cgroup=service("api"))


def requests_too_small_to_be_seen(seed: int) -> Scene:
    """Small requests keep an H100 at six percent, as recorded, day and night."""
    draw = Draw(seed, "k4used6+")
    does = drifting(draw, draw.work(TRICKLE), depth=0.3)
    return _seems_idle(seed, "k4used6", H100, does, "vllm serve m --port 8000", cgroup=service("llm"))


def films_decoded_on_the_board(seed: int) -> Scene:
    """An L4 decodes films all day: its decoder is busy, its multiprocessors are not."""
    draw = Draw(seed, "k4used7+")
    work = DATA.but(
        util=0.0, sm=0.0, share=0.05, decoder=draw.between(35, 70), mc=6.0, cpu=40.0, thread=40.0, rx=80, tx=60
    )
    return _seems_idle(seed, "k4used7", L4, work, "ffmpeg -hwaccel cuda -i rtsp://cam/1 -f null -", cgroup=docker("d"))


def encoder_of_a_screen_share(seed: int) -> Scene:
    """A program encodes a screen on an RTX 4090 with its encoder only, with the desktop beside."""
    draw = Draw(seed, "k4used8+")
    work = Activity(util=0.0, encoder=draw.between(8, 20), share=0.02, cpu=12, rx=10, noise=0.1)
    return _seems_idle(seed, "k4used8", RTX_4090, work, "./obs --startvirtualcam", memory=level(700), beside=desktop())


def heartbeat_of_a_watchdog(seed: int) -> Scene:
    """A watchdog on an A100 runs a test kernel of five seconds each two minutes, by its purpose."""
    draw = Draw(seed, "k4used9+")
    does = cycle((5, draw.work(FP32)), (draw.between(100, 130), ASLEEP))
    return _seems_idle(seed, "k4used9", A100, does, "/usr/bin/gpu-watchdog", memory=level(900), cgroup=service("watch"))


# --- they are about to begin, or hold next to nothing --------------------------------------------------------------
def load_from_a_slow_mount(seed: int) -> Scene:
    """A program loads weights to an H100 from a slow mount for fourteen minutes; its memory grows all the time."""
    draw = Draw(seed, "k4used10")
    over_s = draw.between(780, 860)
    memory = lambda t_s: 600 + 62000 * min(1.0, max(0.0, t_s - 60) / over_s) // 2 * 2
    loads = IDLE.but(rx=76.0, cpu=22, state="D")
    does = since(60, phases(loads, (over_s, drifting(draw, draw.work(DECODE)))))
    actor = program("job", "python batch.py", 0, does, memory, from_s=60, **_BATCH)
    return scene(seed, [H100], [actor], 1500, allows="filling~ leak~", interval_s=2)


def context_of_a_monitor(seed: int) -> Scene:
    """A daemon has a bare context of 110 MiB on a 3090 to read its sensors, for weeks."""
    more: Any = {"memory": level(110), "cgroup": service("sensors"), "user": "root"}
    return _seems_idle(seed, "k4used11", RTX_3090, jammed(0.3), "/usr/sbin/sensord", **more)


def artist_who_works_in_a_viewport(seed: int) -> Scene:
    """An artist moves things in the window of Blender on a 4090: some seconds of load, half a minute of none, on and on."""
    draw = Draw(seed, "k4used12+")
    moves = draw.work(DIFFUSION).at(0.3).but(cpu=60, thread=60.0)
    does = serves(draw, moves, each_s=35, for_s=8, rest=jammed(6))
    more: Any = {"variables": TMUX, "type": "C+G", "disturb": [often_gaps(seed, each_s=90, from_s=2, to_s=5)]}
    return _seems_idle(seed, "k4used12", RTX_4090, does, "blender scene.blend", beside=desktop(), **more)


def small_jobs_in_a_slice(seed: int) -> Scene:
    """A notebook in a slice of an H100 runs a small cell each minute or two."""
    draw = Draw(seed, "k4used13")
    does = serves(draw, draw.work(FP32).but(share=0.2), each_s=70, for_s=12, rest=ASLEEP)
    return scene(seed, [H100_MIG], notebook("nb", 0, does, level(9000), instance=1), 2100, interval_s=2)
