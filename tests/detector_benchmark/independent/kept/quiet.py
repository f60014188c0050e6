"""Programs that are quiet for a while as they should: people at a prompt, servers between requests, routine pauses."""

from detector_benchmark.independent.activity import CNN, DECODE, DISK, FP32, HOST, IDLE, LLM, QUERY
from detector_benchmark.independent.actors import Actor, docker
from detector_benchmark.independent.boards import H100, L40S, RTX_3090, RTX_4090, T4, V100
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import cycle, level, phases, sometimes
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.world import World

_IDLE = allow("idle")


def server_by_http_port(seed: int) -> Scene:
    """An inference server with --http-port in a container has visitors in the morning only."""
    does = phases(sometimes(IDLE, each_s=8, part=QUERY, for_s=4, seed=3), (500, IDLE))
    actor = program(
        "server",
        "/opt/infer/bin/inferd --http-port=8000 --grpc-port=8001",
        0,
        does,
        level(7200),
        terminal=0,
        cgroup=docker("c"),
    )
    return Scene(world=World([T4], [actor], seed=seed), until_s=1800, allows=_IDLE)


def routine_pause_between_rounds(seed: int) -> Scene:
    """A federated training waits six minutes for the other sites after each round of five minutes."""
    actor = program(
        "client",
        "python fl_client.py --rounds 50",
        0,
        cycle((300, CNN.but(nv=0)), (360, IDLE.but(cpu=1))),
        level(9100),
        terminal=0,
    )
    return Scene(world=World([L40S], [actor], seed=seed, first_s=200), until_s=3400, allows=allow("idle stalled~"))


def metrics_on_many_cores(seed: int) -> Scene:
    """After each epoch a pool of 16 children computes metrics on the CPU for nine minutes; the GPU waits."""
    train = program(
        "train", "python train_det.py", 0, cycle((500, CNN.but(nv=0)), (540, IDLE.but(cpu=6))), level(11800), terminal=0
    )
    pool = [
        Actor(name=f"pool{n}", command=train.command, parent="train", host=cycle((500, IDLE), (540, HOST)), age_s=3000)
        for n in range(16)
    ]
    return Scene(world=World([RTX_4090], [train, *pool], seed=seed), until_s=2000, allows=allow("idle~ input~"))


def slow_checkpoint_to_the_network(seed: int) -> Scene:
    """Every 15 min a checkpoint goes to slow storage for five minutes; all ranks wait for it at 0 %, in D or asleep."""
    does = lambda rank: cycle((900, LLM), (300, DISK if rank == 0 else IDLE))
    actors = ranks(range(4), does, level(66000))
    return Scene(
        world=World([H100] * 4, actors, seed=seed, first_s=500), until_s=2700, allows=allow("stalled~ idle~ blocked~")
    )


def download_between_two_phases(seed: int) -> Scene:
    """Between two phases a job downloads data for seven minutes, with little CPU; then it trains on."""
    train = program(
        "train",
        "python pipeline.py --all",
        0,
        phases(FP32, (500, IDLE.but(cpu=17)), (920, FP32)),
        level(6700),
        terminal=0,
    )
    return Scene(world=World([V100], [train], seed=seed), until_s=1500, allows=allow("idle~ stalled~"))


def debugger_at_a_terminal(seed: int) -> Scene:
    """A person stopped a training in the debugger at a terminal and reads values for fifteen minutes."""
    actor = program("debug", "python -m pdb train.py", 0, phases(CNN.but(nv=0), (300, IDLE.but(cpu=0))), level(8800))
    return Scene(world=World([RTX_3090], [actor], seed=seed), until_s=1300, allows=allow("idle stalled~"))


def chat_server_at_night(seed: int) -> Scene:
    """A chat server of two boards has a visitor now and then, and twelve quiet minutes between."""
    work = lambda rank: phases(
        IDLE.but(cpu=3), (200, DECODE), (240, IDLE.but(cpu=3)), (960, DECODE), (985, IDLE.but(cpu=3))
    )
    actors = ranks(
        [0, 1], work, level(71000), command="python -m vllm.entrypoints.openai.api_server -tp 2", launcher="spawn"
    )
    return Scene(world=World([H100] * 2, actors, seed=seed), until_s=1900, allows=_IDLE)
