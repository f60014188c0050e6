"""Batch jobs that have worked and make no progress any more, at 0 % of the GPU."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, FP32, HOST, IDLE, LLM, LORA, MOLECULES, Activity
from detector_benchmark.independent.actors import TMUX, Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    H100,
    H100_MIG,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_gpu_zeros, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import Part, level
from detector_benchmark.independent.sketches import jammed, mib_of, scene, turns, well_fed
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, steps_until, train

_BATCH: dict[str, Any] = {"variables": TMUX, "terminal": 0}


def _stall(
    seed: int,
    draw: Draw,
    board: Board,
    work: Part,
    *,
    at_s: float,
    command: str = "python train.py",
    after: Part = ASLEEP,
    workers: int = 0,
    workers_do: Activity = ASLEEP,
    by_s: float = 900,
    allows: str = "idle",
    disturb: Sequence[Any] = (),
    **more: Any,
) -> Scene:
    """Let one process work, with loaders that keep up, then stop for good."""
    actor = program(
        "train", command, 0, turns(work, at_s, after), mib_of(board, draw.between(0.3, 0.8)), **_BATCH | more
    )
    children = loaders(actor, workers, turns(well_fed(draw), at_s, workers_do))
    wants = want("stalled", "train gpu:0", at_s, at_s + by_s)
    return scene(seed, [board], [actor, *children], at_s + by_s + 120, wants, allows=allows, disturb=disturb)


def loaders_wait_for_a_lock(seed: int) -> Scene:
    """Eight loaders were forked while a lock of OpenMP was held: after an epoch none of them wakes again."""
    draw = Draw(seed, "k3stall1")
    return _stall(seed, draw, A100, draw.work(CNN).but(nv=0), at_s=draw.between(500, 900), workers=8)


def ranks_sleep_in_a_gloo_barrier(seed: int) -> Scene:
    """Four ranks wait on the CPU, asleep, in a barrier of Gloo that one rank skipped and left for its own: all at 0 %."""
    draw = Draw(seed, "k3stall2")
    at_s = draw.between(500, 900)
    steps = train(draw.work(LORA), step_s=2)
    actors = ranks(range(4), lambda rank: turns(steps, at_s, ASLEEP), level(31000))
    wants = want("stalled hang", everyone(4), at_s, at_s + 900)
    return scene(seed, [L40S] * 4, actors, at_s + 1020, wants, allows="idle hang stalled")


def workers_were_killed_for_memory(seed: int) -> Scene:
    """The kernel killed all six loaders; their parent waits for a batch that never comes."""
    draw = Draw(seed, "k3stall3")
    at_s = draw.between(600, 900)
    actor = program("train", "python train_det.py", 0, turns(draw.work(CNN), at_s, ASLEEP), level(15000), **_BATCH)
    children = loaders(Actor(name="train", command=actor.command, until_s=at_s), 6, well_fed(draw))
    wants = want("stalled", "train gpu:0", at_s, at_s + 900)
    return scene(seed, [RTX_4090], [actor, *children], at_s + 1020, wants, allows="idle")


def one_loader_loops_and_all_wait_for_it(seed: int) -> Scene:
    """One of four loaders is in an endless loop over a broken image; the job waits for its batch for half an hour."""
    draw = Draw(seed, "k3stall4")
    at_s = draw.between(500, 800)
    actor = program("train", "python train_clip.py", 0, turns(draw.work(LLM), at_s, ASLEEP), level(52000), **_BATCH)
    children = loaders(actor, 4, turns(well_fed(draw), at_s, ASLEEP))
    looping = loaders(actor, 5, turns(well_fed(draw), at_s, HOST))[4:]
    wants = want("stalled", "train gpu:0", at_s, at_s + 1800)
    return scene(seed, [H100], [actor, *children, *looping], at_s + 1920, wants, allows="idle input~ stalled")


def dataset_lies_on_a_dead_mount(seed: int) -> Scene:
    """The file server is gone: all loaders are in D and stay so, the GPU has had nothing to do since."""
    draw = Draw(seed, "k3stall5")
    at_s = draw.between(500, 900)
    actor = program(
        "train", "python train.py --data /nfs/in1k", 0, turns(draw.work(CNN), at_s, ASLEEP), level(11000), **_BATCH
    )
    children = loaders(actor, 8, turns(well_fed(draw), at_s, IDLE.but(cpu=0.0, state="D")))
    wants = want("stalled blocked input", "train gpu:0 " + " ".join(one.name for one in children), at_s, at_s + 900)
    allows = "idle blocked input stalled"
    return scene(seed, [V100], [actor, *children], at_s + 1020, wants, allows=allows)


def job_of_slurm_does_not_exit(seed: int) -> Scene:
    """A training of eight H200 is over, but a thread that uploads logs waits for ever: all ranks sleep, nothing ends."""
    draw = Draw(seed, "k3stall6")
    at_s = draw.between(400, 700)
    does = lambda rank: turns(train(draw.work(LLM), step_s=5), at_s, jammed(0.4))
    actors = ranks(range(8), does, level(98000), launcher="srun")
    wants = want("stalled hang", everyone(8), at_s, at_s + 900)
    return scene(seed, [H200] * 8, actors, at_s + 1020, wants, allows="idle hang stalled")


def steps_are_no_longer_reported(seed: int) -> Scene:
    """A fine-tuning in tmux wrote a step each second; since an API call that never returns it writes none."""
    draw = Draw(seed, "k3stall7")
    at_s = draw.between(700, 1000)
    steps = steps_until(at_s, each_s=1.0)
    return _stall(seed, draw, A6000, draw.work(LORA).but(nv=0), at_s=at_s, command="python dpo.py", steps=steps)


def instance_of_mig_without_work(seed: int) -> Scene:
    """A job in a MIG instance of an H100 waits for a queue whose producer crashed; its GPM readings are at zero."""
    draw = Draw(seed, "k3stall8")
    at_s = draw.between(600, 900)
    does = turns(draw.work(LORA, level=0.4).but(nv=0), at_s, ASLEEP)
    actor = program("train", "python train_small.py", 0, does, level(21000), instance=1, **_BATCH)
    wants = want("stalled idle", "train gpu:0", at_s, at_s + 960)
    return scene(seed, [H100_MIG], [actor], at_s + 1080, wants, allows="idle stalled")


def container_on_a_t4_is_deadlocked(seed: int) -> Scene:
    """A training in a container deadlocks between two Python threads; its T4 gives no PCIe readings."""
    draw = Draw(seed, "k3stall9")
    more: dict[str, Any] = {"cgroup": docker("c"), "variables": {}}
    board = T4.without("pcie")
    return _stall(seed, draw, board, draw.work(FP32), at_s=draw.between(500, 800), workers=2, **more)


def simulator_of_a_robot_died(seed: int) -> Scene:
    """The simulators of an RL job died; its learner waits for their rollouts and sleeps."""
    draw = Draw(seed, "k3stall10")
    at_s = draw.between(600, 900)
    learner = program(
        "learner", "python learner.py", 0, turns(draw.work(CNN).at(0.6), at_s, ASLEEP), level(7000), **_BATCH
    )
    sims = [
        Actor(name=f"sim{n}", command="./isaac_env --headless", parent="learner", until_s=at_s, host=lambda t_s: HOST)
        for n in range(3)
    ]
    wants = want("stalled", "learner gpu:0", at_s, at_s + 900)
    return scene(seed, [RTX_4090], [learner, *sims], at_s + 1020, wants, allows="idle input~ launch~")


def stall_seen_with_zeros_and_gaps(seed: int) -> Scene:
    """A molecular simulation in a Slurm job stops as its scratch is full; the board reads 0 W at times, gputop has gaps."""
    draw = Draw(seed, "k3stall11")
    disturb = [bad_gpu_zeros(draw.seed(), 0.004), often_gaps(draw.seed(), each_s=90, from_s=2, to_s=10)]
    more: dict[str, Any] = {"cgroup": slurm(7716), "variables": {"SLURM_JOB_ID": "7716"}}
    work = draw.work(MOLECULES)
    return _stall(
        seed,
        draw,
        RTX_3090,
        work,
        at_s=draw.between(500, 800),
        command="gmx mdrun -deffnm md",
        by_s=1080,
        disturb=disturb,
        **more,
    )
