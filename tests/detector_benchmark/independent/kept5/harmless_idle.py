"""Processes whose GPU seems to rest, and that use it, or need what they hold."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    FP32,
    FP64,
    IDLE,
    LORA,
    MANY,
    PREFILL,
    QUERY,
    RENDER,
    TRICKLE,
    Activity,
)
from detector_benchmark.independent.actors import TMUX, Actor, Use, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A30_MIG,
    A100,
    B200,
    GH200,
    H100,
    H200,
    L4,
    L40S,
    LAPTOP_4070,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Curve, Part, cycle, level, phases, script
from detector_benchmark.independent.sketches import BATCH, alone, jammed, mib_of, notebook, scene
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, serves, since, with_pauses


def _used(
    seed: int,
    name: str,
    board: Board,
    does: Callable[[Draw], Part],
    command: str,
    *,
    until_s: float = 2100,
    memory: Curve | None = None,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    held = memory or mib_of(board, draw.between(0.3, 0.8))
    given: Any = {"actors": beside, "disturb": disturb(draw), "interval_s": 2.0, "command": command} | more
    return alone(seed, board, does(draw), held, until_s, **given)


# --- they compute on the host ---------------------------------------------------------------------------------------
def trees_grown_on_forty_cores(seed: int) -> Scene:
    """A program on a V100 grows its forest on forty cores for a quarter of an hour, between two embeddings."""
    does = lambda draw: phases(draw.work(CNN), (300, MANY.but(cpu=3800.0)), (1200, draw.work(CNN)))
    return _used(seed, "k5used1", V100, does, "python embed_and_boost.py", until_s=1500, allows="spin")


def programs_of_the_model_are_tested(seed: int) -> Scene:
    """An RL job on an H200 runs tests of the programs that its model wrote, for eleven minutes of each sixteen."""

    def does(draw: Draw) -> Part:
        return with_pauses(
            drifting(draw, draw.work(LORA)), MANY.but(cpu=2200.0), every_s=960, for_s=draw.between(600, 680)
        )

    return _used(seed, "k5used2", H200, does, "python rl_code.py", allows="spin")


def figures_drawn_in_a_notebook(seed: int) -> Scene:
    """A notebook on a GH200 prepares tables on three cores for twelve minutes, with its model on the board."""
    draw = Draw(seed, "k5used3")
    does = phases(draw.work(LORA), (260, MANY.but(cpu=290.0)), (990, draw.work(LORA)))
    return scene(seed, [GH200], notebook("nb", 0, does, mib_of(GH200, 0.4)), 1300, allows="spin", interval_s=2)


def assembly_of_a_matrix_on_the_host(seed: int) -> Scene:
    """A solver on an A100 assembles its matrix on sixteen cores for ten minutes before each solve of five."""

    def does(draw: Draw) -> Part:
        return with_pauses(
            drifting(draw, draw.work(FP64)), MANY.but(cpu=1580.0), every_s=900, for_s=draw.between(560, 620)
        )

    return _used(seed, "k5used4", A100, does, "./fem3d -i hull.inp", allows="spin")


# --- now and then, or elsewhere on the board ------------------------------------------------------------------------
def question_every_two_minutes(seed: int) -> Scene:
    """A chat for one team on an A10G answers for ten seconds about every two minutes."""
    does = lambda draw: serves(draw, draw.work(DECODE), each_s=120, for_s=10, rest=ASLEEP)
    return _used(seed, "k5used5", A10G, does, "vllm serve m --port 8000", cgroup=service("chat"))


def trickle_of_embeddings(seed: int) -> Scene:
    """A service of embeddings on an L40S has some requests a second, each too small to be seen for long."""
    does = lambda draw: drifting(draw, draw.work(TRICKLE), depth=0.3)
    return _used(seed, "k5used6", L40S, does, "text-embeddings-router --port 8080", cgroup=docker("7"))


def cameras_decoded_by_the_board(seed: int) -> Scene:
    """A T4 decodes twelve cameras with its decoder all night; its multiprocessors look at one frame in a second."""

    def does(draw: Draw) -> Part:
        return DATA.but(
            util=draw.between(0, 2),
            sm=0.5,
            share=0.04,
            decoder=draw.between(30, 80),
            mc=5.0,
            cpu=55.0,
            thread=30.0,
            rx=90,
        )

    return _used(seed, "k5used7", T4, does, "deepstream-app -c cams.txt", cgroup=service("cams"))


def stream_encoded_by_a_laptop(seed: int) -> Scene:
    """A laptop's RTX 4070 encodes a lecture for an hour with its encoder; nothing else is busy."""
    work = Activity(util=1.0, encoder=14.0, share=0.02, cpu=18, rx=12, noise=0.15)
    more: Any = {"memory": level(420), "beside": desktop(), "type": "C+G"}
    return _used(seed, "k5used8", LAPTOP_4070, lambda draw: work, "/usr/bin/obs --startstreaming", **more)


def reports_of_a_database_each_five_minutes(seed: int) -> Scene:
    """A database on a V100 refreshes a report for eight seconds each five minutes, from tables that it keeps on the board."""
    does = lambda draw: cycle((8, draw.work(QUERY)), (draw.between(270, 310), ASLEEP))
    return _used(seed, "k5used9", V100, does, "./heavydb --port 6274", cgroup=service("heavydb"), allows="idle~")


def editor_who_cuts_a_film(seed: int) -> Scene:
    """An editor cuts a film on an RTX 5090: some seconds of load at each change, and half a minute of looking."""
    does = lambda draw: serves(draw, draw.work(RENDER).at(0.4).but(cpu=80), each_s=30, for_s=7, rest=jammed(9))
    more: Any = {"type": "C+G", "beside": desktop(), "variables": TMUX}
    return _used(seed, "k5used10", RTX_5090, does, "/opt/resolve/bin/resolve", **more)


# --- they are about to begin, or hold next to nothing ---------------------------------------------------------------
def weights_from_a_tape_of_a_library(seed: int) -> Scene:
    """A program on a B200 reads weights from a slow archive for thirteen minutes, and its memory grows all the time."""
    draw = Draw(seed, "k5used11")
    over_s = draw.between(740, 800)
    memory = lambda t_s: 700 + 118000 * min(1.0, max(0.0, t_s - 40) / over_s) // 2 * 2
    does = since(40, phases(IDLE.but(rx=150.0, cpu=26, state="D"), (over_s, drifting(draw, draw.work(DECODE)))))
    more: Any = {"command": "python serve_once.py", "from_s": 40, "allows": "filling~ leak~", "interval_s": 2.0}
    return alone(seed, B200, does, memory, 1400, **more)


def daemon_that_shares_a_board(seed: int) -> Scene:
    """The server of MPS on an H100 holds thirty megabytes for weeks; two clients of it work on the board all the time."""
    draw = Draw(seed, "k5used12")
    mps = program("mps", "nvidia-cuda-mps-server", 0, IDLE.but(cpu=0.3), level(30), user="root", type="M+C", **BATCH)
    clients = [
        program(
            f"client{n}",
            f"python sweep.py --part {n}",
            0,
            drifting(draw, draw.work(FP32).at(0.45)),
            level(17000),
            **BATCH,
        )
        for n in range(2)
    ]
    return scene(seed, [H100], [mps, *clients], 1800, interval_s=2)


def second_context_of_a_rank(seed: int) -> Scene:
    """A training on the second of two 3090 has a stray context of 500 MiB on the first one, which it does not use."""
    draw = Draw(seed, "k5used13")
    work = drifting(draw, draw.work(LORA))
    uses = (Use(1, work, mib_of(RTX_3090, 0.7)), Use(0, script(IDLE), level(500)))
    job = Actor(name="job", command="python train.py --gpu 1", uses=uses, **BATCH)
    return scene(seed, [RTX_3090] * 2, [job], 1800, allows="idle", interval_s=2)


def lesson_in_the_slices_of_a_board(seed: int) -> Scene:
    """Pupils in the slices of an A30 run a small cell each minute or two, seen through gaps and with missing values."""
    draw = Draw(seed, "k5used14")
    actors = [
        actor
        for n, (instance, mib) in enumerate(((3, 5000), (5, 2600), (6, 2600)))
        for actor in notebook(
            f"nb{n}", 0, serves(draw, draw.work(PREFILL).but(share=0.12), each_s=75, for_s=12, rest=ASLEEP), level(mib),
            user=f"pupil{n}", instance=instance,
        )
    ]  # fmt: skip
    disturb = [often_gaps(draw.seed(), each_s=90, from_s=3, to_s=12), no_process_values(draw.seed(), 0.04)]
    return scene(seed, [A30_MIG], actors, 2100, disturb=disturb, interval_s=2)


def watcher_that_tests_a_board(seed: int) -> Scene:
    """A watcher on an L4 runs a short test each two minutes, as an operator wants it."""
    does = lambda draw: cycle((4, draw.work(FP32)), (draw.between(100, 125), ASLEEP))
    return _used(seed, "k5used15", L4, does, "/usr/bin/gpu-canary", memory=level(620), cgroup=service("canary"))
