"""Processes and memory on a GPU whose owner or parent has died."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    DIFFUSION,
    FP32,
    FP64,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    Activity,
)
from detector_benchmark.independent.actors import Actor, Use
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    B200,
    H100,
    H200,
    L4,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import lost_memory, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders, program, ranks, shell
from detector_benchmark.independent.scripts import level, script
from detector_benchmark.independent.sketches import BATCH, ghost, jammed, mib_of, scene, turns, well_fed
from detector_benchmark.independent.textures import drifting, waits
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, train

_OK = "stalled idle hang kernel~ spin~ blocked~"  # true of a process that nothing controls any more
_Dice = Callable[[Draw, float], Sequence[Actor]]


def _left(
    seed: int,
    name: str,
    boards: Sequence[Board],
    actors: _Dice,
    names: str,
    *,
    within_s: float = 760,
    is_alarm: bool = False,
    at: tuple[float, float] = (220, 460),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(*at)
    wants = want("orphan", names, at_s, at_s + within_s, is_alarm=is_alarm)
    return scene(seed, boards, actors(draw, at_s), at_s + 840, wants, **{"allows": _OK} | more)


def _boards_of(some: Sequence[int], name: str = "rank") -> str:
    return " ".join(f"{name}{n} gpu:{n}" for n in some)


# --- the parent died, and was on no GPU -----------------------------------------------------------------------------
def _under(
    seed: int, name: str, board: Board, work: Activity, parents: Sequence[str], command: str, **more: Any
) -> Scene:
    """Let a chain of parents start a program; the first of them is killed, and the program sleeps and holds."""

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        chain = [shell("parent0", parents[0], until_s=at_s)]
        chain += [shell(f"parent{n}", each, parent=f"parent{n - 1}") for n, each in enumerate(parents) if n]
        does = turns(drifting(draw, draw.work(work)), at_s, jammed(draw.between(0, 1)))
        memory = mib_of(board, draw.between(0.3, 0.8))
        return [*chain, program("job", command, 0, does, memory, parent=chain[-1].name, **BATCH)]

    names = " ".join(["job gpu:0", *(f"parent{n}" for n in range(1, len(parents)))])
    return _left(seed, name, [board], actors, names, **more)


def trial_of_a_killed_search(seed: int) -> Scene:
    """A search for parameters was killed with -9; the trial that it had started on an A100 sleeps and holds."""
    return _under(seed, "k5orphan1", A100, FP32, ["python search.py --trials 200"], "python trial.py --id 17")


def step_of_a_killed_workflow(seed: int) -> Scene:
    """A workflow was killed; below its wrapper, which lives on, a step holds half of an A10G and sleeps."""
    parents = ["java -jar nextflow.jar run main.nf", "/bin/bash -ue .command.sh"]
    return _under(seed, "k5orphan2", A10G, PREFILL, parents, "python fold.py --fasta in.fa")


def test_of_a_cancelled_build(seed: int) -> Scene:
    """A build was cancelled; two shells below, a test holds an L4, waits for a pipe that has no reader."""
    parents = ["/opt/ci/agent run", "/bin/sh -e script.sh", "make check-gpu"]
    return _under(seed, "k5orphan3", L4, CNN, parents, "python -m pytest tests/cuda")


def engine_of_a_dead_frontend(seed: int) -> Scene:
    """The front of a chat on an RTX PRO 6000 crashed; its engine, a child, keeps its model on the board and waits for it."""
    return _under(seed, "k5orphan4", PRO_6000, DECODE, ["python chat_ui.py"], "python engine_core.py")


# --- ranks without a launcher ---------------------------------------------------------------------------------------
def _ranks_left(
    seed: int, name: str, board: Board, size: int, work: Activity, *, dead: Sequence[int] = (), **more: Any
) -> Scene:
    """Let the launcher of a job die, and some ranks with it; the others wait for ever."""
    launch = {key: more.pop(key) for key in ("launcher", "command") if key in more}

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        steps, wait = train(draw.work(work), step_s=1.6), waits(draw, board)
        does = lambda rank: turns(steps, at_s, wait)
        job = but(ranks(range(size), does, mib_of(board, 0.7), **launch), "rank.job", until_s=at_s)
        for rank in dead:
            job = but(job, f"rank{rank}", until_s=at_s)
        return job

    names = f"rank.job {_boards_of([n for n in range(size) if n not in dead])}"
    return _left(seed, name, [board] * size, actors, names, **more)


def seven_ranks_on_after_a_crash(seed: int) -> Scene:
    """torchrun and rank 0 of eight H200 died together; seven ranks with parent 1 poll at 100 %: an alarm."""
    return _ranks_left(seed, "k5orphan5", H200, 8, LLM, dead=[0], is_alarm=True)


def all_ranks_of_a_lost_session(seed: int) -> Scene:
    """The session that had started four spawned ranks on A6000 was closed; three of them live on and wait for the fourth: an alarm."""
    return _ranks_left(seed, "k5orphan6", A6000, 4, LORA, launcher="spawn", dead=[3], is_alarm=True)


def ranks_of_a_killed_mpirun(seed: int) -> Scene:
    """mpirun on two V100 was killed with -9 and one rank with it; the other polls in an exchange, for ever."""
    return _ranks_left(
        seed, "k5orphan7", V100, 2, FP64, launcher="mpirun", command="./lattice", dead=[1], is_alarm=True
    )


# --- memory without a process ---------------------------------------------------------------------------------------
def _unowned(seed: int, name: str, board: Board, work: Activity, *others: Actor, **more: Any) -> Scene:
    """Let a program end; a part of its memory stays in use, and the driver lists no process for it."""

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        mib = draw.between(0.25, 0.45) * board.memory_mib // 2 * 2
        does = drifting(draw, draw.work(work))
        ended = program("ended", "python run.py", 0, does, level(mib + 420), until_s=at_s, **BATCH)
        return [ended, *others, ghost(0, mib, at_s)]

    return _left(seed, name, [board], actors, "gpu:0", within_s=240, is_alarm=True, **more)


def memory_after_a_crash_in_the_driver(seed: int) -> Scene:
    """A process on a B200 crashed in a call of the driver; a quarter of the board stays in use, and no process has it."""
    return _unowned(seed, "k5orphan8", B200, LLM)


def memory_after_a_forced_stop(seed: int) -> Scene:
    """A container on an RTX 5090 was stopped by force; a part of the board stays in use; samples are lost at times."""
    return _unowned(seed, "k5orphan9", RTX_5090, DIFFUSION, disturb=[often_gaps(seed, each_s=90, from_s=3, to_s=7)])


def memory_beside_a_service(seed: int) -> Scene:
    """Memory of a crashed training stays on an L40S beside a service that works; values fail in some samples."""
    serves = program("api", "python api.py --port 80", 0, DECODE.at(0.3), level(9000), user="api", **BATCH)
    return _unowned(seed, "k5orphan10", L40S, LORA, serves, disturb=[lost_memory(seed, 0.01)])


# --- zombies, and pids that do not exist ----------------------------------------------------------------------------
def zombie_of_a_killed_generation(seed: int) -> Scene:
    """A generation on an H100 is a zombie: a thread of it hangs in the driver and holds sixty gigabytes."""

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        does = drifting(draw, draw.work(DECODE))
        return [program("job", "python gen.py", 0, does, mib_of(H100, 0.75), zombie_s=at_s, **BATCH)]

    return _left(seed, "k5orphan11", [H100], actors, "job gpu:0", within_s=420)


def zombies_of_two_workers(seed: int) -> Scene:
    """Two workers on T4 are zombies that their runner does not collect, with loaders that live; the memory stays."""

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        runner = shell("runner", "python pool.py")
        parts = [
            program(
                f"work{n}", "python pool.py", n, draw.work(CNN), level(9000), parent="runner", zombie_s=at_s, **BATCH
            )
            for n in range(2)
        ]
        fed = [each for part in parts for each in loaders(part, 2, turns(well_fed(draw), at_s, jammed(0)))]
        return [runner, *parts, *fed]

    return _left(seed, "k5orphan12", [T4] * 2, actors, "work0 work1 gpu:0 gpu:1 runner", within_s=420)


def pid_without_a_process(seed: int) -> Scene:
    """The driver of a 3090 lists a pid with ten gigabytes, and no such process exists any more."""

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        does = turns(drifting(draw, draw.work(FP32)), at_s, ASLEEP)
        return [program("job", "python train.py", 0, does, level(10400), gone_s=at_s, **BATCH)]

    return _left(seed, "k5orphan13", [RTX_3090], actors, "job gpu:0", within_s=300)


def pid_of_one_program_on_four_boards(seed: int) -> Scene:
    """A program on four A100 died in the driver; its pid stays listed on all of them with its memory."""

    def actors(draw: Draw, at_s: float) -> Sequence[Actor]:
        works = drifting(draw, draw.work(LLM))
        uses = tuple(Use(gpu, turns(works, at_s, IDLE), mib_of(A100, 0.5)) for gpu in range(4))
        host = script(jammed(110, "R"))
        return [Actor(name="job", command="python train_jax.py", uses=uses, host=host, gone_s=at_s, **BATCH)]

    names = "job gpu:0 gpu:1 gpu:2 gpu:3"
    return _left(seed, "k5orphan14", [A100] * 4, actors, names, within_s=300, interval_s=2.0)
