"""Programs whose memory grows and is never given back; and memory that fills within minutes."""

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    DIFFUSION,
    FP32,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    QUERY,
    TRICKLE,
)
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A30_MIG,
    A100,
    A100_40,
    A6000,
    B200,
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
from detector_benchmark.independent.disturbances import Disturbance, lost_memory, often_gaps, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import Curve, Part, growing, level, phases, sawtooth, warmed
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import (
    everyone,
    poisson_steps,
    saturating,
    saves,
    serves,
    spikes,
    train,
    with_pauses,
)
from detector_benchmark.independent.world import World


def _leaks(
    seed: int,
    board: Board,
    does: Part,
    memory: Curve,
    from_s: float,
    by_s: float,
    *,
    command: str = "python train.py",
    interval_s: float = 2.0,
    disturbances: tuple[Disturbance, ...] = (),
) -> Scene:
    main = program("main", command, 0, does, memory, age_s=0.0, terminal=0)
    return Scene(
        world=World([board], [main], seed=seed, interval_s=interval_s),
        until_s=by_s + 100,
        wants=[want("leak", "main gpu:0", from_s, by_s)],
        allows=allow("filling"),
        disturbances=disturbances,
    )


def losses_are_kept_with_their_graphs(seed: int) -> Scene:
    """A training keeps the loss of each step with its graph: 40 to 90 MiB a minute in segments of 20 MiB."""
    draw = Draw(seed, "leak1")
    base = warmed(520, draw.mib(A100, 0.3, 0.5))
    memory = growing(base, mib_per_min=draw.between(40, 90), from_s=60, chunk_mib=20)
    work = train(draw.work(CNN), step_s=0.4, is_alone=True)
    return _leaks(seed, A100, work, memory, 60, 2200)


def slow_leak_of_a_day(seed: int) -> Scene:
    """A training loses 6 to 12 MiB a minute, so that it ends after a day; one hour and more is seen of it."""
    draw = Draw(seed, "leak2")
    memory = growing(warmed(480, 14000), mib_per_min=draw.between(6, 12), from_s=80)
    work = with_pauses(train(draw.work(FP32), step_s=2, is_alone=True), IDLE.but(cpu=70), every_s=600, for_s=20)
    return _leaks(seed, RTX_3090, work, memory, 80, 5200, interval_s=5.0)


def cache_of_a_server_without_a_limit(seed: int) -> Scene:
    """A server keeps an image of each request for ever: growth in bursts of requests, none between them."""
    draw = Draw(seed, "leak3")
    busy = serves(draw, draw.work(DIFFUSION), each_s=40, for_s=25)
    grown: list[float] = [0.0]
    rate = draw.between(0.6, 1.2)
    for second in range(6000):
        grown.append(grown[-1] + (rate if busy(float(second)).util > 0 else 0.0))
    base = warmed(450, 9300)
    memory: Curve = lambda t_s: base(t_s) + grown[min(6000, int(max(0, t_s)))] // 2 * 2
    command = "uvicorn app:main --port 8080"
    return _leaks(seed, RTX_4090, busy, memory, 60, 3600, command=command)


def leak_in_steps_of_each_epoch(seed: int) -> Scene:
    """Each epoch of about 3 min leaves another 100 MB behind: the old data set stays on the board."""
    draw = Draw(seed, "leak4")
    base, epoch_s, mib = warmed(500, 5200), draw.between(150, 220), draw.between(90, 130)
    memory: Curve = lambda t_s: base(t_s) + max(0.0, t_s // epoch_s) * mib // 2 * 2
    work = with_pauses(train(draw.work(CNN), step_s=0.3, is_alone=True), IDLE.but(cpu=60), every_s=epoch_s, for_s=8)
    return _leaks(seed, GTX_1080_TI, work, memory, epoch_s, epoch_s * 16, command="python epochs.py")


def fast_leak_of_an_accumulating_list(seed: int) -> Scene:
    """A script appends each batch to a list on the board: 2 to 4 GiB a minute until it is full, after loading."""
    draw = Draw(seed, "leak5")
    from_s, rate = 120.0, draw.between(2000, 4000)
    memory = growing(warmed(500, 12000), mib_per_min=rate, from_s=from_s, chunk_mib=64)
    by_s = from_s + min(1100.0, 60 * (H200.memory_mib - 20000) / rate)
    return _leaks(seed, H200, draw.work(PREFILL), memory, from_s, by_s, command="python embed.py", interval_s=1.0)


def doubling_pool_over_leaking_data(seed: int) -> Scene:
    """A pool doubles each time that leaking data have filled it: steps from 0.5 to 32 GiB, each twice as late."""
    draw = Draw(seed, "leak6")
    rate = draw.between(9, 12)  # MiB a second

    def memory(t_s: float) -> float:
        data, pool = max(0.0, t_s - 40) * rate, 512.0
        while pool < data:
            pool *= 2
        return 900 + pool

    return _leaks(seed, A100, draw.work(QUERY), memory, 60, 3000, command="python stream_join.py")


def sawtooth_with_a_rising_floor(seed: int) -> Scene:
    """Batches of varying length fill and free memory every 90 s; the floor below them rises by 35 MiB a minute."""
    draw = Draw(seed, "leak7")
    floor = growing(level(11000), mib_per_min=draw.between(30, 45), from_s=100)
    memory = sawtooth(floor, mib=draw.between(1500, 4000), period_s=draw.between(60, 120))
    return _leaks(seed, A6000, draw.work(LLM).but(nv=0), memory, 100, 3200)


def leak_on_every_rank(seed: int) -> Scene:
    """All eight ranks of a job keep their gradients' hooks: each grows by 50 MiB a minute beside its checkpoints."""
    draw = Draw(seed, "leak8")
    curves = [
        growing(warmed(560, 39000 + 300 * n), mib_per_min=draw.between(45, 60), from_s=70, chunk_mib=20)
        for n in range(8)
    ]
    work = saves(train(draw.work(LLM), step_s=4), every_s=600, for_s=20)
    actors = ranks(range(8), work, memory_of=lambda rank: curves[rank], age_s=0.0)
    return Scene(
        world=World([H100] * 8, actors, seed=seed, interval_s=2.0),
        until_s=2500,
        wants=[want("leak", everyone(8), 70, 2300)],
        allows=allow("filling"),
    )


def leak_that_begins_after_an_hour(seed: int) -> Scene:
    """A server of embeddings is flat for half an hour; then a client with new inputs makes it leak 60 MiB a minute."""
    draw = Draw(seed, "leak9")
    from_s = draw.between(1500, 2100)
    memory = growing(level(3900), mib_per_min=draw.between(50, 80), from_s=from_s)
    does = serves(draw, TRICKLE.but(util=22, share=0.1), each_s=8, for_s=5)
    command = "text-embeddings-router --port 8080"
    return _leaks(seed, L4, does, memory, from_s, from_s + 2000, command=command)


def random_steps_in_a_container(seed: int) -> Scene:
    """Compiled graphs of ever new shapes are kept: about 40 MiB every 50 s at random times, in a container."""
    draw = Draw(seed, "leak10")
    memory = poisson_steps(warmed(500, 21000), draw, mib=40, each_s=50, from_s=90, to_s=3600)
    main = program("main", "python serve_jit.py", 0, draw.work(LORA), memory, age_s=0.0, cgroup=docker("f"))
    return Scene(
        world=World([A100_40], [main], seed=seed, interval_s=2.0),
        until_s=3400,
        wants=[want("leak", "main gpu:0", 90, 3200)],
        allows=allow("filling"),
    )


def leak_read_with_zeros_and_gaps(seed: int) -> Scene:
    """A leak of 70 MiB a minute on a V100; single samples have no memory or zero, some seconds are lost."""
    draw = Draw(seed, "leak11")
    memory = growing(warmed(400, 4100), mib_per_min=draw.between(60, 90), from_s=60)
    bad = (
        zero_memory(draw.seed(), 0.01),
        lost_memory(draw.seed(), 0.02),
        often_gaps(draw.seed(), each_s=120, from_s=4, to_s=20),
    )
    return _leaks(seed, V100, draw.work(FP32), memory, 60, 2400, disturbances=bad)


def leak_in_a_slice(seed: int) -> Scene:
    """A notebook's cell in a slice of an A30 keeps its outputs in a loop: 60 MiB a minute; MIG shows memory alone."""
    draw = Draw(seed, "leak12")
    memory = growing(warmed(380, 2900), mib_per_min=draw.between(50, 70), from_s=60)
    main = program("main", "python loop.py", 0, draw.work(CNN), memory, instance=3, age_s=0.0)
    return Scene(
        world=World([A30_MIG], [main], seed=seed, interval_s=2.0),
        until_s=2600,
        wants=[want("leak", "main gpu:0", 60, 2400)],
        allows=allow("filling"),
    )


def leak_beside_a_plateau(seed: int) -> Scene:
    """An allocator's pool grows to its plateau, and below it the data leak 30 MiB a minute on a B200."""
    draw = Draw(seed, "leak13")
    pool = saturating(level(9000), mib=draw.between(4000, 9000), tau_s=draw.between(90, 160))
    memory = growing(pool, mib_per_min=draw.between(28, 45), from_s=60)
    return _leaks(seed, B200, draw.work(LLM).but(nv=0), memory, 60, 4200)


def leak_under_validation_peaks(seed: int) -> Scene:
    """Each validation needs 6 GiB more for 40 s; below these peaks a list of predictions grows for ever."""
    draw = Draw(seed, "leak14")
    low = growing(warmed(500, 15000), mib_per_min=draw.between(40, 70), from_s=60)
    memory = spikes(low, mib=6000, every_s=draw.between(240, 400), for_s=40)
    return _leaks(seed, L40S, draw.work(CNN), memory, 60, 3000)


def desktop_program_leaks_textures(seed: int) -> Scene:
    """A viewer of a workstation leaks textures: 45 MiB a minute of graphics memory, beside an idle desktop."""
    draw = Draw(seed, "leak15")
    memory = growing(level(1400), mib_per_min=draw.between(40, 60), from_s=30)
    work = IDLE.but(util=28, share=0.2, sm=20, mc=12, dram=10, cpu=35)
    main = program("viewer", "/opt/viewer/bin/viewer model.step", 0, work, memory, type="G", age_s=0.0)
    return Scene(
        world=World([RTX_3090], [main, *desktop()], seed=seed, interval_s=2.0),
        until_s=3000,
        wants=[want("leak", "viewer gpu:0", 30, 2800)],
        allows=allow("filling"),
    )


# --- memory that fills within minutes -------------------------------------------------------------------------------
def _fills(seed: int, name: str, board: Board, does: Part, low: float, minutes: tuple[float, float]) -> Scene:
    """Return a program that has worked for long, then fills its board in some minutes."""
    draw = Draw(seed, name)
    from_s, needs_s = draw.between(400, 800), 60 * draw.between(*minutes)
    room = board.memory_mib - board.reserved_mib - 250 - low
    rate = room / (needs_s / 60)
    memory = growing(level(low), mib_per_min=rate, from_s=from_s, chunk_mib=16, until_s=from_s + needs_s)
    main = program("main", "python run.py", 0, phases(does), memory)
    return Scene(
        world=World([board], [main], seed=seed),
        until_s=from_s + needs_s,
        wants=[want("filling leak", "main gpu:0", from_s, from_s + 0.9 * needs_s)],
        allows=allow("filling leak"),
    )


def requests_pile_up_on_a_t4(seed: int) -> Scene:
    """A worker takes requests faster than it ends them: its T4 fills up in a quarter of an hour, and then it dies."""
    return _fills(seed, "fill1", T4, PREFILL, 5200, (12, 18))


def batch_size_search_without_an_end(seed: int) -> Scene:
    """A script keeps all outputs of an inference over a data set: an A100 fills within 10 min."""
    return _fills(seed, "fill2", A100, PREFILL, 17000, (8, 12))


def conversation_that_grows_until_it_fails(seed: int) -> Scene:
    """A chat script without a limit keeps the cache of every turn: an RTX 3090 is full in 20 min."""
    return _fills(seed, "fill3", RTX_3090, DECODE, 9500, (16, 22))


def frames_are_never_freed(seed: int) -> Scene:
    """A video pipeline never frees its frames after an update: an L40S is full in 12 min."""
    return _fills(seed, "fill4", L40S, CNN, 6100, (10, 14))
