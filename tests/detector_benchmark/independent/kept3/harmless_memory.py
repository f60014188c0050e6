"""Memory that grows, falls or swings, as it should."""

from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    COPY,
    DECODE,
    DIFFUSION,
    DISK,
    FP32,
    IDLE,
    LLM,
    LORA,
    MANY,
    PREFILL,
    Activity,
)
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
    A6000,
    B200,
    H100,
    H200,
    L4,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import lost_memory, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import (
    Curve,
    Part,
    added,
    cycle,
    level,
    phases,
    records,
    sawtooth,
    steps,
    warmed,
)
from detector_benchmark.independent.sketches import notebook, scene
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import loads, saturating, spikes, train


def _calm(
    seed: int,
    board: Board,
    work: Part,
    memory: Curve,
    *,
    command: str = "python train.py",
    until_s: float = 2400,
    **more: Any,
) -> Scene:
    disturb = more.pop("disturb", ())
    actor = program("job", command, 0, work, memory, **more)
    return scene(seed, [board], [actor], until_s, disturb=disturb)


def _busy(draw: Draw, work: Activity) -> Activity:
    return draw.work(work).but(nv=0)


def warm_up_then_flat(seed: int) -> Scene:
    """A training starts, fills 20 GiB within a minute, and stays there for an hour."""
    draw = Draw(seed, "k3mem1")
    does = loads(draw, _busy(draw, LLM))
    return _calm(seed, A100, does, warmed(500, draw.between(15000, 30000), at_s=45, over_s=60), age_s=0.0, until_s=3000)


def allocator_that_keeps_records(seed: int) -> Scene:
    """Sentences of varying length: the allocator keeps the largest it has seen, new records get ever rarer."""
    draw = Draw(seed, "k3mem2")
    memory = records(level(18000), mib=draw.between(900, 1500), each_s=1.0, seed=draw.seed())
    return _calm(seed, L40S, _busy(draw, LORA), memory, until_s=3000)


def pool_that_saturates(seed: int) -> Scene:
    """A pool fragments in its first minutes: 1.5 GiB more, ever more slowly, then flat."""
    draw = Draw(seed, "k3mem3")
    memory = saturating(level(9000), mib=draw.between(800, 1600), tau_s=draw.between(60, 140))
    return _calm(seed, RTX_4090, _busy(draw, CNN), memory, until_s=3000, age_s=0.0)


def cache_of_keys_fills_its_pool_at_once(seed: int) -> Scene:
    """A vLLM server loads its weights, takes 90 % of an H100 at once, adds its graphs in 20 s, and stays."""
    draw = Draw(seed, "k3mem4")
    memory = steps(
        (0, 520.0), (20, 16400.0), (50, 31000.0), (62, 70500.0), *[(64 + n, 70500.0 + 30 * n) for n in range(20)]
    )
    work = cycle((20, _busy(draw, DECODE)), (5, _busy(draw, PREFILL)))
    does = phases(Activity(cpu=97, state="R"), (18, COPY), (56, work))
    return _calm(
        seed, H100, does, memory, command="python -m vllm.entrypoints.openai.api_server --port 8000", age_s=0.0
    )


def curriculum_in_four_steps(seed: int) -> Scene:
    """A curriculum lengthens its sequences four times in half an hour; each length needs some GiB more, the last is kept."""
    draw = Draw(seed, "k3mem5")
    memory = steps((0, 11000.0), (300, 13200.0), (640, 17100.0), (1150, 18000.0), (1600, 21300.0))
    return _calm(seed, A6000, _busy(draw, LLM), memory, until_s=3300)


def validation_needs_more_for_a_while(seed: int) -> Scene:
    """Each 5 min a validation needs 6 GiB more for 30 s, and gives them back."""
    draw = Draw(seed, "k3mem6")
    memory = spikes(level(21000), mib=draw.between(4000, 8000), every_s=300, for_s=30)
    return _calm(seed, RTX_3090.without("pcie"), _busy(draw, CNN), added(memory, level(-8000)))


def generations_fill_and_free_their_cache(seed: int) -> Scene:
    """A script generates long texts with a cache that grows for two minutes and is freed after each."""
    draw = Draw(seed, "k3mem7")
    memory = sawtooth(level(15000), mib=draw.between(2000, 5000), period_s=draw.between(90, 150))
    return _calm(seed, A100, _busy(draw, DECODE), memory, command="python generate.py")


def array_library_takes_its_share(seed: int) -> Scene:
    """JAX takes 75 % of an H200 at its start, and never changes."""
    draw = Draw(seed, "k3mem8")
    does = phases(Activity(cpu=97, state="R"), (12, MANY), (50, _busy(draw, LLM)))
    return _calm(seed, H200, does, steps((0, 400.0), (8, 107000.0)), command="python flax_train.py", age_s=0.0)


def weights_arrive_over_a_slow_network(seed: int) -> Scene:
    """60 GiB of weights arrive over the network in nine minutes, evenly, while the GPU computes nothing; then it serves."""
    draw = Draw(seed, "k3mem9")
    ends_s = draw.between(480, 600)
    memory = lambda t_s: 500 + min(1.0, t_s / ends_s) * 60000 // 2 * 2
    slow = COPY.but(rx=180, cpu=30, thread=30, util=1, state="D", share=0.005)
    does = phases(slow, (ends_s, _busy(draw, DECODE)))
    command = "python -m sglang.launch_server --port 30000"
    actor = program("job", command, 0, does, memory, age_s=0.0)
    return scene(seed, [B200], [actor], 2000, allows="filling~ leak~")


def cells_of_a_notebook_allocate_and_free(seed: int) -> Scene:
    """A person works in a notebook: tensors of 0.2 to 3 GiB come and go with the cells."""
    draw = Draw(seed, "k3mem10")
    at_s, marks = 0.0, []
    while at_s < 2600:
        marks.append((at_s, 2000.0 + draw.whole(0, 3) * draw.between(200, 1000) // 2 * 2))
        at_s += draw.between(40, 160)
    does = cycle((25, _busy(draw, FP32)), (60, IDLE.but(cpu=2)))
    return scene(seed, [V100], notebook("nb", 0, does, steps(*marks)), 2400)


def samples_without_memory_on_a_flat_process(seed: int) -> Scene:
    """A training is flat; some samples say 0 MiB, some cannot be read."""
    draw = Draw(seed, "k3mem11")
    disturb = [zero_memory(draw.seed(), 0.02), lost_memory(draw.seed(), 0.02)]
    return _calm(seed, PRO_6000, _busy(draw, LORA), level(41000), disturb=disturb)


def models_come_and_go_on_a_desktop(seed: int) -> Scene:
    """Ollama loads models of 5 to 14 GiB, keeps each for five minutes after its last use, and unloads it."""
    draw = Draw(seed, "k3mem12")
    memory = steps((0, 600.0), (60, 5400.0), (500, 600.0), (700, 14300.0), (1250, 600.0), (1400, 8700.0), (1900, 600.0))
    busy = _busy(draw, DECODE)
    rest = IDLE.but(cpu=1)
    does = phases(rest, (70, busy), (190, rest), (710, busy), (940, rest), (1410, busy), (1590, rest))
    actor = program("ollama", "/usr/local/bin/ollama runner --model /m/blobs/sha256-1 --port 41211", 0, does, memory)
    return scene(seed, [RTX_4090], [*desktop(), actor], 2200, allows="idle~")


def epochs_on_small_boards(seed: int) -> Scene:
    """Four ranks on T4 swing by 1.5 GiB in each epoch of two minutes; their level stays."""
    draw = Draw(seed, "k3mem13")
    memory = sawtooth(level(9000), mib=1500, period_s=draw.between(100, 140))
    does = train(_busy(draw, CNN), step_s=0.6)
    return scene(seed, [T4] * 4, ranks(range(4), lambda rank: does, memory), 2400)


def instance_of_mig_with_bursts(seed: int) -> Scene:
    """A server in a MIG instance takes up to 3 GiB more for bursts of large requests, and gives them back."""
    draw = Draw(seed, "k3mem14")
    memory = spikes(level(11000), mib=3000, every_s=draw.between(60, 100), for_s=20)
    command = "tritonserver --model-repository /models --http-port 8000"
    return _calm(seed, A100_MIG, draw.work(DECODE, level=0.3).but(nv=0), memory, command=command, instance=2)


def adapters_are_loaded_when_they_are_asked_for(seed: int) -> Scene:
    """A server loads twelve adapters of 200 MiB within its first five minutes; that is all that there are."""
    draw = Draw(seed, "k3mem15")
    marks = sorted(draw.between(20, 300) for _ in range(12))
    memory = steps((0, 31000.0), *[(at_s, 31200.0 + 200 * n) for n, at_s in enumerate(marks)])
    command = "python -m vllm.entrypoints.openai.api_server --enable-lora --port 8000"
    return _calm(seed, L40S, _busy(draw, DECODE), memory, command=command, until_s=2700)


def pictures_of_different_sizes(seed: int) -> Scene:
    """A diffusion program draws pictures of sizes that users choose: its memory follows them, up and down."""
    draw = Draw(seed, "k3mem16")
    marks = [(30.0 * n, 9000.0 + 1000 * draw.whole(0, 8)) for n in range(100)]
    return _calm(seed, L4, _busy(draw, DIFFUSION), steps(*marks), command="python main.py --listen --port 8188")


def checkpoint_needs_a_copy(seed: int) -> Scene:
    """Rank 0 of two gathers the weights for each checkpoint: 12 GiB more for 25 s, each 6 min."""
    draw = Draw(seed, "k3mem17")
    work = train(draw.work(LLM), step_s=4)
    flat, gathers = level(52000), spikes(level(52000), mib=12000, every_s=360, for_s=25)
    writes = lambda t_s: DISK if t_s % 360 >= 335 else work(t_s)
    does = lambda rank: writes if rank == 0 else work
    actors = ranks(range(2), does, None, lambda rank: flat if rank else gathers)
    return scene(seed, [H100] * 2, actors, 2400, allows="hang~")
