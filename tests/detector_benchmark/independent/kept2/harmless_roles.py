"""Harmless: jobs whose processes differ by design, and work that is light, bound by memory, or in bursts."""

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    FP32,
    FP64,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    PREFILL,
    QUERY,
    STENCIL,
    mix,
)
from detector_benchmark.independent.actors import slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    GB200,
    H100,
    H100_PCIE,
    H200,
    L40S,
    RTX_4090,
    T4,
    V100,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import EXCHANGE, serves, train, wait_on
from detector_benchmark.independent.world import World


def stages_with_different_loads(seed: int) -> Scene:
    """The stages of a pipeline differ by design: embedding and loss work more than the layers between them."""
    draw = Draw(seed, "role1")
    work, shares = draw.work(LLM), [draw.between(0.72, 0.98) for _ in range(8)]
    does = lambda rank: phases(mix((shares[rank], work), (1 - shares[rank], COLLECTIVE)))
    actors = ranks(range(8), does, memory_of=lambda rank: level(74000 - 4000 * rank))
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=1400, allows=allow("straggler~"))


def parameter_server_on_its_own_board(seed: int) -> Scene:
    """Three workers train at 95 %; the parameter server has a board with 12 % and much traffic, by design."""
    draw = Draw(seed, "role2")
    server = IDLE.but(
        util=12, share=0.07, mc=8, sm=6, dram=7, rx=2600, tx=2600, cpu=140, thread=90, state="R", noise=0.1
    )
    work = draw.work(CNN).but(util=95)
    actors = ranks(range(4), lambda rank: phases(work if rank else server), level(9000), launcher="spawn")
    return Scene(world=World([V100] * 4, actors, seed=seed), until_s=1300, allows=allow("straggler~"))


def rank_0_logs_and_gathers(seed: int) -> Scene:
    """Rank 0 gathers metrics for 3 s in every minute and holds 5 GiB more; seven ranks poll for these seconds."""
    draw = Draw(seed, "role3")
    work = train(draw.work(LLM), step_s=2)
    does = lambda rank: cycle((57, work), (3, HOST if rank == 0 else COLLECTIVE))
    actors = ranks(range(8), does, memory_of=lambda rank: level(58000 if rank == 0 else 53000))
    return Scene(world=World([A100] * 8, actors, seed=seed), until_s=1300)


def experts_with_uneven_tokens(seed: int) -> Scene:
    """Experts of a mixture get uneven shares of tokens, which change every 40 s; over time all are equal."""
    draw = Draw(seed, "role4")
    work = draw.work(LLM)
    table = [[draw.between(0.75, 1.0) for _ in range(12)] for _ in range(8)]
    does = lambda rank: cycle(*[(40.0, mix((part, work), (1 - part, COLLECTIVE))) for part in table[rank]])
    actors = ranks(range(8), does, level(160_000))
    return Scene(world=World([GB200] * 8, actors, seed=seed), until_s=1200, allows=allow("straggler~"))


def actors_and_a_learner(seed: int) -> Scene:
    """Three actors play games with small networks at 20 %; one learner trains at 98 %; they never wait in step."""
    draw = Draw(seed, "role5")
    plays = mix((0.2, CNN.but(nv=0)), (0.8, IDLE.but(cpu=700, thread=85, state="R")))
    learns = train(draw.work(FP32), step_s=1, is_alone=True)
    actors = [program(f"p{n}", "ray::Actor.play", n, plays if n else learns, level(6000), terminal=0) for n in range(4)]
    return Scene(world=World([RTX_4090] * 4, actors, seed=seed), until_s=1300, allows=allow("launch~ input~"))


def reward_model_beside_the_policy(seed: int) -> Scene:
    """Policy on six boards, reward model on two that are used for 25 s in each round of two minutes."""
    draw = Draw(seed, "role6")
    trains = cycle((95, draw.work(LLM)), (25, COLLECTIVE))
    scores = cycle((95, IDLE.but(cpu=100, state="R")), (25, draw.work(PREFILL)))
    actors = ranks(range(8), lambda rank: trains if rank < 6 else scores, level(120_000), command="python -m trl.ppo")
    return Scene(world=World([H200] * 8, actors, seed=seed), until_s=1400, allows=allow("straggler~ spin~"))


def communication_is_most_of_the_step(seed: int) -> Scene:
    """A large model over few boards with PCIe: 60 % of each step is exchange, at a quarter of the power."""
    draw = Draw(seed, "role7")
    does = mix((0.4, draw.work(LORA)), (0.6, EXCHANGE.but(nv=16000)))
    actors = ranks(range(4), lambda rank: does, level(36000))
    return Scene(world=World([L40S] * 4, actors, seed=seed), until_s=1300)


def solver_bound_by_memory(seed: int) -> Scene:
    """A stencil at the bandwidth of a B200 draws half of its power; MPI ranks wait 3 % of the time."""
    draw = Draw(seed, "role8")
    work = mix((0.97, draw.work(STENCIL)), (0.03, COLLECTIVE))
    actors = ranks(range(4), lambda rank: work, level(88000), launcher="mpirun", command="./wave3d")
    return Scene(world=World([B200] * 4, actors, seed=seed), until_s=1200)


def search_with_early_stops(seed: int) -> Scene:
    """Eight trials on eight boards are stopped early or not, and new ones start; none waits for another."""
    draw = Draw(seed, "role9")
    actors = []
    for gpu in range(8):
        at_s = 0.0
        for n in range(8):
            end_s = at_s + draw.about(260, 1.8)
            work = train(draw.work(CNN).but(nv=0), step_s=0.5, is_alone=True)
            name = f"g{gpu}t{n}"
            trial = program(name, f"python trial.py {n}", gpu, work, level(11000), from_s=at_s, until_s=end_s)
            actors.append(trial)
            at_s = end_s + draw.between(2, 12)
    return Scene(world=World([A6000] * 8, actors, seed=seed), until_s=1300)


def mixed_precision_levels(seed: int) -> Scene:
    """One job trains in FP8 at the power limit, one in FP32 at 97 %, one in double precision: all do their best."""
    draw = Draw(seed, "role10")
    works = [draw.work(LLM).but(nv=0, tensor=71), draw.work(FP32), draw.work(FP64)]
    actors = [
        program(f"p{n}", f"python job{n}.py", n, work, level(41000), cgroup=slurm(700 + n), terminal=0)
        for n, work in enumerate(works)
    ]
    return Scene(world=World([H100_PCIE] * 3, actors, seed=seed), until_s=1200)


def loaders_that_keep_up(seed: int) -> Scene:
    """Loaders use 45 to 65 % of their cores and a T4 is at 90 %: the pipeline of the data is fast enough."""
    draw = Draw(seed, "role11")
    work = draw.work(CNN).but(util=90, nv=0)
    main = program("python", "python train.py", 0, work, level(9000), terminal=0)
    actors = with_loaders([main], 3, IDLE.but(cpu=draw.between(45, 65), state="R"))
    return Scene(world=World([T4], actors, seed=seed), until_s=1300)


def batch_jobs_with_host_halves(seed: int) -> Scene:
    """A batch job scores documents: 20 s on the GPU, 15 s of post-processing on all cores, for hours, as designed."""
    draw = Draw(seed, "role12")
    does = cycle((20, draw.work(PREFILL)), (draw.between(10, 18), MANY))
    main = program("python", "python score.py", 0, does, level(22000), terminal=0)
    return Scene(world=World([A100], [main], seed=seed), until_s=1300, allows=allow("input~ launch~"))


def queries_in_bursts(seed: int) -> Scene:
    """Four workers of a query engine work in bursts of different length on four boards; none is slow."""
    draw = Draw(seed, "role13")
    actors = [
        program(
            f"w{n}",
            "python -m dask_cuda.worker --scheduler-port 8786",
            n,
            serves(draw, draw.work(QUERY), each_s=draw.between(5, 15), for_s=draw.between(4, 12)),
            level(19000),
            terminal=0,
        )
        for n in range(4)
    ]
    return Scene(world=World([A100] * 4, actors, seed=seed), until_s=1500)


def ring_of_sixteen_with_short_waits(seed: int) -> Scene:
    """Sixteen ranks with steps of 45 s: 38 s of work, 7 s in the exchange, each a little earlier than the next."""
    draw = Draw(seed, "role14")
    work = draw.work(LLM)
    does = lambda rank: cycle((38 - 0.1 * rank, work), (2 + 0.1 * rank, COLLECTIVE), (5, EXCHANGE))
    actors = ranks(range(16), does, level(61000), launcher="srun")
    return Scene(world=World([H100] * 16, actors, seed=seed), until_s=1000)


def generation_by_one_rank(seed: int) -> Scene:
    """Every ten minutes rank 0 writes samples for 70 s with the model, while three ranks wait for it in a barrier."""
    draw = Draw(seed, "role15")
    work = train(draw.work(LORA), step_s=1.5)
    writes = draw.work(DECODE)
    does = lambda rank: cycle((530, work), (70, writes if rank == 0 else wait_on(A6000)))
    actors = ranks(range(4), does, level(31000))
    return Scene(world=World([A6000] * 4, actors, seed=seed), until_s=1500)
