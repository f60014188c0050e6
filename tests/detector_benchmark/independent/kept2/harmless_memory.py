"""Harmless: memory that grows, swings or jumps, and does not leak."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, LLM, LORA, PREFILL, QUERY
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A100_MIG,
    A6000,
    GTX_1080_TI,
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
from detector_benchmark.independent.disturbances import lost_memory, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import Curve, Part, level, records, sawtooth, steps, warmed
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import saturating, serves, spikes, train
from detector_benchmark.independent.world import World


def _seen(
    seed: int,
    board: Board,
    does: Part,
    memory: Curve,
    *,
    until_s: float = 2400,
    command: str = "python train.py",
    allows: str = "",
    age_s: float = 1.0,
) -> Scene:
    main = program("main", command, 0, does, memory, age_s=age_s, terminal=0)
    world = World([board], [main], seed=seed, interval_s=2.0)
    return Scene(world=world, until_s=until_s, allows=allow(allows))


def varying_batches_in_a_caching_allocator(seed: int) -> Scene:
    """Batches of varying length: the allocator keeps the largest, so growth becomes rarer and rarer."""
    draw = Draw(seed, "mem1")
    memory = records(warmed(500, 9000), mib=draw.between(900, 2000), each_s=draw.between(2, 8), seed=draw.seed())
    return _seen(seed, A100, train(draw.work(LLM), step_s=1, is_alone=True), memory, until_s=3600)


def pool_that_fragments_and_saturates(seed: int) -> Scene:
    """An allocator fragments: 20-MiB segments, many at first, then ever fewer, up to 2 GiB."""
    draw = Draw(seed, "mem2")
    memory = saturating(level(7000), mib=draw.between(1200, 2400), tau_s=draw.between(150, 260))
    return _seen(seed, RTX_3090, draw.work(CNN), memory)


def curriculum_in_five_stages(seed: int) -> Scene:
    """The sequence length doubles in five stages, each with 2 to 4 GiB more. Then it stays."""
    draw = Draw(seed, "mem3")
    at = [0.0, *(draw.between(200, 330) * n for n in range(1, 5))]
    memory = steps(*[(at_s, 9000.0 + 3000 * n) for n, at_s in enumerate(sorted(at))])
    return _seen(seed, A100_40, draw.work(LORA), memory)


def garbage_is_collected_every_few_minutes(seed: int) -> Scene:
    """Memory rises by 3 GiB for four minutes, and then the garbage collector gives all of it back, again and again."""
    draw = Draw(seed, "mem4")
    memory = sawtooth(level(6100), mib=draw.between(2000, 4000), period_s=draw.between(180, 300))
    return _seen(seed, L40S, draw.work(FP32), memory, until_s=3000)


def replay_buffer_fills_and_stops(seed: int) -> Scene:
    """A replay buffer on the board fills for 20 min to its fixed size of 8 GiB; nothing outside shows its end."""
    draw = Draw(seed, "mem5")
    full_s, mib = draw.between(1000, 1400), draw.between(6000, 9000)
    memory: Curve = lambda t_s: 3000 + mib * min(1.0, t_s / full_s) // 4 * 4
    return _seen(seed, RTX_4090, draw.work(CNN), memory, until_s=3000, command="python sac.py", allows="leak filling~")


def key_value_cache_of_long_requests(seed: int) -> Scene:
    """A server grows its cache with each conversation of one to two minutes and frees it at its end."""
    draw = Draw(seed, "mem6")
    memory = sawtooth(level(17000), mib=draw.between(400, 900), period_s=draw.between(60, 130))
    return _seen(seed, L4, draw.work(DECODE), memory, command="llama-server --port 8080 -m m.gguf")


def load_follows_the_hour(seed: int) -> Scene:
    """A server takes memory for its clients: a wave of some GiB with a period of 8 min, without a trend."""
    draw = Draw(seed, "mem7")
    period_s, mib = draw.between(400, 700), draw.between(1500, 3500)
    memory: Curve = lambda t_s: 5000 + mib * abs((t_s % period_s) / period_s * 2 - 1) // 32 * 32
    command = "python3 -m sglang.launch_server --port 30000"
    return _seen(seed, T4, draw.work(PREFILL), memory, until_s=3600, command=command)


def validation_needs_more_memory(seed: int) -> Scene:
    """Each validation, every 6 min for 45 s, needs 8 GiB more, and the peaks are not equal; the floor is flat."""
    draw = Draw(seed, "mem8")
    every_s = draw.between(300, 420)
    low = spikes(level(15000), mib=draw.between(5000, 9000), every_s=every_s, for_s=45)
    memory: Curve = lambda t_s: low(t_s) + (t_s // every_s * 37 % 90 if low(t_s) > 15000 else 0)
    return _seen(seed, A6000, draw.work(CNN), memory, until_s=3000)


def preallocation_of_three_quarters(seed: int) -> Scene:
    """JAX takes 75 % of the board in its first second, and never more."""
    draw = Draw(seed, "mem9")
    memory = steps((0, 500), (20, 0.75 * H100.memory_mib // 2 * 2))
    return _seen(seed, H100, draw.work(LLM).but(nv=0), memory, until_s=1500)


def one_long_request_on_a_full_server(seed: int) -> Scene:
    """A server at 80 % of its board takes one very long request: 9 GiB more within a minute, freed at its end."""
    draw = Draw(seed, "mem10")
    at_s = draw.between(500, 900)
    memory = steps(
        (0, 112_000),
        *[(at_s + 5 * n, 112_000.0 + 900 * n) for n in range(11)],
        (at_s + draw.between(150, 300), 112_000),
    )
    return _seen(seed, H200, draw.work(PREFILL), memory, command="text-generation-launcher --port 80", age_s=9000)


def pictures_of_growing_size(seed: int) -> Scene:
    """A picture generator is used by hand: each new size needs more, up to the largest that its user wants."""
    draw = Draw(seed, "mem11")
    does = serves(draw, draw.work(DIFFUSION), each_s=30, for_s=25)
    memory = records(level(4100), mib=draw.between(500, 1100), each_s=draw.between(60, 90), seed=draw.seed())
    return _seen(seed, GTX_1080_TI, does, memory, command="python webui.py --listen --port 7860")


def tables_are_loaded_and_dropped(seed: int) -> Scene:
    """A query engine loads tables of 2 to 12 GiB and drops them, at random; it never holds more than before."""
    draw = Draw(seed, "mem12")
    levels, at_s = [(0.0, 3000.0)], 0.0
    while at_s < 3000:
        at_s += draw.about(90)
        levels.append((at_s, draw.between(2500, 14000) // 2 * 2))
    return _seen(seed, A100, draw.work(QUERY), steps(*levels), until_s=3000, command="python dask_worker.py")


def memory_read_as_zero_now_and_then(seed: int) -> Scene:
    """A flat training; in 1 % of the samples the memory of the process is zero, in 2 % it cannot be read."""
    draw = Draw(seed, "mem13")
    scene = _seen(seed, V100, draw.work(FP32), level(12000))
    bad = [zero_memory(draw.seed(), 0.01), lost_memory(draw.seed(), 0.02)]
    return Scene(world=scene.world, until_s=scene.until_s, disturbances=bad)


def slice_with_a_growing_pool(seed: int) -> Scene:
    """In a MIG slice the pool of a training grows for five minutes, ever slower, to 14 of 19 GiB."""
    draw = Draw(seed, "mem14")
    memory = saturating(level(6000), mib=draw.between(5000, 8000), tau_s=draw.between(50, 90))
    main = program("main", "python train.py", 0, draw.work(LORA), memory, instance=2, age_s=1.0)
    return Scene(world=World([A100_MIG], [main], seed=seed), until_s=2000)


def adapters_are_loaded_on_demand(seed: int) -> Scene:
    """A server loads twelve adapters of 300 MiB when each is first asked for, within its first half hour."""
    draw = Draw(seed, "mem15")
    times = sorted(draw.about(400, 2.0) for _ in range(12))
    memory: Curve = lambda t_s: 21000 + 300 * sum(at_s <= t_s for at_s in times)
    return _seen(seed, A6000, draw.work(DECODE), memory, until_s=3600, command="lorax-launcher --port 8080")


def neighbours_take_and_give(seed: int) -> Scene:
    """Two programs on one board: one is flat, the other swings by 6 GiB every two minutes; both are well."""
    draw = Draw(seed, "mem16")
    one = program("one", "python a.py", 0, draw.work(CNN), level(20000))
    swing = sawtooth(level(9000), mib=6000, period_s=draw.between(100, 160), fill=0.3)
    two = program("two", "python b.py", 0, draw.work(FP32), swing, user="bob")
    return Scene(world=World([A100_40], [one, two], seed=seed), until_s=1800)
