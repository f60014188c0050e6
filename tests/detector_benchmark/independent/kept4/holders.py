"""Processes that hold memory of a GPU for long and do nothing with it, on the GPU or elsewhere."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DATA, DECODE, DIFFUSION, FP32, LORA, Activity
from detector_benchmark.independent.actors import TMUX, docker, service
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
    B200,
    H100,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import jammed, mib_of, notebook, scene, turns
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP

_BATCH: Any = {"variables": {}, "terminal": 0}
_WAIT_S = 1500  # after which an operator wants to see it
_END_S = 1620


def _holds(
    seed: int,
    name: str,
    board: Board,
    command: str,
    *,
    work: Activity = FP32,
    allows: str = "stalled~",
    disturb: Any = (),
    interval_s: float = 2.0,
    beside: Any = (),
    **more: Any,
) -> Scene:
    """Let a program work for some minutes, then hold its memory and do nothing."""
    draw = Draw(seed, name)
    at_s = draw.between(120, 400)
    does = turns(drifting(draw, draw.work(work)), at_s, jammed(draw.between(0, 2)))
    actor = program("holder", command, 0, does, mib_of(board, draw.between(0.25, 0.9)), **more)
    wants = want("idle", "holder gpu:0", at_s, at_s + _WAIT_S)
    return scene(
        seed, [board], [*beside, actor], at_s + _END_S, wants, allows=allows, disturb=disturb, interval_s=interval_s
    )


def notebook_whose_author_eats(seed: int) -> Scene:
    """A notebook on an A100 trained for some minutes; its author went for lunch, and 40 GiB stay."""
    draw = Draw(seed, "k4idle1")
    at_s = draw.between(200, 400)
    actors = notebook("nb", 0, turns(draw.work(LORA), at_s, jammed(0.3)), level(40960))
    wants = want("idle", "nb gpu:0", at_s, at_s + _WAIT_S)
    return scene(seed, [A100], actors, at_s + _END_S, wants, interval_s=2)


def prompt_of_python_left_open(seed: int) -> Scene:
    """A prompt of Python in tmux holds half of an H100 after a test, all afternoon."""
    return _holds(seed, "k4idle2", H100, "python", variables=TMUX)


def debugger_at_a_breakpoint(seed: int) -> Scene:
    """A training on an RTX 3090 waits at a breakpoint in a terminal; nobody types."""
    return _holds(seed, "k4idle3", RTX_3090, "python -m ipdb train.py", work=CNN, allows="stalled")


def image_program_between_days(seed: int) -> Scene:
    """ComfyUI on an RTX 4090 keeps its models in memory, and its user has gone; a desktop is beside."""
    command = "python main.py --listen 0.0.0.0 --port 8188"
    return _holds(seed, "k4idle4", RTX_4090, command, work=DIFFUSION, beside=desktop())


def server_without_a_single_request(seed: int) -> Scene:
    """A language server on a B200 holds 150 GiB and has had no request for half an hour."""
    command = "python -m vllm.entrypoints.openai.api_server --port 8000"
    return _holds(seed, "k4idle5", B200, command, work=DECODE, cgroup=service("llm"), **_BATCH)


def finished_inference_that_does_not_exit(seed: int) -> Scene:
    """Three inference processes on a T4 are done and do not exit; their memory adds up."""
    draw = Draw(seed, "k4idle6")
    at_s = draw.between(150, 400)
    actors = [
        program(
            f"done{n}", f"python infer.py --part {n}", 0, turns(draw.work(DECODE).at(0.3), at_s, ASLEEP), level(mib)
        )
        for n, mib in enumerate((5144, 2070, 1562))
    ]
    wants = want("idle", "done0 done1 done2 gpu:0", at_s, at_s + _WAIT_S)
    return scene(seed, [T4], actors, at_s + _END_S, wants, allows="stalled", interval_s=2)


def framework_that_took_all_memory(seed: int) -> Scene:
    """TensorFlow took all memory of a V100 for a script that has not used it since gputop looks."""
    draw = Draw(seed, "k4idle7")
    actor = program("holder", "python serve_model.py", 0, jammed(0.5), mib_of(V100, 0.96), age_s=50000, **_BATCH)
    wants = want("idle", "holder gpu:0", 0, _WAIT_S)
    return scene(seed, [V100], [actor], _END_S + draw.between(0, 60), wants, allows="stalled~", interval_s=2)


def matlab_with_an_open_window(seed: int) -> Scene:
    """MATLAB on an L40S keeps its arrays on the board, its window is open and nothing runs."""
    return _holds(seed, "k4idle8", L40S, "/opt/matlab/bin/glnxa64/MATLAB -desktop", threads=160)


def container_that_holds_seen_through_gaps(seed: int) -> Scene:
    """A container on an L4 holds 12 GiB after its video ended; samples are missing and values of processes too."""
    disturb = [often_gaps(seed, each_s=120, from_s=5, to_s=20), no_process_values(seed, 0.05)]
    more: Any = {"cgroup": docker("7"), **_BATCH}
    return _holds(seed, "k4idle9", L4, "python cameras.py", work=DATA, allows="stalled", disturb=disturb, **more)


def holder_in_a_slice(seed: int) -> Scene:
    """A notebook holds 15 GiB of a slice of an A100 and sleeps, while the other slices work."""
    draw = Draw(seed, "k4idle10")
    at_s = draw.between(200, 400)
    does = turns(draw.work(CNN).but(share=0.2), at_s, jammed(0.2))
    others = program("works", "python train.py", 0, draw.work(LORA).but(share=0.4), level(30000), instance=1)
    actors = [*notebook("nb", 0, does, level(15400), instance=2), others]
    wants = want("idle", "nb gpu:0", at_s, at_s + _WAIT_S)
    return scene(seed, [A100_MIG], actors, at_s + _END_S, wants, interval_s=2)


def holder_beside_a_user_who_works(seed: int) -> Scene:
    """Bob's notebook holds 30 GiB of an A100 and sleeps; Ann trains on the same board with what is left."""
    draw = Draw(seed, "k4idle11")
    ann = program("ann", "python train.py", 0, draw.work(CNN), level(38000))
    actors = [ann, *notebook("nb", 0, jammed(0.4), level(30000), user="bob")]
    return scene(seed, [A100], actors, _END_S, want("idle", "nb", 0, _WAIT_S), interval_s=2)


def holder_seen_every_five_seconds(seed: int) -> Scene:
    """A statistics session on an H100 holds 20 GiB after a fit; gputop looks every five seconds."""
    return _holds(seed, "k4idle12", H100, "/usr/lib/R/bin/exec/R --no-save", interval_s=5.0)
