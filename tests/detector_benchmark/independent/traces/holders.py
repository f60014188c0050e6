"""Processes that hold memory and do nothing for long, and those that only seem to."""

from detector_benchmark.independent.activity import CNN, DECODE, FP32, IDLE, LORA, MANY
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import A100, A100_40, H100, RTX_4090, T4
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import level, phases, sometimes, started
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_KERNEL = "python -m ipykernel_launcher -f /home/ann/.local/share/jupyter/runtime/kernel-9.json"


def notebook_left_over_lunch(seed: int) -> Scene:
    """A notebook holds 34 GiB after a cell that ended ten minutes in. Its owner comes back after an hour."""
    job = program("kernel", _KERNEL, 0, phases(LORA, (600, IDLE)), level(34000), terminal=0)
    return Scene(
        world=World([A100], [job], seed=seed, interval_s=3),
        until_s=4200,
        wants=[want("idle", "kernel", 600, 3000)],
        allows=(),
    )


def training_that_tokenizes_first(seed: int) -> Scene:
    """A program took 9 GiB of its GPU, and tokenizes on eight cores for half an hour before it trains."""
    job = program("train", "python train_lm.py", 0, started(phases(MANY, (1500, LORA)), 20), level(9100), age_s=0)
    return Scene(world=World([H100], [job], seed=seed, interval_s=2), until_s=1900, allows=allow("spin"))


def five_finished_inference_processes(seed: int) -> Scene:
    """Inference processes of a batch stay after their work, and together fill a T4: 5.1, 2.1, 1.6, 0.9 and 5.2 GiB."""
    sizes = (5144, 2070, 1562, 866, 5154)
    jobs = [
        program(
            f"job{n}",
            f"python infer.py --part {n}",
            0,
            phases(FP32.but(util=20, share=0.2), (300 + 60 * n, IDLE)),
            level(mib),
            terminal=0,
        )
        for n, mib in enumerate(sizes)
    ]
    return Scene(
        world=World([T4], jobs, seed=seed, interval_s=3),
        until_s=4200,
        allows=allow("idle stalled"),
        wants=[want("idle stalled", "job0", 300, 2700), want("idle stalled", "job4", 540, 3000)],
    )


def daemon_with_a_small_context(seed: int) -> Scene:
    """A monitoring daemon holds a context of 120 MiB for weeks, and never computes."""
    actors = [
        program(
            "daemon",
            "/usr/bin/dcgm-exporter",
            0,
            IDLE.but(cpu=2),
            level(120),
            user="root",
            terminal=0,
            cgroup=service("dcgm"),
            age_s=900000,
        ),
        program("train", "python train.py", 0, CNN.but(nv=0), level(22000)),
    ]
    return Scene(world=World([A100_40], actors, seed=seed, interval_s=3), until_s=3600, allows=())


def ranks_of_a_finished_job(seed: int) -> Scene:
    """The job is done, but its four ranks sleep at a last barrier of the framework, with 60 GiB each, for an hour."""
    actors = ranks(range(4), lambda rank: phases(LORA, (500, IDLE)), level(60000))
    return Scene(
        world=World([A100] * 4, actors, seed=seed, interval_s=3),
        until_s=3600,
        allows=allow("stalled hang idle"),
        wants=[want("stalled idle", "rank0 rank1 rank2 rank3", 500, 2400)],
    )


def server_with_a_request_each_ten_minutes(seed: int) -> Scene:
    """A server gets a request about every ten minutes, day and night."""
    does = sometimes(IDLE.but(cpu=2), each_s=600, part=DECODE, for_s=12, seed=5)
    job = program(
        "server", "ollama runner --model /m --port 41233", 0, does, level(9300), terminal=0, cgroup=service("ollama")
    )
    return Scene(
        world=World([RTX_4090], [job, *desktop()], seed=seed, interval_s=3), until_s=5400, allows=allow("idle")
    )
