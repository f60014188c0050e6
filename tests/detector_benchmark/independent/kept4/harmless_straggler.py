"""Jobs whose ranks differ, and that no rank slows down."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, LLM, LORA, Activity, mix
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import A100, B200, H100, H200, L40S, RTX_4090, V100, Board
from detector_benchmark.independent.circuit import Conditions
from detector_benchmark.independent.disturbances import late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Part, cycle, script
from detector_benchmark.independent.sketches import from_then, jammed, mib_of, scene
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, train, validates, wait_on, with_pauses

_Ranks = Callable[[Draw], Callable[[int], Part]]


def _differ(
    seed: int,
    name: str,
    board: Board,
    size: int,
    does: _Ranks,
    *,
    conditions: Callable[[Draw], dict[int, Conditions]] = lambda draw: {},
    until_s: float = 1200,
    allows: str = "",
    disturb: Any = (),
    interval_s: float = 1.0,
    memory: Callable[[int], float] = lambda rank: 0.6,
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part = does(draw)
    actors = ranks(range(size), part, memory_of=lambda rank: mib_of(board, memory(rank)), **more)
    return scene(
        seed,
        [board] * size,
        actors,
        until_s,
        conditions=conditions(draw),
        allows=allows,
        disturb=disturb,
        interval_s=interval_s,
    )


# --- unequal stages ------------------------------------------------------------------------------------------------
def _stages(board: Board, shares: Sequence[float], *, polls: bool) -> _Ranks:
    """Return the stages of a pipeline: each works for its share of the time, from the first second on."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work, rest = draw.work(LLM, level=0.85), wait_on(board) if polls else jammed(40)
        parts = [mix((share, work), (1 - share, rest)) for share in shares]
        return lambda rank: drifting(draw, parts[rank], depth=0.02)

    return does


def stages_of_unequal_depth(seed: int) -> Scene:
    """Eight H100 hold the stages of a pipeline; the last one has the vocabulary and more to do, by design."""
    shares = (0.74, 0.78, 0.78, 0.78, 0.79, 0.78, 0.77, 0.93)
    return _differ(seed, "k4even1", H100, 8, _stages(H100, shares, polls=True))


def stages_with_a_bubble(seed: int) -> Scene:
    """Four A100 hold the stages of a pipeline; the first one rests in a bubble for a third of each step, by design."""
    more: Any = {"memory": lambda rank: 0.9 - 0.12 * rank}
    return _differ(seed, "k4even2", A100, 4, _stages(A100, (0.66, 0.8, 0.86, 0.9), polls=False), **more)


def stages_on_small_boards(seed: int) -> Scene:
    """Two RTX 4090 share a model by layers: one has two thirds of it, and the other waits for it, by design."""
    return _differ(seed, "k4even3", RTX_4090, 2, _stages(RTX_4090, (0.64, 0.4), polls=False), launcher="spawn")


# --- differences that wander or are small --------------------------------------------------------------------------
def load_of_experts_that_wanders(seed: int) -> Scene:
    """The load of the experts on eight B200 wanders from board to board within a minute; none is behind for long."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(LLM, level=0.85)
        heavy, light = work, mix((0.78, work), (0.22, wait_on(B200)))
        each_s = draw.between(9, 16)
        return lambda rank: cycle((each_s, heavy), (7 * each_s, light), shift_s=rank * each_s)

    return _differ(seed, "k4even4", B200, 8, does)


def logs_and_pictures_of_rank_zero(seed: int) -> Scene:
    """Rank 0 of eight A100 writes logs and draws pictures: it is three percent below its peers."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(CNN, level=0.9).but(util=97.0)
        return lambda rank: drifting(draw, work.at(0.965) if rank == 0 else work, depth=0.01)

    return _differ(seed, "k4even5", A100, 8, does)


def first_rank_validates_alone(seed: int) -> Scene:
    """Rank 0 of four V100 validates for half a minute of each four minutes, and the others wait for it."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(CNN)
        steps, for_s = train(work, step_s=0.9), draw.between(28, 34)
        alone, wait = validates(work), wait_on(V100)
        return lambda rank: with_pauses(steps, alone if rank == 0 else wait, every_s=240, for_s=for_s)

    return _differ(seed, "k4even6", V100, 4, does)


def short_slow_spell_of_one_board(seed: int) -> Scene:
    """One of eight H200 is slow for forty seconds once, and its job with it; gputop misses looks, power is late."""
    spell = lambda draw: {draw.whole(0, 7): from_then(500, 500 + draw.between(30, 45), clock=0.7)}
    work: _Ranks = lambda draw: lambda rank: drifting(draw, _same(draw, LLM), depth=0.02)
    disturb = [late_power(seed, 0.1), often_gaps(seed, each_s=90, from_s=3, to_s=7)]
    return _differ(seed, "k4even7", H200, 8, work, conditions=spell, disturb=disturb)


def _same(draw: Draw, work: Activity) -> Activity:
    return work.but(util=98.0, share=0.8)


def all_boards_slow_alike(seed: int) -> Scene:
    """All eight boards of a job on H100 run at 80 % of their clock since some minute, for a setting of the operator."""
    slow = lambda draw: dict.fromkeys(range(8), from_then(300, clock=0.8, reasons=("applications clocks",)))
    work: _Ranks = lambda draw: lambda rank: rippling(draw, _same(draw, LLM))
    return _differ(seed, "k4even8", H100, 8, work, conditions=slow, interval_s=2.0)


# --- no job in step ------------------------------------------------------------------------------------------------
def replicas_with_unequal_requests(seed: int) -> Scene:
    """Four replicas of a server on L40S get requests as they come; one gets half as many as the others."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(DECODE)
        return lambda rank: serves(draw, work, each_s=9 if rank == 2 else 4, for_s=12)

    more: Any = {"command": "python -m chat.server --port 8000 --replicas 4", "cgroup": service("chat")}
    return _differ(seed, "k4even9", L40S, 4, does, launcher="spawn", **more)


def unequal_trials_of_a_search(seed: int) -> Scene:
    """Four trials of a search on A100 have models of unequal size; none waits for another."""
    draw = Draw(seed, "k4even10")
    trials = [
        program(
            f"trial{n}", f"python trial.py --width {64 * 2**n}", n, drifting(draw, work), mib_of(A100, 0.2 + 0.15 * n)
        )
        for n, work in enumerate((CNN.at(0.6), CNN, FP32, draw.work(LORA)))
    ]
    return scene(seed, [A100] * 4, trials, 1200)


def learner_and_its_actors(seed: int) -> Scene:
    """One learner and three actors of an RL job on H100 do different work on their boards, by design."""

    def does(draw: Draw) -> Callable[[int], Part]:
        learns = cycle((20, draw.work(LLM)), (12, jammed(30)))
        plays = draw.work(DECODE)
        return lambda rank: script(learns) if rank == 0 else drifting(draw, plays)

    return _differ(seed, "k4even11", H100, 4, does, launcher="spawn", command="python grpo.py")
