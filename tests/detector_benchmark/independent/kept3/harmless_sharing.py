"""Boards that several share, and processes whose parents are gone for good reasons."""

from detector_benchmark.independent.activity import CNN, DECODE, FP32, IDLE, LLM, LORA, MOLECULES, Activity
from detector_benchmark.independent.actors import Actor, Use, docker, service
from detector_benchmark.independent.boards import A30_MIG, A100, A6000, B200_MIG, H100, L40S, RTX_3090, RTX_4090, T4
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import cycle, level, script
from detector_benchmark.independent.sketches import jammed, mib_of, scene
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train


def two_users_share_in_turn(seed: int) -> Scene:
    """Two users train on one A100; each gets half of the time, and single samples of a process say 0 %."""
    draw = Draw(seed, "k3share1")
    actors = [
        program(f"job{n}", "python train.py", 0, draw.work(LORA).but(nv=0), mib_of(A100, 0.4), user=user)
        for n, user in enumerate(("ann", "bob"))
    ]
    return scene(seed, [A100], actors, 1500)


def job_that_runs_without_its_shell(seed: int) -> Scene:
    """A user started a training with nohup and logged out: its parent is init, and it works."""
    draw = Draw(seed, "k3share2")
    actor = program(
        "job", "python -u train.py --epochs 90", 0, draw.work(CNN).but(nv=0), level(14000), variables={}, terminal=0
    )
    return scene(seed, [RTX_4090], [actor], 1500)


def service_whose_parent_is_init(seed: int) -> Scene:
    """A service of systemd has parent 1 from its start, and serves."""
    draw = Draw(seed, "k3share3")
    does = serves(draw, draw.work(DECODE), each_s=40, for_s=20, rest=jammed(1))
    actor = program(
        "svc", "python api.py --port 8080", 0, does, level(22000), variables={}, terminal=0, cgroup=service("api")
    )
    return scene(seed, [L40S], [actor], 1500, allows="idle~")


def entry_point_of_a_container(seed: int) -> Scene:
    """The first process of a container works on a GPU; no process of the GPU started it."""
    draw = Draw(seed, "k3share4")
    actor = program(
        "main",
        "python train.py",
        0,
        draw.work(LLM).but(nv=0),
        level(60000),
        variables={},
        terminal=0,
        cgroup=docker("6"),
    )
    return scene(seed, [H100], [actor], 1500)


def process_needs_time_to_end(seed: int) -> Scene:
    """A process with 70 GiB is killed; for 15 to 25 s the driver still lists it, while its memory is freed."""
    draw = Draw(seed, "k3share5")
    at_s = draw.between(400, 600)
    ends_s = at_s + draw.between(15, 25)
    actor = program("job", "python train.py", 0, draw.work(LLM).but(nv=0), level(70000), gone_s=at_s, until_s=ends_s)
    return scene(seed, [H100], [actor], ends_s + 400, allows="orphan~")


def short_programs_by_the_dozen(seed: int) -> Scene:
    """Tests start a program of 20 s on a T4 every half a minute."""
    draw = Draw(seed, "k3share6")
    actors = [
        program(
            f"t{n}",
            "pytest -q tests/gpu",
            0,
            draw.work(FP32).at(0.6),
            level(900),
            from_s=30.0 * n,
            until_s=30.0 * n + 20,
            age_s=0.0,
        )
        for n in range(40)
    ]
    return scene(seed, [T4], actors, 1180)


def instances_with_different_load(seed: int) -> Scene:
    """In three MIG instances of an A30 a training, a server and a test work, each as it likes."""
    draw = Draw(seed, "k3share7")
    actors = [
        program("train", "python train.py", 0, draw.work(LORA, level=0.4).but(nv=0), level(9000), instance=3),
        program(
            "serve", "python api.py --port 8080", 0, draw.work(DECODE, level=0.15), level(4000), instance=5, user="bob"
        ),
        program("test", "pytest", 0, draw.work(FP32, level=0.15), level(2500), instance=6, user="eve"),
    ]
    return scene(seed, [A30_MIG], actors, 1500)


def neighbour_with_bursts(seed: int) -> Scene:
    """Beside a simulation a neighbour on the same A6000 has bursts of half a minute: shares and power swing."""
    draw = Draw(seed, "k3share8")
    bursts = cycle((30, draw.work(LORA).but(nv=0)), (60, IDLE.but(cpu=2)))
    actors = [
        program("md", "gmx mdrun -deffnm md", 0, draw.work(MOLECULES), level(1400)),
        program("beside", "python eval.py", 0, bursts, level(18000), user="bob"),
    ]
    return scene(seed, [A6000], actors, 1500)


def many_clients_of_mps(seed: int) -> Scene:
    """Six ranks of a solver share one A100 through MPS; each is at a sixth of the board."""
    draw = Draw(seed, "k3share9")
    server = Actor(name="mps", command="nvidia-cuda-mps-server", uses=(Use(0, script(IDLE), level(30)),), user="root")
    work = draw.work(FP32).but(util=16, share=0.13, mc=9, sm=14, dram=8)
    actors = [
        program(f"c{n}", "./solver -r 6", 0, work, level(2500), type="M", variables={"OMPI_COMM_WORLD_RANK": str(n)})
        for n in range(6)
    ]
    return scene(seed, [A100], [server, *actors], 1500, allows="idle~")


def instances_of_a_large_board(seed: int) -> Scene:
    """Three instances of a B200: a training at full load, a server with bursts, and one that begins to work later."""
    draw = Draw(seed, "k3share10")
    bursts = cycle((40, draw.work(DECODE, level=0.25)), (80, jammed(1)))
    more = {"from_s": 600.0, "age_s": 0.0}
    actors = [
        program("train", "python train.py", 0, draw.work(LLM, level=0.35).but(nv=0), level(60000), instance=1),
        program("serve", "python api.py --port 8000", 0, bursts, level(30000), instance=2, user="bob"),
        program(
            "late",
            "python fit.py",
            0,
            Activity(util=15, share=0.1, sm=14, tensor=8, dram=9, mc=9, cpu=100, state="R"),
            level(9000),
            instance=9,
            **more,
        ),
    ]
    return scene(seed, [B200_MIG], actors, 1500, allows="idle~ launch~")


def small_job_ends_beside_a_large_one(seed: int) -> Scene:
    """Two boards: a job of two ranks ends and its boards are empty, then a program of another user starts on one."""
    draw = Draw(seed, "k3share11")
    at_s = draw.between(400, 700)
    first = ranks(range(2), lambda rank: train(draw.work(CNN), step_s=1), level(15000), until_s=at_s)
    later = program(
        "later", "python infer.py", 1, draw.work(DECODE), level(11000), from_s=at_s + 60, age_s=0.0, user="eve"
    )
    return scene(seed, [RTX_3090] * 2, [*first, later], at_s + 700)
