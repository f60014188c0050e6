"""Host threads at 100 % beside a GPU that rests for a good reason, and for a time."""

from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    FP32,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    MOLECULES,
    PREFILL,
    Activity,
)
from detector_benchmark.independent.actors import service, slurm
from detector_benchmark.independent.boards import A100, B200, H100, H200, L4, L40S, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import Part, cycle, phases, warmed
from detector_benchmark.independent.sketches import mib_of, scene, well_fed
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, since, train, with_pauses

_BATCH: Any = {"variables": {}, "terminal": 0}


def _starts(
    seed: int, name: str, board: Board, work: Activity, *turns: tuple[float, Activity], command: str, **more: Any
) -> Scene:
    """Start a program within the trace: its turns on the host, each until some second of its life, then its work."""
    draw = Draw(seed, name)
    at_s, factor = draw.between(40, 120), draw.between(0.85, 1.15)
    ends = [end_s * factor for end_s, _ in turns]
    later: list[tuple[float, Part]] = [(end_s, turn) for end_s, (_, turn) in zip(ends, turns[1:], strict=False)]
    life = phases(turns[0][1], *later, (ends[-1], rippling(draw, drifting(draw, draw.work(work)))))
    memory = warmed(500, 0.5 * board.memory_mib, at_s=at_s + 0.8 * ends[-1], over_s=30)
    actor = program("job", command, 0, since(at_s, life), memory, from_s=at_s, **_BATCH | more)
    return scene(seed, [board], [actor], 900)


# --- they start ----------------------------------------------------------------------------------------------------
def imports_and_a_compilation(seed: int) -> Scene:
    """A training on an H100 imports, builds its model and compiles it on one core for two and a half minutes."""
    return _starts(seed, "k4host1", H100, LLM, (150, HOST), command="python train.py --compile")


def tracing_of_a_large_program(seed: int) -> Scene:
    """A program in JAX on a B200 is traced and compiled for three minutes, on one core, then on some."""
    return _starts(seed, "k4host2", B200, LLM, (110, HOST), (180, MANY), command="python train_jax.py")


def index_of_a_data_set(seed: int) -> Scene:
    """A training on a V100 lists its files, reads an index and shuffles it for two minutes before its first step."""
    disk = IDLE.but(cpu=40, state="D")
    more: Any = {"cgroup": slurm(31), "variables": {"SLURM_JOB_ID": "31"}}
    return _starts(seed, "k4host3", V100, CNN, (30, disk), (120, HOST), command="python train.py", **more)


def kernels_are_built_at_the_start(seed: int) -> Scene:
    """A server on an L40S builds its kernels with a compiler for two minutes, then serves at once."""
    more: Any = {"command": "python -m chat.server --port 8000", "cgroup": service("chat")}
    return _starts(seed, "k4host4", L40S, DECODE, (20, HOST), (130, MANY), **more)


# --- servers that poll by design -----------------------------------------------------------------------------------
def _polls(seed: int, name: str, board: Board, command: str, **more: Any) -> Scene:
    draw = Draw(seed, name)
    does = serves(draw, draw.work(PREFILL), each_s=60, for_s=30, rest=HOST.but(cpu=100.0))
    actor = program("job", command, 0, does, mib_of(board, 0.88), **_BATCH | {"cgroup": service("llm")} | more)
    return scene(seed, [board], [actor], 1200, allows="spin~ idle~")


def scheduler_of_a_language_server(seed: int) -> Scene:
    """The scheduler of a server on an H200 polls for requests at 100 % of a core, by design."""
    return _polls(seed, "k4host5", H200, "python -m sglang.launch_server --port 30000")


def engine_of_another_server(seed: int) -> Scene:
    """The engine of a server on an L4 polls for requests at 100 % of a core; they come each minute."""
    return _polls(seed, "k4host6", L4, "vllm serve m --port 8000")


# --- short phases on the host --------------------------------------------------------------------------------------
def _in_phases(seed: int, name: str, board: Board, work: Activity, host: Activity, **more: Any) -> Scene:
    draw = Draw(seed, name)
    every_s, for_s = more.pop("every_s", 300.0), more.pop("for_s", 45.0) * draw.between(0.85, 1.1)
    disturb, workers = more.pop("disturb", ()), more.pop("workers", 0)
    steps = drifting(draw, draw.work(work))
    command = more.pop("command", "python train.py")
    does = with_pauses(steps, host, every_s=every_s, for_s=for_s)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.8)), **_BATCH | more)
    return scene(seed, [board], [actor, *loaders(actor, workers, well_fed(draw))], 1200, disturb=disturb)


def shuffle_before_each_epoch(seed: int) -> Scene:
    """A training on an A100 shuffles on one core for forty seconds before each epoch of five minutes."""
    return _in_phases(seed, "k4host7", A100, CNN, HOST, workers=4)


def metrics_on_one_core(seed: int) -> Scene:
    """A training on an RTX 4090 computes its metrics on one core for half a minute each four minutes."""
    return _in_phases(seed, "k4host8", RTX_4090, LORA, HOST, every_s=240.0, for_s=32.0)


def sums_of_a_checkpoint(seed: int) -> Scene:
    """A training on a T4 computes the checksum of its checkpoint for 25 s each three minutes, seen with gaps."""
    disturb = [often_gaps(seed, each_s=70, from_s=3, to_s=8)]
    return _in_phases(seed, "k4host9", T4, FP32, HOST, every_s=180.0, for_s=25.0, disturb=disturb)


def search_tree_between_two_batches(seed: int) -> Scene:
    """A program on an H100 grows a search tree on the host for nine seconds, then asks the board for four, all the time."""
    draw = Draw(seed, "k4host10")
    does = cycle((draw.between(8, 10), HOST), (4, draw.work(DECODE)))
    actor = program("job", "python search.py", 0, does, mib_of(H100, 0.3), **_BATCH)
    return scene(seed, [H100], [actor], 1200, allows="spin~ launch~")


def molecules_on_both(seed: int) -> Scene:
    """A molecular simulation on an L40S uses ten cores and the board at the same time, as it should."""
    draw = Draw(seed, "k4host11")
    work = drifting(draw, draw.work(MOLECULES))
    actor = program("job", "gmx mdrun -deffnm prod", 0, work, mib_of(L40S, 0.05), **_BATCH)
    return scene(seed, [L40S], [actor], 1200)


def ranks_that_start_together(seed: int) -> Scene:
    """Four ranks on A100 import, read their shards and compile for three minutes on the host, then train."""
    draw = Draw(seed, "k4host12")
    life = phases(HOST, (draw.between(60, 80), MANY), (draw.between(150, 190), train(draw.work(LLM), step_s=1.2)))
    actors = ranks(range(4), lambda rank: since(30, life), warmed(500, 50000, at_s=190), from_s=30)
    return scene(seed, [A100] * 4, actors, 900)
