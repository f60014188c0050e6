"""Processes and memory that stay on a GPU after those who started or owned them have died."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, LLM, LORA, Activity
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import A100, A6000, B200, H100, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders, program, ranks, shell
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import ghost, jammed, mib_of, scene, turns
from detector_benchmark.independent.textures import drifting, waits
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, train

_BATCH: Any = {"variables": {}, "terminal": 0}
_OK = "stalled idle hang kernel~ spin~ blocked~"  # of what a process does that nothing controls any more


def _left(seed: int, boards: Sequence[Board], actors: Sequence[Actor], names: str, at_s: float, **more: Any) -> Scene:
    is_alarm, interval_s = more.pop("is_alarm", False), more.pop("interval_s", 1.0)
    within_s = more.pop("within_s", 760)
    wants = want("orphan", names, at_s, at_s + within_s, is_alarm=is_alarm)
    return scene(seed, boards, actors, at_s + 840, wants, allows=_OK, interval_s=interval_s, **more)


# --- the parent was no process on a GPU ----------------------------------------------------------------------------
def child_of_a_killed_script(seed: int) -> Scene:
    """A shell script started a training on an A100; the script was killed with -9, the training sleeps and holds."""
    draw = Draw(seed, "k4orphan1")
    at_s = draw.between(240, 420)
    script = shell("script", "/bin/bash ./sweep.sh", until_s=at_s)
    does = turns(drifting(draw, draw.work(FP32)), at_s, ASLEEP)
    job = program("job", "python train.py --trial 4", 0, does, mib_of(A100, 0.6), parent="script", **_BATCH)
    return _left(seed, [A100], [script, job], "job gpu:0", at_s)


def grandchild_of_a_killed_runner(seed: int) -> Scene:
    """A runner of tests was killed; its wrapper lives on with parent 1, and below it a process that holds a T4."""
    draw = Draw(seed, "k4orphan2")
    at_s = draw.between(240, 420)
    runner = shell("runner", "/opt/ci/bin/Runner.Worker spawnclient", until_s=at_s)
    wrapper = shell("wrapper", "/bin/sh -e /tmp/step.sh", parent="runner")
    does = turns(drifting(draw, draw.work(DECODE)), at_s, jammed(0.2))
    job = program("job", "python -m pytest tests/gpu", 0, does, mib_of(T4, 0.5), parent="wrapper", **_BATCH)
    return _left(seed, [T4], [runner, wrapper, job], "job gpu:0 wrapper", at_s)


def ranks_of_a_launcher_that_was_never_on_a_gpu(seed: int) -> Scene:
    """The launcher of four ranks on V100, itself without a GPU, was killed; the ranks poll each other for ever."""
    draw = Draw(seed, "k4orphan3")
    at_s = draw.between(260, 460)
    work = train(draw.work(CNN), step_s=1.5)
    actors = ranks(
        range(4),
        lambda rank: turns(work, at_s, waits(draw, V100)),
        mib_of(V100, 0.6),
        launcher="accelerate launch t.py",
    )
    actors = but(actors, "rank.job", until_s=at_s)
    return _left(seed, [V100] * 4, actors, "rank.job rank0 rank1 rank2 rank3 gpu:0 gpu:1 gpu:2 gpu:3", at_s)


def worker_of_a_killed_scheduler(seed: int) -> Scene:
    """The local scheduler of a cluster of Python processes died; its worker keeps 20 GiB of an L40S and sleeps."""
    draw = Draw(seed, "k4orphan4")
    at_s = draw.between(240, 420)
    head = shell("raylet", "/opt/env/ray/core/src/ray/raylet/raylet --node_ip=10.0.0.4", until_s=at_s)
    does = turns(drifting(draw, draw.work(LORA)), at_s, ASLEEP)
    job = program("job", "ray::Trainer.step", 0, does, mib_of(L40S, 0.45), parent="raylet", **_BATCH)
    return _left(seed, [L40S], [head, job, *loaders(job, 2, turns(jammed(25), at_s, jammed(0)))], "job gpu:0", at_s)


# --- ranks outside of Slurm: an alarm ------------------------------------------------------------------------------
def _orphaned_ranks(seed: int, name: str, board: Board, size: int, work: Activity, **more: Any) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(260, 460)
    steps = train(draw.work(work), step_s=2)
    does = lambda rank: turns(steps, at_s, waits(draw, board))
    actors = ranks(range(size), does, mib_of(board, 0.7), **more)
    dead = draw.whole(0, size - 1)
    actors = but(but(actors, "rank.job", until_s=at_s), f"rank{dead}", until_s=at_s)
    names = " ".join(f"rank{n} gpu:{n}" for n in range(size) if n != dead)
    return _left(seed, [board] * size, actors, f"rank.job {names}", at_s, is_alarm=True)


def seven_ranks_after_torchrun_was_killed(seed: int) -> Scene:
    """The memory killer ended torchrun and one rank; seven ranks on H100 wait at 100 % with parent 1: an alarm."""
    return _orphaned_ranks(seed, "k4orphan5", H100, 8, LLM)


def ranks_after_a_closed_terminal(seed: int) -> Scene:
    """A terminal was closed on a spawned training; one rank on a 4090 survived its parent and its peer: an alarm."""
    return _orphaned_ranks(seed, "k4orphan6", RTX_4090, 2, LORA, launcher="spawn")


def ranks_after_mpirun_died(seed: int) -> Scene:
    """mpirun died with a segmentation fault; three ranks on A6000 wait for a fourth that died with it: an alarm."""
    return _orphaned_ranks(seed, "k4orphan7", A6000, 4, CNN, launcher="mpirun")


# --- memory that belongs to no process: an alarm within three minutes ----------------------------------------------
def _nobody(seed: int, name: str, board: Board, work: Activity, *others: Actor, **more: Any) -> Scene:
    draw = Draw(seed, name)
    at_s, mib = draw.between(200, 420), draw.between(0.3, 0.45) * board.memory_mib // 2 * 2
    does = drifting(draw, draw.work(work))
    ended = program("ended", "python run.py", 0, does, level(mib + 300), until_s=at_s, **_BATCH)
    actors = [ended, *others, ghost(0, mib, at_s)]
    return _left(seed, [board], actors, "gpu:0", at_s, is_alarm=True, within_s=200, **more)


def memory_that_stays_after_a_kill(seed: int) -> Scene:
    """A process on an H100 was killed; a third of the board stays in use and belongs to no process."""
    return _nobody(seed, "k4orphan8", H100, LLM)


def memory_that_stays_beside_another_user(seed: int) -> Scene:
    """A third of a 3090 belongs to no process after a crash, while Bob works on the same board."""
    does = drifting(Draw(seed, "k4orphan9+"), CNN.at(0.8))
    bob = program("bob", "python other.py", 0, does, level(6200), user="bob")
    return _nobody(seed, "k4orphan9", RTX_3090, FP32, bob)


def memory_that_stays_after_a_container(seed: int) -> Scene:
    """A container on a B200 was removed by force; 60 GiB stay in use and no process has them; gaps in the samples."""
    return _nobody(seed, "k4orphan10", B200, LORA, disturb=[often_gaps(seed, each_s=80, from_s=3, to_s=6)])


# --- zombies, and pids without a process ---------------------------------------------------------------------------
def zombie_that_holds_a_board(seed: int) -> Scene:
    """A generation on an L4 was killed, and is a zombie whose thread in the driver still holds ten gigabytes."""
    draw = Draw(seed, "k4orphan11")
    at_s = draw.between(240, 420)
    actor = program("job", "python generate.py", 0, drifting(draw, draw.work(DIFFUSION)), level(10200), zombie_s=at_s)
    return _left(seed, [L4], [actor], "job gpu:0", at_s, within_s=420)


def zombies_of_a_job_on_two_boards(seed: int) -> Scene:
    """Both ranks of a job on A100 are zombies that their launcher does not collect; the memory stays."""
    draw = Draw(seed, "k4orphan12")
    at_s = draw.between(240, 420)
    work = draw.work(LLM)
    actors = ranks(range(2), lambda rank: work, mib_of(A100, 0.6), zombie_s=at_s)
    actors = but(actors, "rank.job", zombie_s=1e9)
    return _left(seed, [A100] * 2, actors, "rank0 rank1 gpu:0 gpu:1 rank.job", at_s, within_s=420)


def pid_that_the_driver_still_lists(seed: int) -> Scene:
    """The driver of a V100 lists a pid with 9 GiB that has no process any more; nvidia-smi says [Not Found]."""
    draw = Draw(seed, "k4orphan13")
    at_s = draw.between(240, 420)
    actor = program("job", "python train.py", 0, drifting(draw, draw.work(CNN)), level(9100), gone_s=at_s)
    return _left(seed, [V100], [actor], "job gpu:0", at_s, within_s=300)


def pids_of_a_crashed_server(seed: int) -> Scene:
    """A server on two H100 crashed in its driver; both pids stay listed with their memory, gputop looks every two seconds."""
    draw = Draw(seed, "k4orphan14")
    at_s = draw.between(240, 420)
    command = "python -m sglang.launch_server --port 30000 --tp 2"
    actors = [
        program(f"tp{n}", command, n, drifting(draw, draw.work(DECODE)), level(68000), gone_s=at_s, **_BATCH)
        for n in (0, 1)
    ]
    return _left(seed, [H100] * 2, actors, "tp0 tp1 gpu:0 gpu:1", at_s, within_s=300, interval_s=2.0)
