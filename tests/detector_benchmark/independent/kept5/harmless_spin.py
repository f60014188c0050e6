"""Host threads at 100 % beside a GPU that rests for a good reason, for a time or by design."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    DIFFUSION,
    FP32,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    MOLECULES,
    PREFILL,
    RENDER,
    Activity,
)
from detector_benchmark.independent.actors import Actor, service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    B200,
    GB200,
    GH200,
    H100,
    H200,
    L4,
    LAPTOP_4070,
    RTX_3090,
    RTX_5090,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders
from detector_benchmark.independent.scripts import Part, cycle, phases, warmed
from detector_benchmark.independent.sketches import alone, mib_of, notebook, scene, team, well_fed
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, since, train, with_pauses


# --- they start -----------------------------------------------------------------------------------------------------
def _begins(
    seed: int, name: str, board: Board, work: Activity, *turns: tuple[float, Activity], command: str, **more: Any
) -> Scene:
    """Start a program: its turns on the host, each until some second of its life, then its work on the board."""
    draw = Draw(seed, name)
    at_s, scale = draw.between(40, 110), draw.between(0.85, 1.1)
    ends = [end_s * scale for end_s, _ in turns]
    later: list[tuple[float, Part]] = [(end_s, turn) for end_s, (_, turn) in zip(ends, turns[1:], strict=False)]
    life = phases(turns[0][1], *later, (ends[-1], rippling(draw, drifting(draw, draw.work(work)))))
    memory = warmed(520, 0.5 * board.memory_mib, at_s=at_s + 0.8 * ends[-1], over_s=25)
    return alone(seed, board, since(at_s, life), memory, 860, command=command, from_s=at_s, **more)


def engine_built_for_one_board(seed: int) -> Scene:
    """A build of an engine on an A10G prepares on one core for a minute and a half, then times kernels on the board."""
    return _begins(seed, "k5host1", A10G, PREFILL, (95, HOST), command="trtexec --onnx=m.onnx --saveEngine=m.plan")


def graph_traced_and_lowered(seed: int) -> Scene:
    """A training in JAX on a GB200 traces on one core, and lowers on some, for three minutes altogether."""
    return _begins(
        seed, "k5host2", GB200, LLM, (120, HOST), (185, MANY.but(cpu=600.0)), command="python pretrain_jax.py"
    )


def index_read_before_the_first_step(seed: int) -> Scene:
    """A training on an A6000 unpickles an index of its data for two minutes, on one core, before its first step."""
    disk = IDLE.but(cpu=35, state="D")
    return _begins(seed, "k5host3", A6000, CNN, (25, disk), (140, HOST), command="python train.py --index all.pkl")


def scene_that_is_built(seed: int) -> Scene:
    """A renderer on a 3090 builds its scene on one core for two minutes before its first picture."""
    return _begins(seed, "k5host4", RTX_3090, RENDER, (125, HOST), command="blender -b city.blend -f 1")


def ranks_that_shuffle_at_the_start(seed: int) -> Scene:
    """Eight ranks on H100 import, build their mixture of data on one core each for two and a half minutes, then train."""
    draw = Draw(seed, "k5host5")
    life = phases(HOST, (draw.between(140, 160), MANY), (185, train(draw.work(LLM), step_s=1.0)))
    memory = warmed(520, 52000, at_s=175)
    return team(seed, [H100] * 8, lambda rank: since(30, life), memory, 760, from_s=30, interval_s=2.0)


# --- servers that poll by design ------------------------------------------------------------------------------------
def _polls(seed: int, name: str, board: Board, command: str, work: Activity, each_s: float = 50) -> Scene:
    draw = Draw(seed, name)
    does = serves(draw, draw.work(work), each_s=each_s, for_s=25, rest=HOST.but(cpu=draw.between(98, 101)))
    more: Any = {"command": command, "cgroup": service("llm"), "allows": "spin~ idle~"}
    return alone(seed, board, does, mib_of(board, 0.85), 1200, **more)


def loop_of_an_engine_that_looks_for_requests(seed: int) -> Scene:
    """The loop of an engine on a GH200 looks for requests at 100 % of a core; they come each minute."""
    return _polls(seed, "k5host6", GH200, "python -m sglang.launch_server --host 0.0.0.0 --port 30000", DECODE)


def worker_that_polls_a_ring(seed: int) -> Scene:
    """A worker of a speech service on an L4 polls a ring buffer for sound, at 100 % of a core, by design."""
    return _polls(seed, "k5host7", L4, "riva_server --grpc-port 50051 --http-port 8000", PREFILL, 35)


# --- short phases on the host ---------------------------------------------------------------------------------------
def _between(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    host: Activity,
    every_s: float,
    for_s: float,
    *,
    workers: int = 0,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    command: str = "python train.py",
    **more: Any,
) -> Scene:
    """Let a program work on the board, and on the host for a while in each period."""
    draw = Draw(seed, name)
    length_s = for_s * draw.between(0.85, 1.1)
    does = with_pauses(drifting(draw, draw.work(work)), host, every_s=every_s, for_s=length_s)
    children = loaders(Actor(name="job", command=command), workers, well_fed(draw))
    given: Any = {"actors": [*beside, *children], "disturb": disturb(draw), "command": command} | more
    return alone(seed, board, does, mib_of(board, draw.between(0.3, 0.8)), 1200, **given)


def metrics_after_each_validation(seed: int) -> Scene:
    """A training on an H200 computes metrics on one core for half a minute of each four."""
    return _between(seed, "k5host8", H200, LORA, HOST, 240, 33, workers=4)


def faces_written_to_a_mesh(seed: int) -> Scene:
    """A reconstruction on an RTX 5090 extracts its mesh on one core for forty seconds of each five minutes."""
    return _between(seed, "k5host9", RTX_5090, FP32, HOST, 300, 40, command="python splat.py", beside=desktop())


def hashes_of_a_checkpoint(seed: int) -> Scene:
    """A training on a V100 hashes its checkpoint on one core for 25 s of each three minutes, seen through gaps."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=60, from_s=3, to_s=9)]
    return _between(seed, "k5host10", V100, CNN, HOST, 180, 25, disturb=bad)


def prompts_encoded_between_films(seed: int) -> Scene:
    """A generation of films on a laptop's RTX 4070 writes each film with one thread for 35 s after two minutes of work."""
    return _between(seed, "k5host11", LAPTOP_4070, DIFFUSION, HOST, 155, 35, command="python film.py", beside=desktop())


def tree_of_moves_between_two_batches(seed: int) -> Scene:
    """A player on a B200 grows its tree on the host for six seconds and asks its net for five, all the time."""
    draw = Draw(seed, "k5host12")
    does = cycle((draw.between(5, 7), HOST), (5, draw.work(PREFILL)))
    more: Any = {"command": "python selfplay.py", "allows": "spin~ launch~"}
    return alone(seed, B200, does, mib_of(B200, 0.2), 1100, **more)


def molecules_on_all_cores_and_the_board(seed: int) -> Scene:
    """A simulation of molecules on an A100 uses twelve cores and the board at the same time, as it should."""
    draw = Draw(seed, "k5host13")
    work = drifting(draw, draw.work(MOLECULES).but(cpu=1190.0, thread=99.0))
    return alone(seed, A100, work, mib_of(A100, 0.04), 1100, command="gmx mdrun -deffnm nvt")


def plots_of_a_notebook(seed: int) -> Scene:
    """The author of a notebook on an RTX 5090 draws plots on one core for forty seconds after each training of two minutes."""
    draw = Draw(seed, "k5host14")
    does = cycle((draw.between(100, 130), draw.work(FP32)), (draw.between(30, 42), HOST), (20, IDLE))
    return scene(seed, [RTX_5090], notebook("nb", 0, does, mib_of(RTX_5090, 0.4)), 1100)
