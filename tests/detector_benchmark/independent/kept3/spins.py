"""Processes that hold a GPU and burn a core, while the GPU does nothing."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, HOST, LORA, MANY, Activity
from detector_benchmark.independent.actors import docker, slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_MIG,
    L4,
    L40S,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.sketches import mib_of, notebook, scene, turns
from detector_benchmark.independent.trace import Scene, want

_OK = "idle stalled"


def _burns(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    host: Activity = HOST,
    by_s: float = 600,
    disturb: Any = (),
    **more: Any,
) -> Scene:
    """Work for some minutes, then burn the CPU alone for a quarter of an hour."""
    draw = Draw(seed, name)
    at_s = draw.between(240, 600)
    share = more.pop("share", draw.between(0.2, 0.8))
    does = turns(draw.work(work).but(nv=0), at_s, host.but(cpu=host.cpu * draw.between(0.97, 1.0)))
    actor = program("burns", command, 0, does, mib_of(board, share), **more)
    wants = want("spin", "burns gpu:0", at_s, at_s + by_s)
    return scene(seed, [board], [actor], at_s + by_s + 300, wants, allows=_OK, disturb=disturb)


def loop_that_waits_for_a_file(seed: int) -> Scene:
    """After its epochs a script asks again and again, without a pause, whether a file is there."""
    return _burns(seed, "k3spin1", A100, CNN, "python train_then_wait.py")


def matching_of_boxes_that_does_not_converge(seed: int) -> Scene:
    """A detection script is in an endless loop of its matching, in Python, on one core."""
    return _burns(seed, "k3spin2", RTX_4090, FP32, "python detect.py --video street.mp4")


def regular_expression_of_death(seed: int) -> Scene:
    """A tokenizer backtracks without end over one document of a corpus; the model waits on its L40S."""
    return _burns(
        seed, "k3spin3", L40S, DECODE, "python annotate.py corpus/", cgroup=docker("7"), variables={}, terminal=0
    )


def thread_polls_a_queue(seed: int) -> Scene:
    """A batch worker polls an empty queue without a pause: 100 % of a core, no request for 15 min."""
    return _burns(seed, "k3spin4", T4, DECODE, "python worker.py --queue jobs", variables={}, terminal=0)


def job_of_slurm_sorts_in_python(seed: int) -> Scene:
    """A Slurm job ended its GPU part and sorts its results on one core for an hour, with 60 GiB of the GPU."""
    more: dict[str, Any] = {"cgroup": slurm(9004), "variables": {"SLURM_JOB_ID": "9004"}, "terminal": 0, "share": 0.8}
    return _burns(seed, "k3spin5", H100, LORA, "python rank_all.py", **more)


def old_board_with_a_busy_host(seed: int) -> Scene:
    """A TITAN X holds a net that is done; its program draws histograms on the CPU without end."""
    return _burns(seed, "k3spin6", TITAN_X, CNN, "python analyse.py")


def spin_read_with_zeros_and_gaps(seed: int) -> Scene:
    """A solver on a V100 is in an endless loop of its step control on the CPU; gputop has gaps, processes zeros."""
    draw = Draw(seed, "k3spin7+")
    disturb = [often_gaps(draw.seed(), each_s=80, from_s=2, to_s=7), bad_process_zeros(draw.seed(), 0.01)]
    return _burns(seed, "k3spin7", V100, FP32, "./ode --adaptive", disturb=disturb)


def instance_of_mig_with_a_busy_host(seed: int) -> Scene:
    """In a MIG instance of an H100 lies a model; its process parses logs on one core for a quarter of an hour."""
    draw = Draw(seed, "k3spin8")
    at_s = draw.between(200, 400)
    does = turns(draw.work(LORA, level=0.4).but(nv=0), at_s, HOST)
    actor = program("burns", "python parse.py", 0, does, mib_of(H100_MIG, 0.3), instance=1)
    return scene(seed, [H100_MIG], [actor], at_s + 1000, want("spin", "burns gpu:0", at_s, at_s + 700), allows=_OK)


def many_threads_of_a_library(seed: int) -> Scene:
    """A clustering fell back to the CPU: eight threads at full load for 15 min, while its B200 holds the data."""
    return _burns(seed, "k3spin9", B200, FP32, "python cluster.py --metric cosine", host=MANY)


def cell_of_a_notebook_in_a_python_loop(seed: int) -> Scene:
    """A cell of a notebook loops over a table row by row for 20 min; its A6000 keeps the tensors of the cell before."""
    draw = Draw(seed, "k3spin10")
    at_s = draw.between(200, 400)
    actors = notebook("nb", 0, turns(draw.work(CNN).but(nv=0), at_s, HOST), mib_of(A6000, 0.4))
    return scene(seed, [A6000], actors, at_s + 1000, want("spin", "nb gpu:0", at_s, at_s + 700), allows=_OK)


def post_processing_on_a_small_board(seed: int) -> Scene:
    """A video tool wrote its frames and now encodes them on one core, with the model still on its L4."""
    return _burns(seed, "k3spin11", L4, CNN, "python upscale.py film.mkv")
