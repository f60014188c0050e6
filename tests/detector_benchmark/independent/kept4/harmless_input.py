"""Boards that are not full, and whose loaders are not the reason."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DATA, DECODE, FP32, HOST, IDLE, LLM, LORA, MANY, Activity
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import A100, B200, H100, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import bad_process_zeros, late_power
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, notebook, scene, well_fed
from detector_benchmark.independent.textures import drifting, rippling, waits
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, validates, with_pauses

_BATCH: Any = {"variables": {}, "terminal": 0}


def _fed(
    seed: int,
    name: str,
    board: Board,
    does: Part,
    loader: Part,
    *,
    workers: int = 6,
    until_s: float = 960,
    allows: str = "",
    disturb: Any = (),
    interval_s: float = 1.0,
    command: str = "python -u train.py --data /data",
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.85)), **_BATCH | more)
    actors = [actor, *loaders(actor, workers, loader)]
    return scene(seed, [board], actors, until_s, allows=allows, disturb=disturb, interval_s=interval_s)


# --- three quarters busy, with loaders that have time --------------------------------------------------------------
def _three_quarters(draw: Draw, work: Activity) -> Part:
    busy = draw.work(work).but(util=draw.between(75, 80), cpu=draw.between(55, 80), thread=draw.between(50, 70))
    return rippling(draw, drifting(draw, busy, depth=0.02))


def residual_net_with_rested_loaders(seed: int) -> Scene:
    """A training on an H100 is at 77 % with power to match; its loaders need a third of a core each."""
    draw = Draw(seed, "k4fed1+")
    return _fed(seed, "k4fed1", H100, _three_quarters(draw, CNN), well_fed(draw, 26, 34), workers=8)


def detector_with_rested_loaders(seed: int) -> Scene:
    """A training on an A100 is at 78 %; four loaders at 30 % of a core keep its queue full."""
    draw = Draw(seed, "k4fed2+")
    return _fed(seed, "k4fed2", A100, _three_quarters(draw, FP32), well_fed(draw, 27, 33), workers=4)


def tuning_with_rested_loaders(seed: int) -> Scene:
    """A tuning on an RTX 4090 is at 76 %; its two loaders are idle for two thirds of the time."""
    draw = Draw(seed, "k4fed3+")
    return _fed(seed, "k4fed3", RTX_4090, _three_quarters(draw, LORA), well_fed(draw, 28, 34), workers=2)


# --- less busy, for other reasons ----------------------------------------------------------------------------------
def loaders_busy_at_the_start_of_an_epoch(seed: int) -> Scene:
    """The loaders of a training on a V100 fill their queue at full load for 25 s of each five minutes; the board is busy."""
    draw = Draw(seed, "k4fed4+")
    does = with_pauses(drifting(draw, draw.work(FP32)), IDLE.but(cpu=40), every_s=300, for_s=6)
    fills = cycle((270, well_fed(draw)), (30, Activity(cpu=98, state="R")))
    return _fed(seed, "k4fed4", V100, does, fills, until_s=1200)


def server_at_two_fifths(seed: int) -> Scene:
    """A server on an L40S is at 40 %, because so many requests come; its four tokenizers are at a tenth of a core."""
    draw = Draw(seed, "k4fed5+")
    does = serves(draw, draw.work(DECODE), each_s=3, for_s=2)
    more: Any = {"command": "python -m chat.server --port 8000", "cgroup": docker("a")}
    return _fed(seed, "k4fed5", L40S, does, well_fed(draw, 6, 14), workers=4, **more)


def two_users_share_the_time_of_a_board(seed: int) -> Scene:
    """Ann and Bob train on one A100: each is charged about half of it; Ann's loaders are rested."""
    draw = Draw(seed, "k4fed6")
    work = draw.work(CNN)
    ann = program("ann", "python train.py", 0, drifting(draw, work), mib_of(A100, 0.4), **_BATCH)
    bob = program("bob", "python tune.py", 0, drifting(draw, draw.work(FP32)), mib_of(A100, 0.3), user="bob")
    actors = [ann, bob, *loaders(ann, 6, well_fed(draw))]
    return scene(seed, [A100], actors, 960)


def decoding_on_the_board_itself(seed: int) -> Scene:
    """A program on an L4 decodes and augments on the board; its multiprocessors are at 40 %, its decoders are full."""
    draw = Draw(seed, "k4fed7+")
    return _fed(seed, "k4fed7", L4, drifting(draw, draw.work(DATA).but(decoder=95.0)), well_fed(draw, 3, 8), workers=2)


def validations_and_checkpoints_between(seed: int) -> Scene:
    """A training on a B200 validates and saves for a third of its time; its loaders have nothing to do meanwhile."""
    draw = Draw(seed, "k4fed8+")
    work = draw.work(LLM)
    does = cycle((40, work), (14, validates(work)), (12, HOST.but(tx=300)))
    return _fed(
        seed, "k4fed8", B200, does, cycle((54, well_fed(draw)), (12, Activity(cpu=2))), disturb=[late_power(seed, 0.1)]
    )


def rollouts_of_an_agent(seed: int) -> Scene:
    """An agent on a 3090 plays for ten seconds on many cores, then learns for eight: half busy, and no data are missing."""
    draw = Draw(seed, "k4fed9+")
    does = cycle((10, MANY.but(cpu=1100.0)), (8, draw.work(FP32)))
    return _fed(
        seed, "k4fed9", RTX_3090, does, well_fed(draw, 2, 6), workers=2, allows="spin~", command="python ppo.py"
    )


def ranks_that_wait_for_their_network(seed: int) -> Scene:
    """Four ranks on V100 exchange gradients over a slow network for half of each step; their loaders are rested."""
    draw = Draw(seed, "k4fed10")
    work, wait = draw.work(CNN), waits(draw, V100).but(rx=300.0, tx=300.0)
    actors = ranks(range(4), lambda rank: cycle((4, work), (4, wait)), mib_of(V100, 0.5), launcher="mpirun")
    return scene(seed, [V100] * 4, with_loaders(actors, 3, well_fed(draw)), 960)


def notebook_in_small_steps(seed: int) -> Scene:
    """The author of a notebook on a T4 trains for some seconds now and then; two loaders sleep between."""
    draw = Draw(seed, "k4fed11")
    actors = notebook("nb", 0, serves(draw, draw.work(CNN), each_s=25, for_s=15), mib_of(T4, 0.5))
    actors += loaders(actors[1], 2, well_fed(draw, 3, 10))
    return scene(seed, [T4], actors, 960, disturb=[bad_process_zeros(seed, 0.02)])
