"""Programs that burn a core on the host while their GPU has nothing to do, long after their start."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, FP64, LLM, LORA, MOLECULES, Activity
from detector_benchmark.independent.actors import docker, slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H200,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import late_power, lost_memory, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders, program
from detector_benchmark.independent.sketches import jammed, mib_of, notebook, scene, turns, well_fed
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want

_BATCH: Any = {"variables": {}, "terminal": 0}
_OK = "stalled idle"


def _burns(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    workers: int = 0,
    disturb: Any = (),
    interval_s: float = 1.0,
    beside: Any = (),
    **more: Any,
) -> Scene:
    """Let a program work on the GPU for minutes, then burn one core for ever and leave the GPU alone."""
    draw = Draw(seed, name)
    at_s = draw.between(240, 500)
    loop = jammed(draw.between(97, 101), "R")
    does = turns(drifting(draw, draw.work(work)), at_s, loop)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.2, 0.8)), **_BATCH | more)
    helpers = loaders(actor, workers, turns(well_fed(draw), at_s, jammed(0)))
    wants = want("spin", "job gpu:0", at_s, at_s + 500)
    actors = [*beside, actor, *helpers]
    return scene(seed, [board], actors, at_s + 660, wants, allows=_OK, disturb=disturb, interval_s=interval_s)


def endless_loop_of_an_optimiser(seed: int) -> Scene:
    """A line search on the CPU never ends after six minutes of training on an A100."""
    return _burns(seed, "k4spin1", A100, FP32, "python fit.py --lbfgs")


def busy_wait_for_a_queue(seed: int) -> Scene:
    """A consumer on an H100 asks an empty queue without a pause, at 100 % of a core; the producer is done."""
    return _burns(seed, "k4spin2", H100, LLM, "python consume.py", workers=3)


def regular_expression_without_an_end(seed: int) -> Scene:
    """A generation on an L4 checks its output by a regular expression that needs longer than the universe."""
    return _burns(seed, "k4spin3", L4, DECODE, "python generate.py --check", cgroup=docker("2"))


def quadratic_merge_of_results(seed: int) -> Scene:
    """After its evaluation on a V100 a program merges boxes in pure Python, quadratic in their number."""
    return _burns(seed, "k4spin4", V100, CNN, "python evaluate.py --coco")


def parser_at_its_limit(seed: int) -> Scene:
    """A program on a B200 parses a text of gigabytes in one thread between two trainings; the board is empty-handed."""
    return _burns(seed, "k4spin5", B200, LORA, "python curriculum.py")


def cell_with_a_loop_over_rows(seed: int) -> Scene:
    """A notebook's cell on an RTX 3090 loops over the rows of a table in Python, with 10 GiB on the board."""
    draw = Draw(seed, "k4spin6")
    at_s = draw.between(240, 400)
    actors = notebook("nb", 0, turns(draw.work(FP32), at_s, jammed(100, "R")), mib_of(RTX_3090, 0.4))
    return scene(seed, [RTX_3090], actors, at_s + 660, want("spin", "nb gpu:0", at_s, at_s + 500), allows=_OK)


def spin_seen_through_gaps(seed: int) -> Scene:
    """A search tree grows on one core, an H200 waits for it; gputop misses seconds every minute."""
    disturb = [often_gaps(seed, each_s=60, from_s=3, to_s=9), late_power(seed, 0.1)]
    return _burns(seed, "k4spin7", H200, LLM, "python mcts.py", disturb=disturb)


def spin_seen_every_two_seconds(seed: int) -> Scene:
    """A converter on a T4 compares all pairs of sentences on one core; gputop looks every two seconds."""
    return _burns(
        seed, "k4spin8", T4, DECODE, "python dedup.py -i corpus.txt", interval_s=2.0, disturb=[lost_memory(seed, 0.03)]
    )


def sampler_in_pure_python(seed: int) -> Scene:
    """The sampler of a new epoch shuffles a hundred million indices in Python on a Slurm node with L40S."""
    more: Any = {"cgroup": slurm(640), "variables": {"SLURM_JOB_ID": "640"}}
    return _burns(seed, "k4spin9", L40S, CNN, "python train.py --shuffle", workers=4, **more)


def game_engine_in_a_dead_loop(seed: int) -> Scene:
    """A simulator on an RTX 4090 with a desktop loops over its events; its window is frozen."""
    return _burns(seed, "k4spin10", RTX_4090, FP32, "./simulator --level 3", beside=desktop(does=jammed(1)))


def mesh_that_is_refined_without_an_end(seed: int) -> Scene:
    """A solver on an A6000 refines its mesh on one core again and again; the board has had nothing for minutes."""
    return _burns(seed, "k4spin11", A6000, FP64, "./fem -i bridge.inp", threads=4)


def neighbour_lists_on_one_core(seed: int) -> Scene:
    """A molecular simulation on an A100 builds its lists on one core, for ever, after an atom flew away."""
    return _burns(seed, "k4spin12", A100, MOLECULES, "./md -i argon.in")
