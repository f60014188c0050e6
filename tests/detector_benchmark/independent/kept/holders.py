"""Processes that hold memory and do nothing for long, and those that only seem to."""

from detector_benchmark.independent.activity import CNN, FP32, HOST, IDLE, MOLECULES
from detector_benchmark.independent.actors import TMUX
from detector_benchmark.independent.boards import A100_MIG, A6000, L40S, RTX_3090, V100
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.roles import loaders, program
from detector_benchmark.independent.scripts import level, phases, sometimes
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_KERNEL = "python -m ipykernel_launcher -f /home/ann/.local/share/jupyter/runtime/kernel-9.json"


def finished_script_at_its_prompt(seed: int) -> Scene:
    """A training is done and waits at "press Enter" since midnight; it holds 21 GiB of 24."""
    job = program("train", "python train.py --wait", 0, IDLE.but(cpu=0), level(21400), variables=TMUX, age_s=40000)
    return Scene(
        world=World([RTX_3090], [job], seed=seed, interval_s=3),
        until_s=3600,
        wants=[want("idle", "train", 0, 2400)],
        allows=allow("stalled"),
    )


def short_breaks_of_a_person(seed: int) -> Scene:
    """A person runs cells in a notebook, with breaks of two to six minutes between them, all afternoon."""
    does = sometimes(IDLE, each_s=210, part=FP32, for_s=45, seed=12)
    job = program("kernel", _KERNEL, 0, does, level(11000), terminal=0)
    return Scene(world=World([A6000], [job], seed=seed, interval_s=2), until_s=4000, allows=allow("idle~"))


def idle_program_on_mig(seed: int) -> Scene:
    """A notebook on a slice holds 17 GiB and does nothing; MIG has no utilization, and the process no CPU time."""
    job = program("kernel", _KERNEL, 0, IDLE.but(cpu=0), level(17100), terminal=0, instance=2, age_s=30000)
    busy = program("train", "python train.py", 0, FP32, level(31000), instance=1)
    return Scene(
        world=World([A100_MIG], [job, busy], seed=seed, interval_s=3),
        until_s=4200,
        wants=[want("idle", "kernel", 0, 3600)],
        allows=(),
    )


def computation_on_the_cpu_for_half_an_hour(seed: int) -> Scene:
    """A simulation analyses its result with 16 threads for 25 min, and keeps its state of 6 GiB on the GPU for the next run."""
    does = phases(MOLECULES, (500, IDLE.but(cpu=1560, thread=99, state="R")), (2000, MOLECULES))
    job = program("md", "python md_analyse.py", 0, does, level(6200))
    return Scene(world=World([L40S], [job], seed=seed, interval_s=2), until_s=2300, allows=allow("spin"))


def idle_with_gaps(seed: int) -> Scene:
    """A program of another user holds 30 GiB at 0 % for an hour; gputop misses samples all the time."""
    job = program("old", "python demo.py", 0, IDLE.but(cpu=0), level(30100), user="eve", terminal=0, age_s=90000)
    return Scene(
        world=World([A6000], [job], seed=seed, interval_s=2),
        until_s=3600,
        wants=[want("idle", "old", 0, 2700)],
        allows=allow("stalled"),
        disturbances=[often_gaps(seed, each_s=90, from_s=6, to_s=25)],
    )


def loading_for_twelve_minutes(seed: int) -> Scene:
    """A training took its context early, and its loaders fill a cache in RAM for twelve minutes, on eight cores."""
    train = program(
        "train", "python train_3d.py", 0, phases(IDLE.but(cpu=30), (720, CNN.but(nv=0))), level(1900), age_s=0
    )
    actors = [train, *loaders(train, 8, phases(HOST.but(cpu=96), (720, IDLE.but(cpu=40))))]
    return Scene(world=World([V100], actors, seed=seed, interval_s=2), until_s=1200, allows=allow("idle~ input~"))
