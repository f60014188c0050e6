"""Processes that take memory and never give it back."""

import math
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    DIFFUSION,
    FP32,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    QUERY,
    Activity,
)
from detector_benchmark.independent.actors import docker, service, slurm
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
    B200,
    H100,
    H200,
    L4,
    L40S,
    PROCESS_MEMORY,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import late_power, lost_memory, often_gaps, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Curve, Part, added, growing, level, sawtooth, warmed
from detector_benchmark.independent.sketches import notebook, scene
from detector_benchmark.independent.textures import dipping, drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import serves, spikes

_SERVER: Any = {"variables": {}, "terminal": 0}


def _leaks(
    seed: int,
    board: Board,
    does: Part,
    memory: Curve,
    *,
    command: str = "python -u train.py --config base.yaml",
    from_s: float = 0,
    by_s: float = 2700,
    until_s: float = 2820,
    is_alarm: bool = False,
    beside: Any = (),
    disturb: Any = (),
    interval_s: float = 2.0,
    **more: Any,
) -> Scene:
    actor = program("job", command, 0, does, memory, **more)
    wants = want("leak", "job gpu:0", from_s, by_s, is_alarm=is_alarm)
    return scene(
        seed, [board], [*beside, actor], until_s, wants, allows="filling", disturb=disturb, interval_s=interval_s
    )


def _equal_steps(base: Curve, *, mib: float, each_s: float, first_s: float) -> Curve:
    """Add the same amount every so many seconds: what one epoch, or one reload, forgets."""
    return lambda t_s: base(t_s) + mib * max(0, math.floor((t_s - first_s) / each_s) + 1)


def _doubling_pool(base: Curve, *, mib_per_min: float, first_mib: float) -> Curve:
    """Hold leaking data in a pool that an allocator doubles when it is full."""

    def curve(t_s: float) -> float:
        data = max(first_mib, t_s / 60 * mib_per_min)
        return base(t_s) + first_mib * 2.0 ** math.ceil(math.log2(data / first_mib))

    return curve


def _while_busy(base: Curve, work: Part, *, mib_per_s: float, until_s: float) -> Curve:
    """Add memory in the seconds in which a script works on the GPU, and none in the others."""
    does = work if callable(work) else lambda t_s: work
    sums, total = [], 0.0
    for second in range(int(until_s) + 2):
        total += mib_per_s * (does(float(second)).util > 5)
        sums.append(total // 2 * 2)
    return lambda t_s: base(t_s) + sums[max(0, min(len(sums) - 1, int(t_s)))]


# --- single samples without memory ---------------------------------------------------------------------------------
def graph_of_losses_kept_and_zeros_read(seed: int) -> Scene:
    """A list keeps the graph of every loss on an H100; one sample in a hundred says that the process has no memory."""
    draw = Draw(seed, "k4leak1")
    memory = growing(warmed(900, 31000), mib_per_min=draw.between(40, 90), from_s=60)
    return _leaks(seed, H100, draw.work(LLM), memory, disturb=[zero_memory(draw.seed(), 0.01)])


def feature_cache_with_zeros_and_faults(seed: int) -> Scene:
    """Features of every image are kept on a V100; its driver says 0 or nothing of the memory at times."""
    draw = Draw(seed, "k4leak2")
    memory = growing(level(4100), mib_per_min=draw.between(25, 60), from_s=0, chunk_mib=20)
    disturb = [zero_memory(draw.seed(), 0.015), lost_memory(draw.seed(), 0.03)]
    return _leaks(seed, V100, drifting(draw, draw.work(CNN)), memory, command="python extract.py", disturb=disturb)


def replay_of_frames_with_rows_of_zeros(seed: int) -> Scene:
    """A video pipeline on an L4 never frees its frames; a tenth of the samples in some minutes reads 0 MiB."""
    draw = Draw(seed, "k4leak3")
    memory = growing(level(3000), mib_per_min=draw.between(90, 160), from_s=0, chunk_mib=6)
    disturb = [zero_memory(draw.seed(), 0.04), often_gaps(draw.seed(), each_s=300, from_s=3, to_s=9)]
    return _leaks(seed, L4, draw.work(DATA), memory, command="./pipeline --source rtsp", disturb=disturb, **_SERVER)


# --- rare, equal steps ---------------------------------------------------------------------------------------------
def hundred_megabytes_of_each_epoch(seed: int) -> Scene:
    """Each epoch of six minutes leaves about a hundred megabytes behind on a 3090, for more than an hour."""
    draw = Draw(seed, "k4leak4")
    memory = _equal_steps(level(7200), mib=draw.whole(50, 70) * 2, each_s=draw.between(320, 400), first_s=200)
    work = dipping(draw, draw.work(FP32), IDLE.but(cpu=60), every_s=340, for_s=12)
    return _leaks(seed, RTX_3090, work, memory, by_s=4700, until_s=4800, interval_s=3)


def adapter_that_is_loaded_and_not_dropped(seed: int) -> Scene:
    """A server on an A100 loads another adapter every eight minutes and drops none of the old ones."""
    draw = Draw(seed, "k4leak5")
    work = serves(draw, draw.work(DECODE), each_s=25, for_s=30)
    memory = _equal_steps(level(44000), mib=draw.whole(180, 260) * 2, each_s=480, first_s=150)
    command = "python -m vllm.entrypoints.openai.api_server --enable-lora --port 8000"
    return _leaks(seed, A100, work, memory, command=command, by_s=5100, until_s=5200, interval_s=4, **_SERVER)


def validation_set_copied_again_and_again(seed: int) -> Scene:
    """Each validation of a Slurm job on an H200 copies its set to the board once more and keeps the old copy."""
    draw = Draw(seed, "k4leak6")
    memory = _equal_steps(level(52000), mib=draw.whole(600, 900) * 2, each_s=draw.between(420, 520), first_s=300)
    more: Any = {"cgroup": slurm(731), "variables": {"SLURM_JOB_ID": "731"}, "terminal": 0}
    return _leaks(seed, H200, rippling(draw, draw.work(LLM)), memory, by_s=4900, until_s=5000, interval_s=4, **more)


# --- an allocator that doubles over leaking data -------------------------------------------------------------------
def vector_of_results_that_doubles(seed: int) -> Scene:
    """A vector on an A100 gets every result and is never cleared; its capacity doubles whenever it is full."""
    draw = Draw(seed, "k4leak7")
    memory = _doubling_pool(level(5200), mib_per_min=draw.between(500, 800), first_mib=64)
    return _leaks(seed, A100, draw.work(FP32), memory, command="./simulate --out all", by_s=3500, until_s=3600)


def arena_of_a_database_that_doubles(seed: int) -> Scene:
    """The arena of a GPU database on an L40S keeps every temporary table; the arena doubles."""
    draw = Draw(seed, "k4leak8")
    work = serves(draw, draw.work(QUERY), each_s=9, for_s=12)
    memory = _doubling_pool(level(2600), mib_per_min=draw.between(300, 480), first_mib=128)
    return _leaks(seed, L40S, work, memory, command="./gpudb --port 6274", by_s=3500, until_s=3600, **_SERVER)


def pool_of_a_renderer_that_doubles(seed: int) -> Scene:
    """A renderer on a B200 keeps the geometry of every frame in a pool that doubles, from 256 MiB on."""
    draw = Draw(seed, "k4leak9")
    memory = _doubling_pool(level(9000), mib_per_min=draw.between(900, 1400), first_mib=256)
    return _leaks(
        seed, B200, drifting(draw, draw.work(DIFFUSION)), memory, command="./render --all", by_s=3500, until_s=3600
    )


# --- only while requests come --------------------------------------------------------------------------------------
def _with_requests(seed: int, name: str, board: Board, work: Activity, **more: Any) -> Scene:
    draw = Draw(seed, name)
    does = serves(draw, draw.work(work), each_s=draw.between(140, 220), for_s=draw.between(90, 150))
    base = level(0.3 * board.memory_mib // 2 * 2)
    rate = draw.between(0.5, 0.9) * board.memory_mib / 40000
    memory = _while_busy(base, does, mib_per_s=rate, until_s=4300)
    return _leaks(seed, board, does, memory, by_s=4200, until_s=4300, interval_s=3, **_SERVER | more)


def sessions_of_a_speech_server(seed: int) -> Scene:
    """A speech server on a T4 keeps the state of every session; between requests nothing grows."""
    return _with_requests(seed, "k4leak10", T4, DECODE, command="python serve_asr.py --http-port 9090")


def prefix_cache_without_a_limit(seed: int) -> Scene:
    """A language server on an H100 caches every prefix without a limit, only when requests come."""
    return _with_requests(seed, "k4leak11", H100, PREFILL, command="python -m chat.server --listen 0.0.0.0")


def images_kept_by_a_web_service(seed: int) -> Scene:
    """A diffusion service in a container on an L40S keeps all latents; nights are quiet, and so is its memory."""
    return _with_requests(seed, "k4leak12", L40S, DIFFUSION, command="uvicorn app:app --port 7860", cgroup=docker("6"))


# --- very fast -----------------------------------------------------------------------------------------------------
def _fast(seed: int, name: str, board: Board, work: Activity, share: float, **more: Any) -> Scene:
    """Fill most of a board within half an hour, while its GPU works from the beginning."""
    draw = Draw(seed, name)
    base, room = 0.12 * board.memory_mib // 2 * 2, board.memory_mib - board.reserved_mib
    rate = draw.between(0.9, 1.0) * share * room / 30
    memory = growing(level(base), mib_per_min=rate, from_s=0, chunk_mib=2)
    return _leaks(seed, board, draw.work(work), memory, by_s=1320, until_s=1700, interval_s=1.0, **more)


def every_activation_is_kept(seed: int) -> Scene:
    """A hook keeps every activation on an H200: gigabytes a minute while the board trains at full power."""
    return _fast(seed, "k4leak13", H200, LLM, 0.84)


def every_batch_is_kept_on_a_gaming_board(seed: int) -> Scene:
    """A list keeps every batch on an RTX 4090 with a desktop: 600 MiB a minute at full power."""
    return _fast(seed, "k4leak14", RTX_4090, LORA, 0.8, beside=desktop())


def simulation_that_stores_each_state(seed: int) -> Scene:
    """A simulation on an A100 stores each of its states on the board: two gigabytes a minute."""
    return _fast(
        seed, "k4leak15", A100, FP32, 0.82, command="./fluid --steps 1000000", disturb=[late_power(seed, 0.05)]
    )


# --- sure, though much memory is left: an alarm --------------------------------------------------------------------
def steady_leak_on_a_large_board(seed: int) -> Scene:
    """A training on a B200 grows by 50 MiB a minute, without a pause; 150 GiB are left, and it is sure all the same."""
    draw = Draw(seed, "k4leak16")
    memory = growing(warmed(1200, 24000), mib_per_min=draw.between(45, 70), from_s=90)
    return _leaks(seed, B200, rippling(draw, draw.work(LLM)), memory, is_alarm=True, by_s=3300, until_s=3400)


def steady_leak_in_a_slice(seed: int) -> Scene:
    """A notebook's cell in a slice of an A100 grows by 25 MiB a minute under a sawtooth of batches."""
    draw = Draw(seed, "k4leak17")
    low = growing(level(6200), mib_per_min=draw.between(24, 40), from_s=0)
    actors = notebook("nb", 0, draw.work(LORA).but(share=0.3), sawtooth(low, mib=700, period_s=37), instance=1)
    wants = want("leak", "nb gpu:0", 0, 3300, is_alarm=True)
    return scene(seed, [A100_MIG], actors, 3400, wants, allows="filling", interval_s=2)


def steady_leak_of_a_board_as_a_whole(seed: int) -> Scene:
    """The driver of an L4 says no memory of processes; the board itself grows by 30 MiB a minute, spikes aside."""
    draw = Draw(seed, "k4leak18")
    low = growing(level(5000), mib_per_min=draw.between(30, 50), from_s=0)
    memory = added(spikes(low, mib=1800, every_s=draw.between(200, 260), for_s=9))
    board = L4.without(PROCESS_MEMORY)
    more: Any = {"cgroup": service("detector")} | _SERVER
    return _leaks(
        seed, board, draw.work(CNN), memory, command="./detector", is_alarm=True, by_s=3300, until_s=3400, **more
    )
