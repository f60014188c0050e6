"""Jobs whose ranks differ, although none of them slows the others down."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, FP64, LLM, LORA, PREFILL, mix
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    B200,
    GH200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    V100,
    Board,
)
from detector_benchmark.independent.circuit import Conditions
from detector_benchmark.independent.disturbances import bad_process_zeros, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import Part, cycle, level, script
from detector_benchmark.independent.sketches import BATCH, from_then, jammed, mib_of, scene, team
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train, validates, wait_on, with_pauses


def _differ(
    seed: int,
    name: str,
    board: Board,
    size: int,
    does: Callable[[Draw], Callable[[int], Part]],
    *,
    conditions: Callable[[Draw], dict[int, Conditions]] = lambda draw: {},
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    until_s: float = 1000,
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    given: Any = {"conditions": conditions(draw), "disturb": disturb(draw)} | more
    return team(seed, [board] * size, does(draw), mib_of(board, 0.65), until_s, **given)


def _alike(draw: Draw) -> Callable[[int], Part]:
    """Return ranks with the same work, below the limit of power."""
    work = draw.work(LLM, level=0.8).but(util=98.0)
    return lambda rank: rippling(draw, drifting(draw, work, depth=0.02))


# --- unequal by design ----------------------------------------------------------------------------------------------
def pipeline_whose_last_stage_has_the_loss(seed: int) -> Scene:
    """Four H200 hold the stages of a pipeline since gputop looks; the last one has the vocabulary and more to do."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work, wait = draw.work(LLM, level=0.84), wait_on(H200)
        parts = [mix((share, work), (1 - share, wait)) for share in (0.76, 0.79, 0.79, 0.92)]
        return lambda rank: drifting(draw, parts[rank], depth=0.02)

    return _differ(seed, "k5even1", H200, 4, does)


def layers_split_by_memory(seed: int) -> Scene:
    """Two RTX 5090 share the layers of a model, two thirds to one third, and take turns; that is how it was split."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(DECODE)
        parts = [mix((share, work), (1 - share, jammed(60))) for share in (0.62, 0.34)]
        return lambda rank: drifting(draw, parts[rank], depth=0.04)

    return _differ(seed, "k5even2", RTX_5090, 2, does, launcher="spawn", command="python chat.py --split 2,1")


def encoder_beside_three_decoders(seed: int) -> Scene:
    """One of four A10G encodes pictures for three that generate texts; it has half as much to do, by design."""

    def does(draw: Draw) -> Callable[[int], Part]:
        decodes, encodes = draw.work(DECODE), draw.work(PREFILL).at(0.5)
        return lambda rank: drifting(draw, encodes if rank == 0 else decodes, depth=0.05)

    more: Any = {"launcher": "spawn", "command": "python -m vlm.serve --port 8000", "cgroup": service("vlm")}
    return _differ(seed, "k5even3", A10G, 4, does, **more)


def reference_and_reward_beside_a_policy(seed: int) -> Scene:
    """An RL job on four H100 has a policy on two of them, and two smaller models that answer now and then on the others."""

    def does(draw: Draw) -> Callable[[int], Part]:
        learns, answers = draw.work(LLM), draw.work(PREFILL)
        policy = cycle((14, learns), (9, draw.work(DECODE)))
        rare = cycle((5, answers), (18, jammed(20)))
        return lambda rank: policy if rank < 2 else rare

    return _differ(seed, "k5even4", H100, 4, does, launcher="spawn", command="python grpo.py")


# --- small, short, or wandering -------------------------------------------------------------------------------------
def experts_whose_load_wanders(seed: int) -> Scene:
    """The heaviest experts wander over eight B200 within a minute and a half; no board is behind for long."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(LLM, level=0.84)
        light, each_s = mix((0.76, work), (0.24, wait_on(B200))), draw.between(10, 14)
        return lambda rank: cycle((each_s, work), (7 * each_s, light), shift_s=rank * each_s)

    return _differ(seed, "k5even5", B200, 8, does, interval_s=2.0)


def rank_that_writes_the_logs(seed: int) -> Scene:
    """Rank 0 of four V100 writes the logs and is three percent less busy than its peers, which hardly wait."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(CNN, level=0.9).but(util=96.0)
        return lambda rank: drifting(draw, work.at(0.97) if rank == 0 else work, depth=0.015)

    return _differ(seed, "k5even6", V100, 4, does)


def validation_of_the_first_rank(seed: int) -> Scene:
    """Rank 0 of four A6000 validates alone for 25 s of each three minutes and a half; the others wait for it."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(LORA)
        steps, alone, wait, for_s = train(work, step_s=0.9), validates(work), wait_on(A6000), draw.between(22, 28)
        return lambda rank: with_pauses(steps, alone if rank == 0 else wait, every_s=210, for_s=for_s)

    return _differ(seed, "k5even7", A6000, 4, does)


def board_that_is_slow_for_half_a_minute(seed: int) -> Scene:
    """One of eight GH200 is slow for half a minute, twice in a quarter of an hour; samples are lost and power is late."""

    def spells(draw: Draw) -> dict[int, Conditions]:
        first, later = from_then(300, 330, clock=0.7), from_then(700, 735, clock=0.7)
        return {draw.whole(0, 7): lambda t_s: (first if t_s < 500 else later)(t_s)}

    bad = lambda draw: [late_power(draw.seed(), 0.1), often_gaps(draw.seed(), each_s=90, from_s=3, to_s=8)]
    return _differ(seed, "k5even8", GH200, 8, _alike, conditions=spells, disturb=bad, interval_s=2.0)


def boards_that_are_all_slower_at_night(seed: int) -> Scene:
    """An operator lowers the clocks of all eight A100 of a job at night; all ranks are slower alike."""
    slow = lambda draw: dict.fromkeys(range(8), from_then(280, clock=0.75, reasons=("applications clocks",)))
    return _differ(seed, "k5even9", A100, 8, _alike, conditions=slow, interval_s=2.0)


def boards_of_unequal_silicon(seed: int) -> Scene:
    """The boards of a job on four H100 reach clocks that differ by three percent at the same power, as boards do."""
    clocks = lambda draw: {n: from_then(0, clock=1 - 0.01 * n) for n in range(4)}
    return _differ(seed, "k5even10", H100, 4, _alike, conditions=clocks)


# --- no job in step -------------------------------------------------------------------------------------------------
def replicas_behind_a_balancer(seed: int) -> Scene:
    """Four replicas of a service on L40S get requests from a balancer that likes two of them; none waits for another."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(DECODE)
        return lambda rank: serves(draw, work, each_s=4 if rank < 2 else 10, for_s=11)

    more: Any = {"launcher": "spawn", "command": "ray::ServeReplica:llm --port 8000", "cgroup": service("ray")}
    return _differ(seed, "k5even11", L40S, 4, does, **more)


def folds_of_unequal_size(seed: int) -> Scene:
    """Four folds of a study on 3090 have sets of unequal size; each is a program of its own, and zeros are read at times."""
    draw = Draw(seed, "k5even12")
    works = (CNN.at(0.5), CNN, FP32, FP64)
    folds = [
        program(f"fold{n}", f"python fold.py --k {n}", n, drifting(draw, work), level(5000 + 3000 * n), **BATCH)
        for n, work in enumerate(works)
    ]
    return scene(seed, [RTX_3090] * 4, folds, 1000, disturb=[bad_process_zeros(draw.seed(), 0.02)])


def boards_of_two_jobs_on_one_node(seed: int) -> Scene:
    """A node with four V100 has a large job on two of them and a small one on the others, with half of its load."""
    draw = Draw(seed, "k5even13")
    large, small = rippling(draw, draw.work(CNN)), drifting(draw, draw.work(CNN).at(0.5))
    jobs = [
        program(f"{name}{n}", f"python {name}.py --local_rank {n}", gpu, script(part), level(11000), **BATCH)
        for name, part, gpus in (("large", large, (0, 1)), ("small", small, (2, 3)))
        for n, gpu in enumerate(gpus)
    ]
    return scene(seed, [V100] * 4, jobs, 1000)
