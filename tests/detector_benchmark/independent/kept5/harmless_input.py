"""Boards that are not full, and whose data are not the reason."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    FP32,
    IDLE,
    LLM,
    LORA,
    MANY,
    PREFILL,
    Activity,
    mix,
)
from detector_benchmark.independent.actors import Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    GH200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, with_loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import BATCH, alone, jammed, mib_of, notebook, scene, team, well_fed
from detector_benchmark.independent.textures import drifting, rippling, waits
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, validates, with_pauses


def _fed(
    seed: int,
    name: str,
    board: Board,
    does: Callable[[Draw], Part],
    loader: Callable[[Draw], Part] = well_fed,
    *,
    workers: int = 6,
    until_s: float = 960,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    command: str = "python -u train.py --data /data",
    **more: Any,
) -> Scene:
    """Let a program work with loaders that keep up with it."""
    draw = Draw(seed, name)
    part = does(draw)
    children = loaders(Actor(name="job", command=command), workers, loader(draw))
    given: Any = {"actors": children, "disturb": disturb(draw), "command": command} | more
    return alone(seed, board, part, mib_of(board, draw.between(0.3, 0.85)), until_s, **given)


# --- well fed, and not full -----------------------------------------------------------------------------------------
def _mostly(work: Activity) -> Callable[[Draw], Part]:
    def does(draw: Draw) -> Part:
        busy = draw.work(work).but(util=draw.between(76, 86), cpu=draw.between(50, 80), thread=draw.between(45, 70))
        return rippling(draw, drifting(draw, busy, depth=0.03))

    return does


def segmentation_with_time_to_spare(seed: int) -> Scene:
    """A segmentation on an A6000 is at four fifths with power to match; its six loaders rest for two thirds of the time."""
    return _fed(seed, "k5fed1", A6000, _mostly(CNN))


def speech_model_with_time_to_spare(seed: int) -> Scene:
    """A speech model on a GH200 is at four fifths; twelve loaders need a quarter of a core each."""
    return _fed(seed, "k5fed2", GH200, _mostly(FP32), lambda draw: well_fed(draw, 18, 30), workers=12)


def tuning_with_a_single_loader(seed: int) -> Scene:
    """A tuning on a 3090 has one loader, which reads short texts and needs a tenth of a core."""
    does = lambda draw: drifting(draw, draw.work(LORA).but(util=96.0))
    return _fed(seed, "k5fed3", RTX_3090, does, lambda draw: well_fed(draw, 6, 14), workers=1)


def loaders_that_fill_their_queue_at_first(seed: int) -> Scene:
    """The loaders of a training on an H100 are full for half a minute of each six, when an epoch begins; its board hardly dips."""
    does = lambda draw: with_pauses(drifting(draw, draw.work(FP32)), IDLE.but(cpu=50), every_s=360, for_s=7)
    fills = lambda draw: cycle((325, well_fed(draw)), (35, Activity(cpu=98, state="R")))
    return _fed(seed, "k5fed4", H100, does, fills, until_s=1200)


def loaders_that_wait_for_a_disk_and_keep_up(seed: int) -> Scene:
    """Sixteen loaders of a training on an L40S read ahead from a slow disk in the state D, and the board is at 97 %."""
    does = lambda draw: rippling(draw, draw.work(FP32).but(util=97.0))
    return _fed(seed, "k5fed5", L40S, does, lambda draw: Activity(cpu=draw.between(5, 15), state="D"), workers=16)


# --- less busy for other reasons ------------------------------------------------------------------------------------
def service_with_few_requests(seed: int) -> Scene:
    """A service of images on a T4 is at a third, because so few requests come; its three workers resize at a tenth of a core."""
    does = lambda draw: serves(draw, draw.work(CNN), each_s=4, for_s=2)
    more: Any = {"command": "gunicorn -w 3 -b 0.0.0.0:8080 app:app", "cgroup": docker("9")}
    return _fed(seed, "k5fed6", T4, does, lambda draw: well_fed(draw, 5, 13), workers=3, **more)


def half_of_a_board_each(seed: int) -> Scene:
    """Two tunings share a V100 and get half of its time each; the loaders of both are rested."""
    draw = Draw(seed, "k5fed7")
    actors: list[Actor] = []
    for n, work in enumerate((CNN, FP32)):
        job = program(
            f"job{n}", f"python tune.py --fold {n}", 0, drifting(draw, draw.work(work)), mib_of(V100, 0.4), **BATCH
        )
        actors += [job, *loaders(job, 3, well_fed(draw))]
    return scene(seed, [V100], actors, 960)


def augmentation_on_the_board(seed: int) -> Scene:
    """A training on an A10G decodes with the decoders of the board; they are the limit, and its two loaders read lists."""
    does = lambda draw: drifting(draw, draw.work(DATA).but(decoder=96.0))
    return _fed(seed, "k5fed8", A10G, does, lambda draw: well_fed(draw, 2, 6), workers=2)


def epochs_with_long_validations(seed: int) -> Scene:
    """A training on an H200 validates for a third of its time at half of the power; its loaders are rested all the time."""

    def does(draw: Draw) -> Part:
        work = draw.work(LLM)
        return cycle(
            (draw.between(50, 70), work), (draw.between(25, 35), validates(work)), (6, IDLE.but(cpu=90, tx=250))
        )

    return _fed(seed, "k5fed9", H200, does, disturb=lambda draw: [late_power(draw.seed(), 0.1)])


def games_between_updates(seed: int) -> Scene:
    """An agent on an RTX 5090 plays for fourteen seconds on all cores and learns for nine; its two loaders do next to nothing."""
    does = lambda draw: cycle((14, MANY.but(cpu=1500.0)), (9, draw.work(FP32)))
    more: Any = {"workers": 2, "command": "python muzero.py", "allows": "spin~"}
    return _fed(seed, "k5fed10", RTX_5090, does, lambda draw: well_fed(draw, 1, 5), **more)


def gradients_over_ethernet(seed: int) -> Scene:
    """Four ranks of a Slurm job on A100 exchange gradients over Ethernet for half of each step; their loaders are rested."""
    draw = Draw(seed, "k5fed11")
    work, wait = draw.work(CNN), waits(draw, A100).but(rx=250.0, tx=250.0)
    waits_s = draw.between(4.5, 5.5)
    does = lambda rank: cycle((5, work), (waits_s, wait))
    feeds = lambda actors: with_loaders(actors, 3, well_fed(draw))
    return team(seed, [A100] * 4, does, mib_of(A100, 0.5), 960, launcher="srun", change=feeds)


def fine_pauses_of_a_logger(seed: int) -> Scene:
    """A training on an A100 in a Slurm job draws pictures for its log for three seconds of each twelve; its loaders are rested."""
    does = lambda draw: cycle((draw.between(8, 10), draw.work(CNN)), (3, jammed(98, "R")))
    return _fed(
        seed, "k5fed12", A100, does, cgroup=slurm(404), disturb=lambda draw: [bad_process_zeros(draw.seed(), 0.02)]
    )


def learner_of_a_notebook_who_stops_and_goes(seed: int) -> Scene:
    """The author of a notebook on an A6000 trains for some seconds, looks, and trains again; his loaders sleep between."""
    draw = Draw(seed, "k5fed13")
    actors = notebook("nb", 0, serves(draw, draw.work(PREFILL), each_s=28, for_s=14), mib_of(A6000, 0.4))
    disturb = [often_gaps(draw.seed(), each_s=80, from_s=3, to_s=9)]
    return scene(seed, [A6000], [*actors, *loaders(actors[1], 2, well_fed(draw, 3, 9))], 960, disturb=disturb)


def answers_judged_over_the_network(seed: int) -> Scene:
    """A generation on an L40S asks a judge over the network after each answer: it is two thirds busy, and no data are missing."""
    does = lambda draw: drifting(draw, mix((0.65, draw.work(DECODE)), (0.35, IDLE.but(cpu=20))).but(cpu=70, thread=55))
    more: Any = {"command": "python chat_and_judge.py"}
    return _fed(seed, "k5fed14", L40S, does, lambda draw: well_fed(draw, 2, 8), workers=2, **more)
