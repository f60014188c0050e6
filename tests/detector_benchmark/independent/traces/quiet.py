"""Programs that are quiet for a while as they should: people at a prompt, servers between requests, routine pauses."""

from detector_benchmark.independent.activity import DECODE, DIFFUSION, FP32, IDLE, LORA, MANY, PREFILL
from detector_benchmark.independent.actors import TMUX, Actor, service
from detector_benchmark.independent.boards import A100, A100_40, A6000, L4, L40S, RTX_3090, RTX_4090
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import cycle, level, phases, sometimes
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.world import World

_IDLE = allow("idle")


def server_by_port_between_requests(seed: int) -> Scene:
    """An own server with --port serves a burst of requests, and none for the next 25 min."""
    does = phases(DECODE, (400, IDLE.but(cpu=2)))
    actor = program(
        "server", "python my_server.py --model m --port 9001", 0, does, level(17000), terminal=0, cgroup=service("llm")
    )
    return Scene(world=World([A100], [actor], seed=seed), until_s=1900, allows=_IDLE)


def person_at_a_python_prompt(seed: int) -> Scene:
    """A person works at python -i: a computation of some minutes, then 20 min of thought."""
    does = phases(FP32, (300, IDLE.but(cpu=0)), (1500, FP32))
    actor = program("prompt", "python -i explore.py", 0, does, level(3300))
    return Scene(world=World([RTX_3090], [actor], seed=seed), until_s=1800, allows=_IDLE)


def module_server_between_requests(seed: int) -> Scene:
    """A server started as a module, python -m embedding_service.server, waits for its next request for 20 min."""
    does = phases(sometimes(IDLE, each_s=15, part=PREFILL, for_s=5, seed=8), (420, IDLE.but(cpu=1)))
    actor = program(
        "server", "python3 -m embedding_service.server", 0, does, level(5200), terminal=0, cgroup=service("embed")
    )
    return Scene(world=World([L4], [actor], seed=seed), until_s=1700, allows=allow("idle stalled~"))


def notebook_after_a_cell(seed: int) -> Scene:
    """A cell of a notebook has run for eight minutes. The person has gone to lunch."""
    actor = program(
        "kernel",
        "python -m ipykernel_launcher -f /run/kernel-77.json",
        0,
        phases(LORA, (480, IDLE)),
        level(14100),
        terminal=0,
    )
    return Scene(world=World([A6000], [actor], seed=seed), until_s=2400, allows=_IDLE)


def listen_address_of_a_picture_server(seed: int) -> Scene:
    """A picture server with --listen 0.0.0.0 on a workstation draws two pictures, and none for half an hour."""
    does = phases(DIFFUSION, (60, IDLE), (200, DIFFUSION), (260, IDLE))
    actor = program("comfy", "python main.py --listen 0.0.0.0", 0, does, level(9900), variables=TMUX)
    return Scene(world=World([RTX_4090], [actor, *desktop()], seed=seed), until_s=2200, allows=_IDLE)


def queue_worker_without_work(seed: int) -> Scene:
    """A worker of a queue has no work for 20 min; it sleeps until a message comes."""
    does = phases(sometimes(IDLE, each_s=20, part=FP32, for_s=15, seed=4), (450, IDLE.but(cpu=1)))
    actor = program(
        "worker", "celery -A tasks worker --pool=solo", 0, does, level(4800), terminal=0, cgroup=service("celery")
    )
    return Scene(world=World([A100_40], [actor], seed=seed), until_s=1700, allows=allow("idle stalled~"))


def sweep_between_trials(seed: int) -> Scene:
    """A search trains a model for four minutes, then a process without a GPU fits a surrogate for three."""
    train = program(
        "trial", "python sweep.py --trials 200", 0, cycle((240, FP32), (180, IDLE.but(cpu=5))), level(5400), terminal=0
    )
    fit = Actor(name="fit", command="python fit_surrogate.py", parent="trial", host=cycle((240, IDLE), (180, MANY)))
    return Scene(world=World([L40S], [train, fit], seed=seed), until_s=1800, allows=allow("idle~ input~"))
