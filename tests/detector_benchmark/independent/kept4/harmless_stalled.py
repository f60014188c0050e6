"""Programs that rest and are well: servers between requests, people who think, and long, ordinary pauses."""

from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    DIFFUSION,
    FP32,
    FP64,
    LLM,
    LORA,
    MANY,
    PREFILL,
    Activity,
)
from detector_benchmark.independent.actors import TMUX, Actor, docker, service, slurm
from detector_benchmark.independent.boards import A100, B200, H100, H200, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, shell
from detector_benchmark.independent.scripts import Part, cycle, phases
from detector_benchmark.independent.sketches import jammed, mib_of, notebook, scene, well_fed
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, steps_until, with_pauses

_BATCH: Any = {"variables": {}, "terminal": 0}


def _rests(
    seed: int,
    name: str,
    board: Board,
    does: Part,
    command: str,
    *,
    until_s: float = 2400,
    allows: str = "idle",
    disturb: Any = (),
    interval_s: float = 2.0,
    workers: int = 0,
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.9)), **_BATCH | more)
    actors = [actor, *loaders(actor, workers, well_fed(draw))]
    return scene(seed, [board], actors, until_s, allows=allows, disturb=disturb, interval_s=interval_s)


def _requests(seed: int, name: str, work: Activity, rest_s: float) -> Part:
    """Answer requests for minutes, then have none for longer than ever before, then some again."""
    draw = Draw(seed, name + "+")
    busy, at_s = drifting(draw, draw.work(work)), draw.between(380, 520)
    bursts = cycle((draw.between(20, 40), busy), (draw.between(8, 25), ASLEEP))
    return phases(bursts, (at_s, ASLEEP), (at_s + rest_s, bursts))


# --- servers between requests --------------------------------------------------------------------------------------
def server_that_listens(seed: int) -> Scene:
    """A server with `--listen 0.0.0.0` on an RTX 4090 has no request for twenty minutes."""
    does = _requests(seed, "k4rest1", DIFFUSION, 1200)
    return _rests(seed, "k4rest1", RTX_4090, does, "python webui.py --listen 0.0.0.0")


def server_with_a_port(seed: int) -> Scene:
    """A server with `--port 8500` on a T4 has no request for a quarter of an hour."""
    does = _requests(seed, "k4rest2", CNN, 900)
    return _rests(seed, "k4rest2", T4, does, "./model_server --port 8500 --model_name m", cgroup=docker("1"))


def server_with_a_port_for_http(seed: int) -> Scene:
    """A server of models with `--http-port` on an L4 waits for the morning."""
    does = _requests(seed, "k4rest3", PREFILL, 1500)
    return _rests(seed, "k4rest3", L4, does, "tritonserver --model-repository=/m --http-port=8000", cgroup=service("m"))


def server_started_as_a_module(seed: int) -> Scene:
    """A server on an H100 was started as a module of Python; its users are at lunch."""
    does = _requests(seed, "k4rest4", DECODE, 1500)
    command = "/opt/env/bin/python -m vllm.entrypoints.openai.api_server --model m"
    return _rests(seed, "k4rest4", H100, does, command)


def web_application_without_visitors(seed: int) -> Scene:
    """A web application under uvicorn on an L40S has no visitors for twenty minutes, seen with gaps."""
    does = _requests(seed, "k4rest5", LORA, 1200)
    disturb = [often_gaps(seed, each_s=60, from_s=4, to_s=9)]
    return _rests(
        seed, "k4rest5", L40S, does, "/opt/env/bin/uvicorn app.main:app --host 0.0.0.0 --port 80", disturb=disturb
    )


# --- people --------------------------------------------------------------------------------------------------------
def author_of_a_notebook_thinks(seed: int) -> Scene:
    """The author of a notebook on an A100 reads a paper for a quarter of an hour between two trainings."""
    draw = Draw(seed, "k4rest6")
    busy = drifting(draw, draw.work(FP32))
    does = phases(busy, (draw.between(300, 420), ASLEEP), (1400, busy))
    return scene(seed, [A100], notebook("nb", 0, does, mib_of(A100, 0.4)), 1700, allows="idle", interval_s=2)


def prompt_of_a_user_in_tmux(seed: int) -> Scene:
    """A user in tmux tries commands at a prompt of IPython on a V100, and looks at plots for ten minutes."""
    does = _requests(seed, "k4rest7", FP64, 660)
    return _rests(
        seed, "k4rest7", V100, does, "/opt/env/bin/python /opt/env/bin/ipython -i lab.py", variables=TMUX, until_s=1500
    )


# --- ordinary pauses of a batch ------------------------------------------------------------------------------------
def pause_at_the_end_of_every_epoch(seed: int) -> Scene:
    """A training on an H200 sleeps five minutes after every quarter of an hour, while its checkpoint is uploaded."""
    draw = Draw(seed, "k4rest8")
    sends = jammed(draw.between(8, 25)).but(tx=60.0)
    does = with_pauses(drifting(draw, draw.work(LLM)), sends, every_s=800, for_s=draw.between(230, 260))
    return _rests(seed, "k4rest8", H200, does, "python train.py", allows="idle~", until_s=2700)


def host_phase_between_two_phases_on_the_board(seed: int) -> Scene:
    """A simulation on an A100 builds its mesh on twenty cores for eight minutes between two solves."""
    draw = Draw(seed, "k4rest9")
    does = with_pauses(drifting(draw, draw.work(FP64)), MANY.but(cpu=1900.0), every_s=900, for_s=draw.between(440, 500))
    more: Any = {"cgroup": slurm(5), "allows": "spin~ idle~"}
    return _rests(seed, "k4rest9", A100, does, "./fem -i wing.inp", **more)


def worker_of_a_queue(seed: int) -> Scene:
    """A worker of a queue on a 3090 has a job of a minute every eight to twelve minutes, and sleeps between."""
    draw = Draw(seed, "k4rest10")
    does = cycle((draw.between(50, 90), draw.work(DIFFUSION)), (draw.between(480, 700), ASLEEP))
    return _rests(seed, "k4rest10", RTX_3090, does, "celery -A tasks worker --concurrency 1", allows="idle stalled~")


def report_of_steps_goes_on(seed: int) -> Scene:
    """A training on a B200 evaluates on the host after each epoch for six minutes, and reports its steps all the time."""
    draw = Draw(seed, "k4rest11")
    does = with_pauses(drifting(draw, draw.work(LLM)), MANY.but(cpu=380.0), every_s=1000, for_s=draw.between(340, 380))
    more: Any = {"steps": steps_until(1e6, each_s=0.7), "allows": "spin~ idle~", "workers": 4}
    return _rests(seed, "k4rest11", B200, does, "python train.py", until_s=2500, **more)


def recorder_of_a_camera(seed: int) -> Scene:
    """A recorder on a T4 works when something moves in its picture; nothing does for ten minutes."""
    draw = Draw(seed, "k4rest12")
    looks = DATA.but(
        util=0.0, decoder=draw.between(9, 18), rx=40.0, tx=12.0, share=0.02, mc=2.0, sm=0.0, cpu=14.0, thread=14.0
    )
    does = phases(cycle((30, draw.work(DATA)), (40, looks)), (500, looks), (1150, draw.work(DATA)))
    more: Any = {"allows": "", "until_s": 1500, "cgroup": service("recorder")}
    return _rests(seed, "k4rest12", T4, does, "./recorder --camera 3", **more)


def stage_of_a_pipeline_that_waits_for_the_first(seed: int) -> Scene:
    """The second program of a pipeline on an A100 waits for the first, which works on the host for nine minutes."""
    draw = Draw(seed, "k4rest13")
    works = drifting(draw, draw.work(FP32))
    busy = phases(ASLEEP, (200, MANY), (200 + draw.between(500, 540), ASLEEP))
    first = Actor(name="first", command="python prepare.py", parent="pipeline", host=busy)
    does = phases(works, (200, ASLEEP), (760, works))
    second = program("second", "python embed.py", 0, does, mib_of(A100, 0.3), parent="pipeline", **_BATCH)
    actors = [shell("pipeline", "/bin/bash run.sh"), first, second]
    return scene(seed, [A100], actors, 1100, allows="idle~", interval_s=2)
