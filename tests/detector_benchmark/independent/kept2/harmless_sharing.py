"""Harmless: boards with several jobs, MIG slices, containers, and more ranks than boards."""

from detector_benchmark.independent.activity import CNN, DATA, DECODE, FP32, FP64, IDLE, LLM, LORA, MOLECULES, TRICKLE
from detector_benchmark.independent.actors import Actor, Use, docker
from detector_benchmark.independent.boards import (
    A30_MIG,
    A100,
    A100_40,
    A100_MIG,
    A6000,
    B200_MIG,
    H100,
    H100_MIG,
    L4,
    RTX_3090,
    T4,
    TITAN_X,
    V100,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, program, ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, level, phases, sometimes
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import ASLEEP, serves, train
from detector_benchmark.independent.world import World


def two_trainings_share_a_board(seed: int) -> Scene:
    """Two trainings share an RTX 3090; each gets half of its time, and neither is starved of data."""
    draw = Draw(seed, "share1")
    actors = [
        program(f"p{n}", f"python train.py {n}", 0, draw.work(FP32), level(9000), user=user, terminal=0)
        for n, user in enumerate(("ann", "bob"))
    ]
    return Scene(world=World([RTX_3090], with_loaders(actors, 2), seed=seed), until_s=1300)


def training_beside_a_server(seed: int) -> Scene:
    """A training and a small server share an A100: requests slow the training down for seconds."""
    draw = Draw(seed, "share2")
    one = program("train", "python train.py", 0, train(draw.work(LORA), step_s=2, is_alone=True), level(40000))
    bursts = serves(draw, draw.work(DECODE), each_s=40, for_s=10)
    two = program("serve", "ollama serve", 0, bursts, level(18000), user="bob", terminal=0)
    return Scene(world=World([A100], [one, two], seed=seed), until_s=1500)


def sixty_four_ranks_on_eight_boards(seed: int) -> Scene:
    """64 MPI ranks of a molecular simulation share eight A100, eight on each: little of each, all busy on the CPU."""
    draw = Draw(seed, "share3")
    work = draw.work(MOLECULES).but(util=11, share=0.055, mc=1.4, sm=8, dram=1.1, cpu=99, thread=99)
    actors = ranks(
        [n // 8 for n in range(64)], lambda rank: work, level(900), launcher="mpirun", command="gmx_mpi mdrun"
    )
    world = World([A100] * 8, actors, seed=seed, interval_s=5.0)
    return Scene(world=world, until_s=1500, allows=allow("launch~"))


def three_slices_with_three_jobs(seed: int) -> Scene:
    """Three slices of an A100 without any utilization: a training, a server, a notebook at work."""
    draw = Draw(seed, "share4")
    actors = [
        program("a", "python train.py", 0, draw.work(CNN), level(22000), instance=1),
        program("b", "tritonserver", 0, serves(draw, draw.work(DECODE), each_s=20, for_s=9), level(9000), instance=2),
        program("c", "jupyter-lab", 0, sometimes(ASLEEP, each_s=60, part=draw.work(FP32), for_s=20, seed=draw.seed()),
                level(4000), instance=3),
    ]  # fmt: skip
    return Scene(world=World([A100_MIG], actors, seed=seed), until_s=1700)


def busy_slices_of_an_h100(seed: int) -> Scene:
    """Two slices of an H100 with metrics of their own: a small network, and a large one at its best."""
    draw = Draw(seed, "share5")
    one = program("a", "python train.py", 0, draw.work(LORA).but(util=49, share=0.4), level(25000), instance=1)
    two = program("b", "python train.py", 0, draw.work(LLM).but(nv=0, util=49, share=0.5), level(36000), instance=2)
    return Scene(world=World([H100_MIG], [one, two], seed=seed), until_s=1300)


def an_empty_slice_and_a_full_one(seed: int) -> Scene:
    """A B200 with three slices of which one works; the driver says little of it."""
    draw = Draw(seed, "share6")
    main = program("a", "python embed.py", 0, draw.work(CNN).but(nv=0), level(51000), instance=1, cgroup=docker("7"))
    return Scene(world=World([B200_MIG], [main], seed=seed, is_in_container=True), until_s=1200)


def container_sees_its_own_processes_alone(seed: int) -> Scene:
    """Inside a container only one of two jobs of a board is visible: the other's memory belongs to a neighbour."""
    draw = Draw(seed, "share7")
    one = program("mine", "python train.py", 0, draw.work(CNN), level(11000), cgroup=docker("5"))
    hidden = Use(0, phases(draw.work(FP32)), level(17000), is_listed=False)
    other = Actor(name="other", command="python x.py", uses=(hidden,), user="bob")
    world = World([A100_40], [one, other], seed=seed, is_in_container=True)
    return Scene(world=world, until_s=1300)


def context_on_a_board_that_is_not_used(seed: int) -> Scene:
    """Each of three ranks has a small context of 300 MiB on board 0, by mistake of its program: no harm to see."""
    draw = Draw(seed, "share8")
    work = train(draw.work(CNN), step_s=0.4)
    actors = ranks(range(3), lambda rank: work, level(8100))
    stray = Use(0, phases(IDLE), level(310))
    for name, gpu in (("rank1", 1), ("rank2", 2)):
        actors = but(actors, name, uses=(Use(gpu, work, level(8100)), stray))
    return Scene(world=World([V100] * 3, actors, seed=seed), until_s=1200)


def farm_of_small_searches(seed: int) -> Scene:
    """Ten searches of a student share a T4: each gets a tenth, in slices of time, and waits for the others."""
    draw = Draw(seed, "share9")
    actors = [
        program(f"p{n}", f"python search.py {n}", 0, draw.work(FP32).but(util=60, share=0.4), level(1100), terminal=0)
        for n in range(10)
    ]
    return Scene(world=World([T4], actors, seed=seed), until_s=1200)


def video_analysis_with_decoders(seed: int) -> Scene:
    """Four streams are decoded on an L4: much decoder, 38 % of kernels, and a steady CPU load. That is its design."""
    draw = Draw(seed, "share10")
    work = DATA.but(util=9, mc=5, share=0.05, decoder=17, cpu=55, rx=200, tx=140)
    actors = [program(f"cam{n}", f"deepstream-app -c cam{n}.txt", 0, work, level(1500), terminal=0) for n in range(4)]
    return Scene(world=World([L4], actors, seed=seed), until_s=draw.between(1100, 1300))


def jobs_of_a_queue_one_after_another(seed: int) -> Scene:
    """A queue starts a job of three to six minutes when the one before has ended, on a board without utilization."""
    draw = Draw(seed, "share11")
    at_s, actors = 0.0, []
    for n in range(6):
        end_s = at_s + draw.between(180, 360)
        actors.append(
            program(f"job{n}", f"python job.py {n}", 0, draw.work(CNN), level(6000), from_s=at_s, until_s=end_s)
        )
        at_s = end_s + draw.between(3, 20)
    return Scene(world=World([TITAN_X], actors, seed=seed), until_s=at_s)


def process_without_any_use(seed: int) -> Scene:
    """A monitor keeps a context of 250 MiB on each board and asks for values once a second; a training works."""
    draw = Draw(seed, "share12")
    monitor = [
        program(f"mon{n}", "/usr/bin/dcgm-exporter", n, IDLE.but(cpu=2), level(250), user="root", terminal=0)
        for n in range(2)
    ]
    main = program("main", "python train.py", 1, draw.work(CNN), level(22000))
    return Scene(world=World([A6000] * 2, [*monitor, main], seed=seed), until_s=1500, allows=allow("idle~"))


def agent_with_little_work_by_design(seed: int) -> Scene:
    """A robot's policy runs at 20 Hz, in time, on a slice of an A30: 4 % of the slice, and that is all it needs."""
    draw = Draw(seed, "share13")
    main = program("policy", "ros2 run policy node", 0, draw.work(TRICKLE), level(900), instance=5, terminal=0)
    return Scene(world=World([A30_MIG], [main], seed=seed), until_s=1400)


def solver_with_a_cpu_half(seed: int) -> Scene:
    """A solver of quantum chemistry does half of its work on 32 cores and half on the GPU, in turns of 5 s."""
    draw = Draw(seed, "share14")
    half = IDLE.but(cpu=3100, thread=99, state="R")
    does = cycle((draw.between(4, 7), draw.work(FP64)), (draw.between(4, 7), half))
    main = program("orca", "./vasp_gpu", 0, does, level(21000), terminal=0)
    return Scene(world=World([H100], [main], seed=seed), until_s=1400, allows=allow("input~ launch~"))
