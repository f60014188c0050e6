"""Programs that make no progress any more, and sleep."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, FP64, LLM, LORA, MOLECULES, RENDER, Activity
from detector_benchmark.independent.actors import Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    B200,
    GTX_1080_TI,
    H100,
    H200,
    L4,
    L40S,
    RTX_4090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, faults, no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders
from detector_benchmark.independent.scripts import script
from detector_benchmark.independent.sketches import alone, jammed, mib_of, team, turns, well_fed
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, steps_until, train

_SHOWN_S = 960

Beside = Callable[[Actor, float], Sequence[Actor]]


def _stops(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    rest: Activity = ASLEEP,
    workers: int = 0,
    kinds: str = "stalled",
    allows: str = "idle blocked~",
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    burner: str = "",
    **more: Any,
) -> Scene:
    """Let a program work for minutes, and do nothing from some time on. ``burner``: a child that burns a core then."""
    draw = Draw(seed, name)
    at_s = draw.between(440, 680)
    does = turns(rippling(draw, drifting(draw, draw.work(work))), at_s, rest)
    owner = Actor(name="job", command=command)
    children = loaders(owner, workers, turns(well_fed(draw), at_s, jammed(0, rest.state)))
    if burner:
        burns = script(turns(jammed(0.5), at_s, jammed(99, "R")))
        children.append(Actor(name="burner", command=burner, parent="job", host=burns, threads=3))
    wants = want(kinds, "job gpu:0", at_s, at_s + _SHOWN_S)
    given: Any = {"command": command, "actors": children, "disturb": disturb(draw), "allows": allows} | more
    return alone(seed, board, does, mib_of(board, draw.between(0.3, 0.85)), at_s + 1020, wants, **given)


# --- locks and queues -----------------------------------------------------------------------------------------------
def loaders_that_forked_with_a_lock_held(seed: int) -> Scene:
    """The six loaders of a training on an A10G inherited a held lock at the start of an epoch; all sleep, with their parent."""
    return _stops(seed, "k5stall1", A10G, CNN, "python -u main.py --dataset coco", workers=6)


def producer_that_died_behind_a_queue(seed: int) -> Scene:
    """The learner of an RL job on an H100 waits for a queue whose last producer has ended without a message."""
    return _stops(seed, "k5stall2", H100, LORA, "python learner.py")


def worker_that_waits_for_a_lost_object(seed: int) -> Scene:
    """A worker of Ray on an L40S waits for an object that a node took with it when it was switched off."""
    return _stops(seed, "k5stall3", L40S, FP32, "ray::TrainWorker.fit")


def forty_threads_in_a_circle(seed: int) -> Scene:
    """The threads of a renderer in a batch on an RTX 5090 wait for each other's locks in a circle."""
    return _stops(seed, "k5stall4", RTX_5090, RENDER, "blender -b shot12.blend -a", threads=44)


# --- storage, network and other services ----------------------------------------------------------------------------
def judge_that_answers_no_request(seed: int) -> Scene:
    """A generation on a B200 asks a judge over the network that is down, sleeps, and asks again, for ever."""
    return _stops(seed, "k5stall5", B200, DECODE, "python sample_and_judge.py", rest=jammed(1.8))


def trajectory_on_a_full_disk(seed: int) -> Scene:
    """A molecular simulation on a T4 cannot write its trajectory to a full disk, and waits for room."""
    return _stops(seed, "k5stall6", T4, MOLECULES, "gmx mdrun -s prod.tpr")


def shards_behind_a_dead_mount(seed: int) -> Scene:
    """A training on a V100 and its four loaders read from a mount whose server went away: all are blocked in the kernel."""
    more: Any = {"rest": jammed(0, "D"), "workers": 4, "cgroup": slurm(60021)}
    return _stops(
        seed, "k5stall7", V100, CNN, "python train.py", kinds="stalled blocked", allows="idle blocked", **more
    )


def licence_that_a_server_does_not_renew(seed: int) -> Scene:
    """A batch of MATLAB on an H200 waits for a licence that its server does not renew, after some minutes of work."""
    return _stops(seed, "k5stall8", H200, FP64, "/opt/matlab/bin/glnxa64/MATLAB -batch run_all", threads=150)


# --- a job, a freezer, a child that burns ---------------------------------------------------------------------------
def ranks_that_sleep_in_a_barrier_of_the_host(seed: int) -> Scene:
    """Four ranks on H100 sleep in a barrier of Gloo on the host, at 0 %, as one of them was restarted and lost its key."""
    draw = Draw(seed, "k5stall9")
    at_s = draw.between(420, 620)
    work = train(draw.work(LLM), step_s=1.1)
    wants = want("stalled", everyone(4), at_s, at_s + _SHOWN_S)
    does = lambda rank: turns(work, at_s, jammed(draw.between(0, 1)))
    return team(seed, [H100] * 4, does, mib_of(H100, 0.7), at_s + 1020, wants, allows="idle~ hang")


def container_that_was_paused(seed: int) -> Scene:
    """An operator paused a container on an A100 for a backup, and forgot it; its processes do not run any more."""
    more: Any = {"rest": jammed(0), "workers": 2, "cgroup": docker("3")}
    return _stops(
        seed, "k5stall10", A100, LORA, "python tune.py", kinds="stalled blocked", allows="idle blocked", **more
    )


def child_that_compresses_for_ever(seed: int) -> Scene:
    """The child that packs a checkpoint loops over a broken file at 100 % of a core; the training on an L4 waits for it."""
    return _stops(seed, "k5stall11", L4, LORA, "python sft.py", burner="pigz -9 step-4000.tar", allows="idle spin~")


def steps_that_are_no_longer_counted(seed: int) -> Scene:
    """A training on a GTX 1080 Ti reported its steps each ten seconds; its validation loader is stuck, and it reports none."""
    draw = Draw(seed, "k5stall12")
    at_s = draw.between(440, 640)
    does = turns(drifting(draw, draw.work(FP32)), at_s, jammed(0.2))
    more: Any = {"steps": steps_until(at_s, each_s=0.7), "cgroup": slurm(991), "allows": "idle blocked~"}
    wants = want("stalled", "job gpu:0", at_s, at_s + _SHOWN_S)
    return alone(seed, GTX_1080_TI, does, mib_of(GTX_1080_TI, 0.75), at_s + 1020, wants, **more)


# --- seen badly -----------------------------------------------------------------------------------------------------
def standstill_in_a_coarse_recording(seed: int) -> Scene:
    """A fine-tuning on an RTX 4090 sleeps for ever after a lost connection; the recording has a sample in ten seconds."""
    bad = lambda draw: [faults(draw.seed(), 0.05, "gpu_utilization_percent"), bad_process_zeros(draw.seed(), 0.04)]
    return _stops(seed, "k5stall13", RTX_4090, LORA, "python -u lora.py", disturb=bad, interval_s=10.0)


def eight_ranks_that_sleep_seen_through_gaps(seed: int) -> Scene:
    """Eight ranks on B200 sleep at 0 % since the coordinator of their checkpoint died; samples and values are missing."""
    draw = Draw(seed, "k5stall14")
    at_s = draw.between(420, 620)
    work = train(draw.work(LLM), step_s=0.8)
    wants = want("stalled", everyone(8), at_s, at_s + _SHOWN_S)
    disturb = [often_gaps(draw.seed(), each_s=90, from_s=4, to_s=16), no_process_values(draw.seed(), 0.05)]
    more: Any = {"launcher": "srun", "disturb": disturb, "interval_s": 2.0, "allows": "idle~ hang"}
    does = lambda rank: turns(work, at_s, jammed(0.5))
    actors = lambda some: but(some, "rank3", threads=61)
    return team(seed, [B200] * 8, does, mib_of(B200, 0.6), at_s + 1020, wants, change=actors, **more)
