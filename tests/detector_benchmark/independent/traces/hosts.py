"""Programs that keep a CPU busy instead of their GPU, for a bad reason or a good one."""

from detector_benchmark.independent.activity import CNN, FP32, HOST, LORA, MANY, MOLECULES
from detector_benchmark.independent.boards import A100, A100_40, H100, L40S, RTX_3090, V100
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import cycle, level, phases, started
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_ALSO = allow("idle~ stalled")


def endless_loop_in_python(seed: int) -> Scene:
    """After ten minutes of training the program is in an endless loop on one core, and its GPU at 0 % for good."""
    job = program("train", "python -u train.py", 0, phases(FP32, (600, HOST)), level(7400), terminal=0)
    return Scene(
        world=World([RTX_3090], [job], seed=seed), until_s=2000, wants=[want("spin", "train", 600, 1800)], allows=_ALSO
    )


def imports_and_compilation(seed: int) -> Scene:
    """A program imports, builds extensions, and compiles its model for five minutes before its first step."""
    job = program("train", "python train_compiled.py", 0, started(LORA, 290, loading=MANY), level(3100), age_s=0)
    return Scene(world=World([L40S], [job], seed=seed), until_s=900, allows=())


def spins_since_before_gputop(seed: int) -> Scene:
    """A program has polled a queue in a tight loop since yesterday, with a model of 14 GiB that it never used."""
    job = program("poll", "python consumer.py", 0, HOST, level(14300), terminal=0, age_s=90000)
    return Scene(
        world=World([A100], [job], seed=seed), until_s=1700, wants=[want("spin idle", "poll", 0, 1500)], allows=_ALSO
    )


def four_minutes_of_statistics(seed: int) -> Scene:
    """After each epoch of eight minutes one core computes statistics for four minutes."""
    job = program("train", "python train_stats.py", 0, cycle((480, CNN.but(nv=0)), (240, HOST)), level(9100))
    return Scene(world=World([V100], [job], seed=seed), until_s=1700, allows=allow("input~ spin~"))


def busy_wait_for_a_lock_file(seed: int) -> Scene:
    """A program waits in a busy loop for a lock file that another one left: one core, no GPU, 40 GiB held."""
    job = program("wait", "python stage2.py", 0, phases(LORA, (300, HOST)), level(40200), terminal=0)
    return Scene(
        world=World([H100], [job], seed=seed), until_s=1700, wants=[want("spin", "wait", 300, 1500)], allows=_ALSO
    )


def cpu_code_that_shares_the_work(seed: int) -> Scene:
    """A molecular simulation uses 12 cores and 78 % of its GPU at the same time."""
    job = program("gmx", "gmx mdrun -deffnm prod -nb gpu -ntomp 12", 0, MOLECULES.but(cpu=1190), level(900))
    return Scene(world=World([A100_40], [job], seed=seed), until_s=1200, allows=())
