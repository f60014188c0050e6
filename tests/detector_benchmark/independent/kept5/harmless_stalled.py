"""Programs that rest and are well: servers without requests, people who think, and pauses that belong to the work."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    DIFFUSION,
    FP32,
    FP64,
    LLM,
    LORA,
    MANY,
    PREFILL,
    QUERY,
    RENDER,
    Activity,
)
from detector_benchmark.independent.actors import TMUX, Actor, docker, service, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A100_40,
    B200,
    GH200,
    H100,
    H200,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders, program, shell
from detector_benchmark.independent.scripts import Part, cycle, phases, script
from detector_benchmark.independent.sketches import BATCH, alone, jammed, mib_of, notebook, scene, team, well_fed
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import ASLEEP, steps_until, train, with_pauses


def _rests(
    seed: int,
    name: str,
    board: Board,
    does: Callable[[Draw], Part],
    command: str,
    *,
    until_s: float = 2300,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part = does(draw)
    given: Any = {
        "actors": beside,
        "disturb": disturb(draw),
        "command": command,
        "allows": "idle",
        "interval_s": 2.0,
    } | more
    return alone(seed, board, part, mib_of(board, draw.between(0.3, 0.9)), until_s, **given)


def _until_a_quiet_time(work: Activity, quiet_s: float) -> Callable[[Draw], Part]:
    """Answer requests for minutes, then have none for longer than ever before, then answer again."""

    def does(draw: Draw) -> Part:
        busy, at_s = drifting(draw, draw.work(work)), draw.between(360, 540)
        bursts = cycle((draw.between(15, 40), busy), (draw.between(6, 25), ASLEEP))
        return phases(bursts, (at_s, ASLEEP), (at_s + quiet_s, bursts))

    return does


# --- servers without requests ---------------------------------------------------------------------------------------
def server_of_a_school_at_noon(seed: int) -> Scene:
    """A language server on a GH200 with `--port` has no request while a school is at lunch."""
    return _rests(
        seed, "k5rest1", GH200, _until_a_quiet_time(DECODE, 1500), "vllm serve m --port 8000", cgroup=service("llm")
    )


def server_behind_gunicorn(seed: int) -> Scene:
    """A service of translations under gunicorn on an A10G has no request for twenty minutes."""
    command = "/opt/env/bin/gunicorn -b 0.0.0.0:8000 mt.app:app"
    return _rests(seed, "k5rest2", A10G, _until_a_quiet_time(PREFILL, 1200), command, cgroup=docker("2"))


def llama_server_at_home(seed: int) -> Scene:
    """A server at home on a 3090 has had its last question of the evening; the next comes after twenty minutes."""
    command = "./llama-server -m model.gguf -ngl 99 --port 8080"
    return _rests(seed, "k5rest3", RTX_3090, _until_a_quiet_time(DECODE, 1300), command, beside=desktop())


def models_behind_grpc(seed: int) -> Scene:
    """A server of models on a V100 has a port for gRPC, and no request until the next batch of its clients."""
    command = "tensorflow_model_server --port=8500 --rest_api_port=8501 --model_name=ads"
    return _rests(seed, "k5rest4", V100, _until_a_quiet_time(CNN, 1000), command, until_s=1900)


def web_program_seen_through_gaps(seed: int) -> Scene:
    """A web program on an RTX PRO 6000 started with streamlit waits for visitors; samples and values are missing."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=80, from_s=4, to_s=12), no_process_values(draw.seed(), 0.04)]
    command = "/opt/env/bin/python /opt/env/bin/streamlit run demo.py --server.port 8501"
    return _rests(seed, "k5rest5", PRO_6000, _until_a_quiet_time(DIFFUSION, 1100), command, disturb=bad, until_s=1900)


def queries_that_stop_for_the_night(seed: int) -> Scene:
    """A database on an A100 of 40 GB has no query for half an hour."""
    command = "./kinetica --port 9191"
    return _rests(seed, "k5rest6", A100_40, _until_a_quiet_time(QUERY, 1500), command, cgroup=service("kinetica"))


# --- people ---------------------------------------------------------------------------------------------------------
def author_who_writes_a_text(seed: int) -> Scene:
    """The author of a notebook on an H200 writes a text for a quarter of an hour, after trainings of some minutes."""
    draw = Draw(seed, "k5rest7")
    busy = drifting(draw, draw.work(FP32))
    does = phases(cycle((150, busy), (60, ASLEEP)), (draw.between(380, 460), ASLEEP), (1450, busy))
    return scene(seed, [H200], notebook("nb", 0, does, mib_of(H200, 0.3)), 1700, allows="idle", interval_s=2)


def artist_on_the_telephone(seed: int) -> Scene:
    """An artist with Blender on an RTX 5090 is on the telephone for ten minutes between two pictures."""
    does = lambda draw: phases(
        cycle((25, draw.work(RENDER)), (20, jammed(8))), (draw.between(300, 420), jammed(2)), (1050, draw.work(RENDER))
    )
    more: Any = {"type": "C+G", "beside": desktop(), "until_s": 1300}
    return _rests(seed, "k5rest8", RTX_5090, does, "/opt/blender/blender house.blend", **more)


def session_of_julia_in_tmux(seed: int) -> Scene:
    """A user of Julia in tmux on an A100 thinks about a result for ten minutes at the prompt."""
    more: Any = {"variables": TMUX, "until_s": 1500}
    return _rests(seed, "k5rest9", A100, _until_a_quiet_time(FP64, 620), "julia --project=.", **more)


# --- pauses that belong to the work ---------------------------------------------------------------------------------
def copies_of_each_checkpoint_to_a_store(seed: int) -> Scene:
    """A training on an H100 sleeps four minutes after each ten, while a checkpoint goes to a store; its loaders sleep too."""
    draw = Draw(seed, "k5rest10")
    for_s = draw.between(220, 250)
    does = with_pauses(drifting(draw, draw.work(LLM)), jammed(draw.between(8, 20)), every_s=820, for_s=for_s)
    fed = with_pauses(script(well_fed(draw)), jammed(0), every_s=820, for_s=for_s)
    children = loaders(Actor(name="job", command="python train.py"), 4, fed)
    more: Any = {"actors": children, "allows": "idle~", "interval_s": 2.0, "command": "python train.py"}
    return alone(seed, H100, does, mib_of(H100, 0.7), 2500, **more)


def worker_of_a_queue_of_films(seed: int) -> Scene:
    """A worker of a queue on a T4 has a film of a minute every seven to eleven minutes, and sleeps between."""
    does = lambda draw: cycle((draw.between(45, 80), draw.work(PREFILL)), (draw.between(420, 640), ASLEEP))
    command = "/opt/env/bin/python -m rq worker films"
    return _rests(seed, "k5rest11", T4, does, command, allows="idle stalled~", until_s=2100)


def rollouts_on_other_machines(seed: int) -> Scene:
    """A learner on a B200 sleeps six minutes of each nine, until other machines have played, and reports its steps all the time."""

    def does(draw: Draw) -> Part:
        return with_pauses(drifting(draw, draw.work(LORA)), jammed(3), every_s=540, for_s=draw.between(330, 370))

    more: Any = {"steps": steps_until(1e6, each_s=0.8), "allows": "idle~", "cgroup": slurm(808)}
    return _rests(seed, "k5rest12", B200, does, "python learner.py", **more)


def simulation_coupled_to_another(seed: int) -> Scene:
    """A model of the air on an L40S waits four minutes of each six for a model of the sea, which computes on the host."""
    draw = Draw(seed, "k5rest13")
    period_s, works_s = 370.0, draw.between(120, 150)
    sea = Actor(
        name="sea",
        command="./sea",
        parent="couple",
        host=cycle((works_s, ASLEEP), (period_s - works_s, MANY.but(cpu=900))),
    )
    does = cycle((works_s, drifting(draw, draw.work(FP64))), (period_s - works_s, jammed(0.5)))
    air = program("air", "./air", 0, does, mib_of(L40S, 0.4), parent="couple", **BATCH)
    actors = [shell("couple", "/bin/bash couple.sh"), sea, air]
    return scene(seed, [L40S], actors, 2000, allows="idle~", interval_s=2)


def trainer_that_sleeps_until_cheap_power(seed: int) -> Scene:
    """Four ranks on V100 sleep five minutes of each fifteen at a mark of their scheduler, all together, and go on."""
    draw = Draw(seed, "k5rest14")
    steps = train(draw.work(CNN), step_s=1.2)
    does = lambda rank: with_pauses(steps, jammed(0.4), every_s=900, for_s=280)
    return team(
        seed, [V100] * 4, does, mib_of(V100, 0.6), 2300, allows="idle~ stalled~", interval_s=2.0, launcher="srun"
    )
