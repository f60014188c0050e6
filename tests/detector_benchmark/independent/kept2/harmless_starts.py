"""Harmless: starts, warm-ups, compilation, loading, and ends of programs."""

from detector_benchmark.independent.activity import CNN, COPY, DECODE, DISK, HOST, IDLE, LLM, LORA, MANY, PREFILL
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    B200,
    H100,
    H200,
    L40S,
    PRO_6000,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Curve, Part, cycle, level, phases, started, steps, warmed
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import loads, since, train, wait_on
from detector_benchmark.independent.world import World

_VLLM = "python3 -m vllm.entrypoints.openai.api_server --model big --port 8000"


def _young(seed: int, board: Board, command: str, does: Part, memory: Curve, until_s: float = 1300) -> Scene:
    main = program("main", command, 0, does, memory, age_s=1.0, terminal=0)
    return Scene(world=World([board], [main], seed=seed), until_s=until_s)


def weights_arrive_from_a_slow_disk(seed: int) -> Scene:
    """A model of 60 GB comes from a network disk in a quarter of an hour, at some 70 MB/s, then serves requests."""
    draw = Draw(seed, "start1")
    load_s = draw.between(700, 1000)
    slow = cycle((4, DISK), (1, COPY.but(rx=350)))
    does = started(draw.work(DECODE), load_s, loading=slow)
    memory: Curve = lambda t_s: 600 + 60000 * min(1.0, max(0, t_s - 12) / load_s) // 16 * 16
    return _young(seed, H100, _VLLM, does, memory, load_s + 700)


def graphs_are_captured_in_a_server(seed: int) -> Scene:
    """A server loads its model, takes 90 % of the board at once, and captures graphs in small steps of memory."""
    draw = Draw(seed, "start2")
    does = loads(draw, phases(HOST, (35, draw.work(DECODE))))
    memory: Curve = lambda t_s: 900 if t_s < 50 else 40200 + min(1400.0, max(0.0, t_s - 70) * 20 // 30 * 30)
    return _young(seed, L40S, _VLLM, does, memory)


def compilation_for_six_minutes(seed: int) -> Scene:
    """A compiler works on all cores for six minutes before the first step; the GPU tries a kernel now and then."""
    draw = Draw(seed, "start3")
    tries = cycle((9, MANY), (1, draw.work(CNN).at(0.3)))
    does = phases(HOST, (15, tries), (draw.between(300, 400), train(draw.work(LLM), step_s=1, is_alone=True)))
    scene = _young(seed, A100, "python train.py --compile max-autotune", does, warmed(700, 33000, over_s=420))
    return Scene(world=scene.world, until_s=scene.until_s, allows=allow("spin~ launch~"))


def warm_up_with_a_growing_pool(seed: int) -> Scene:
    """In its first two minutes a training's pool grows to 70 % of the board, by large steps, then stays."""
    draw = Draw(seed, "start4")
    memory = steps(*[(10.0 * n, min(17000.0, 500 * 1.45**n) // 2 * 2) for n in range(12)])
    return _young(seed, RTX_4090, "python train.py", train(draw.work(LORA), step_s=0.8, is_alone=True), memory)


def eight_ranks_load_one_after_another(seed: int) -> Scene:
    """Rank 0 loads the weights for 2 min and hands them on: seven ranks wait in the first broadcast until then."""
    draw = Draw(seed, "start5")
    at_s, work = draw.between(110, 170), train(draw.work(LLM), step_s=4)
    does = lambda rank: phases(IDLE.but(cpu=96, state="R"), (20, DISK if rank == 0 else wait_on(A100)), (at_s, work))
    actors = ranks(range(8), does, warmed(800, 61000, at_s=at_s), age_s=1.0)
    return Scene(world=World([A100] * 8, actors, seed=seed), until_s=1000, allows=allow("hang~"))


def first_epoch_caches_a_data_set(seed: int) -> Scene:
    """A training caches its data set on the board in the first epoch of 8 min: 9 GiB, then never more."""
    draw = Draw(seed, "start6")
    epoch_s, mib = draw.between(400, 560), draw.between(7000, 9500)
    base = warmed(520, 6000)
    memory: Curve = lambda t_s: base(t_s) + mib * min(1.0, t_s / epoch_s) // 20 * 20
    scene = _young(seed, A100_40, "python train.py --cache", draw.work(CNN), memory, 2400)
    return Scene(world=scene.world, until_s=scene.until_s, allows=allow("leak"))


def first_requests_warm_a_server_up(seed: int) -> Scene:
    """The first requests of new shapes make a server allocate for ten minutes, ever less; it plateaus."""
    draw = Draw(seed, "start7")
    mib, tau_s = draw.between(3000, 6000), draw.between(60, 110)
    memory: Curve = lambda t_s: 5000 + mib * (1 - 2.718 ** (-t_s / tau_s)) // 20 * 20
    return _young(seed, T4, "tritonserver --model-repository /m --http-port 8000", draw.work(PREFILL), memory, 2000)


def job_writes_results_and_ends(seed: int) -> Scene:
    """After its last step a job of four ranks writes results for 50 s and tears down for 40 s, then is gone."""
    draw = Draw(seed, "start8")
    at_s = draw.between(400, 800)
    work = train(draw.work(CNN), step_s=0.6)
    does = lambda rank: phases(work, (at_s, HOST if rank == 0 else IDLE), (at_s + 50, DISK))
    actors = ranks(range(4), does, level(11000), launcher="mpirun", until_s=at_s + 90)
    return Scene(world=World([V100] * 4, actors, seed=seed), until_s=at_s + 400)


def restart_from_a_checkpoint(seed: int) -> Scene:
    """A job fails, its ranks end, and an elastic launcher starts it again after a pause: new processes, same work."""
    draw = Draw(seed, "start9")
    at_s = draw.between(300, 500)
    steps_of = train(draw.work(LLM), step_s=3)
    first = ranks(range(8), lambda rank: steps_of, level(120_000), name="a", until_s=at_s)
    starts = since(at_s + 40, loads(draw, steps_of))
    again = ranks(range(8), lambda rank: starts, level(118_000), name="b", from_s=at_s + 40)
    return Scene(world=World([H200] * 8, [*first, *again], seed=seed), until_s=at_s + 800)


def model_is_quantized_layer_by_layer(seed: int) -> Scene:
    """A model is quantized: each layer is loaded, worked on for 20 s and written back; memory swings by 2 GiB."""
    draw = Draw(seed, "start10")
    each_s = draw.between(25, 40)
    does = cycle((6, DISK), (3, COPY), (each_s - 12, draw.work(PREFILL)), (3, HOST))
    memory: Curve = lambda t_s: 4200 + (2100 if 6 < t_s % each_s < each_s - 3 else 0)
    return _young(seed, PRO_6000, "python gptq.py", does, memory, 1800)


def containers_start_and_stop(seed: int) -> Scene:
    """A test suite starts a container with a GPU job of two minutes each three minutes, again and again."""
    draw = Draw(seed, "start11")
    actors = [
        program(
            f"test{n}",
            "python -m pytest tests/gpu",
            0,
            since(180.0 * n, loads(draw, draw.work(CNN), slow=0.4)),
            level(draw.between(2000, 7000)),
            from_s=180.0 * n,
            until_s=180.0 * n + draw.between(100, 150),
            cgroup=docker("0123456789abcdef"[n]),
            terminal=0,
        )
        for n in range(10)
    ]
    return Scene(world=World([A6000], actors, seed=seed), until_s=1800)


def benchmark_between_two_sizes(seed: int) -> Scene:
    """A benchmark allocates ever larger buffers, 20 s each, up to half of a B200, frees them, and ends."""
    draw = Draw(seed, "start12")
    memory: Curve = lambda t_s: 700 + min(90_000, 100 * 1.35 ** (t_s // 20)) // 2 * 2 if t_s < 460 else 700.0
    does = phases(draw.work(PREFILL), (460, HOST))
    main = program("main", "./bandwidth_sweep", 0, does, memory, age_s=1.0, until_s=480.0)
    return Scene(world=World([B200], [main], seed=seed), until_s=700, allows=allow("filling~"))
