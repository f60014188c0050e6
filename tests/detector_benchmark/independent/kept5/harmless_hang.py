"""Ranks that wait for each other for good reasons, and go on."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    COPY,
    DECODE,
    FP64,
    HOST,
    LLM,
    LORA,
    MANY,
    PREFILL,
    STENCIL,
    Activity,
)
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A100_40,
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
from detector_benchmark.independent.disturbances import bad_process_zeros, late_power, no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import ranks
from detector_benchmark.independent.scripts import Part, cycle, phases, sometimes, warmed
from detector_benchmark.independent.sketches import jammed, mib_of, scene, team
from detector_benchmark.independent.textures import rippling, saving, waits
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import since, train, validates, with_pauses

_Does = Callable[[Draw], Callable[[int], Part]]


def _goes_on(
    seed: int,
    name: str,
    board: Board,
    size: int,
    does: _Does,
    until_s: float = 1500,
    *,
    loads_s: float = 0.0,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    **more: Any,
) -> Scene:
    """Let a job go on for ever. ``loads_s``: when it takes its memory, if it is started at the beginning."""
    draw = Draw(seed, name)
    level_of = mib_of(board, draw.between(0.4, 0.9))
    memory = warmed(600, level_of(0.0), at_s=loads_s, over_s=25) if loads_s else level_of
    return team(seed, [board] * size, does(draw), memory, until_s, disturb=disturb(draw), **more)


def _turn_of(
    board: Board, work: Activity, turn: Callable[[Draw], Part], every_s: float, for_s: tuple[float, float], one: int = 0
) -> _Does:
    """Let one rank do something of its own in each period, while the others wait for it."""

    def does(draw: Draw) -> Callable[[int], Part]:
        steps, wait = rippling(draw, train(draw.work(work), step_s=1.4)), waits(draw, board)
        own, length_s = turn(draw), draw.between(*for_s)
        return lambda rank: with_pauses(steps, own if rank == one else wait, every_s=every_s, for_s=length_s)

    return does


# --- checkpoints and evaluations ------------------------------------------------------------------------------------
def state_gathered_on_rank_zero(seed: int) -> Scene:
    """Rank 0 of eight H200 gathers and writes the whole state for most of a minute in every six."""
    does = lambda draw: saving(draw, draw.work(LLM), H200, works_s=draw.between(280, 320), saves_s=draw.between(40, 58))
    return _goes_on(seed, "k5wait1", H200, 8, does, disturb=lambda draw: [late_power(draw.seed(), 0.08)])


def save_after_every_fifty_steps(seed: int) -> Scene:
    """Four A100 of 40 GB train for half a minute and wait for a slow disk as long, all day."""
    does = lambda draw: saving(
        draw, draw.work(LORA), A100_40, works_s=draw.between(25, 35), saves_s=draw.between(20, 30)
    )
    return _goes_on(seed, "k5wait2", A100_40, 4, does, 1200)


def upload_of_each_checkpoint(seed: int) -> Scene:
    """Rank 0 of eight B200 uploads its checkpoint for two minutes and a half in each twelve; its peers wait."""
    sends = lambda draw: jammed(draw.between(8, 35)).but(tx=20.0)
    return _goes_on(seed, "k5wait3", B200, 8, _turn_of(B200, LLM, sends, 720, (140, 170)), 1700, allows="straggler~")


def answers_generated_on_rank_zero(seed: int) -> Scene:
    """Rank 0 of four H100 generates sample answers on its board for four minutes of each sixteen; three wait for it."""
    turn = _turn_of(H100, LLM, lambda draw: draw.work(DECODE), 960, (220, 255))
    return _goes_on(seed, "k5wait4", H100, 4, turn, 2100, allows="straggler~")


def score_on_one_core_of_rank_zero(seed: int) -> Scene:
    """Rank 0 of eight A100 computes a score on one core for seven minutes after each epoch; the others wait at 100 %."""
    turn = _turn_of(A100, CNN, lambda draw: HOST.but(cpu=draw.between(98, 101)), 1080, (400, 440))
    return _goes_on(seed, "k5wait5", A100, 8, turn, 2300, allows="spin~ straggler~", interval_s=2.0)


def last_rank_of_an_evaluation(seed: int) -> Scene:
    """Rank 5 of eight H100 has the long samples of each evaluation: its board works three minutes longer than the others."""
    turn = _turn_of(H100, LLM, lambda draw: validates(draw.work(PREFILL)), 840, (170, 200), one=5)
    return _goes_on(seed, "k5wait6", H100, 8, turn, 1900, allows="straggler~", interval_s=2.0)


def field_written_by_one_rank(seed: int) -> Scene:
    """Rank 3 of four V100 writes the field of a climate model to a slow disk for two minutes of each seven."""
    turn = _turn_of(V100, STENCIL, lambda draw: jammed(draw.between(5, 25), "D"), 420, (110, 130), one=3)
    more: Any = {"launcher": "mpirun", "command": "./ocean -i run.nml", "allows": "straggler~"}
    return _goes_on(seed, "k5wait7", V100, 4, turn, **more)


# --- the start of a job ---------------------------------------------------------------------------------------------
def _begins(
    seed: int,
    name: str,
    board: Board,
    size: int,
    first: Callable[[Draw], Part],
    for_s: tuple[float, float],
    **more: Any,
) -> Scene:
    """Let rank 0 prepare something at the start, while the others wait at a barrier; then all train."""

    def does(draw: Draw) -> Callable[[int], Part]:
        own, wait, until_s = first(draw), waits(draw, board), draw.between(*for_s)
        steps = rippling(draw, train(draw.work(LORA), step_s=1.2))
        return lambda rank: phases(HOST, (draw.between(14, 22), own if rank == 0 else wait), (until_s, steps))

    return _goes_on(seed, name, board, size, does, for_s[1] + 500, loads_s=for_s[0], age_s=0.0, **more)


def weights_fetched_by_rank_zero(seed: int) -> Scene:
    """Rank 0 of four L40S fetches weights from the internet for four minutes before the first step; three wait."""
    fetch = lambda draw: jammed(draw.between(12, 30))
    return _begins(seed, "k5wait8", L40S, 4, fetch, (220, 255), allows="straggler~")


def texts_tokenized_by_rank_zero(seed: int) -> Scene:
    """Rank 0 of eight H200 tokenizes the texts on many cores for eight minutes, once, before the first step."""
    tokenize = lambda draw: MANY.but(cpu=draw.between(1200, 3000))
    return _begins(seed, "k5wait9", H200, 8, tokenize, (460, 500), allows="spin~ straggler~", interval_s=2.0)


def weights_copied_by_one_rank_after_the_other(seed: int) -> Scene:
    """Four RTX 3090 load their weights one after the other, a minute each, and wait at a barrier for the last one."""

    def does(draw: Draw) -> Callable[[int], Part]:
        wait, each_s = waits(draw, RTX_3090), draw.between(40, 55)
        steps = train(draw.work(LORA), step_s=1.1)
        ends = [15 + n * each_s for n in range(5)]
        return lambda rank: phases(HOST, (ends[rank], COPY), (ends[rank + 1], wait), (ends[4] + 5, steps))

    return _goes_on(seed, "k5wait10", RTX_3090, 4, does, 900, loads_s=30, age_s=0.0, allows="spin~")


def programs_compiled_on_all_hosts(seed: int) -> Scene:
    """Four ranks on GH200 compile their program for two to four minutes each, and wait for the last one to finish."""

    def does(draw: Draw) -> Callable[[int], Part]:
        wait, steps = waits(draw, GH200), train(draw.work(LLM), step_s=0.9)
        ends = [draw.between(110, 150), draw.between(120, 180), draw.between(225, 250), draw.between(110, 160)]
        return lambda rank: phases(HOST, (20, MANY.but(cpu=400.0)), (ends[rank], wait), (max(ends) + 1, steps))

    return _goes_on(
        seed, "k5wait11", GH200, 4, does, 900, loads_s=205, age_s=0.0, launcher="srun", allows="spin~ straggler~"
    )


# --- waits that belong to the work ----------------------------------------------------------------------------------
def learners_that_wait_for_rollouts(seed: int) -> Scene:
    """Four H100 learn for three minutes and wait in a broadcast for four, until other nodes have played, again and again."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work, wait = train(draw.work(LLM), step_s=1.5), waits(draw, H100)
        learns_s, waits_s = draw.between(150, 190), draw.between(200, 250)
        return lambda rank: cycle((waits_s, wait), (learns_s, work))

    return _goes_on(seed, "k5wait12", H100, 4, does, 1900, launcher="srun")


def gradients_over_a_home_network(seed: int) -> Scene:
    """Two RTX 5090 exchange gradients with another house: 20 s of work and 40 s of polling, for hours."""

    def does(draw: Draw) -> Callable[[int], Part]:
        wait = waits(draw, RTX_5090).but(rx=draw.between(60, 120), tx=draw.between(60, 120))
        work, works_s, waits_s = draw.work(LORA), draw.between(16, 26), draw.between(36, 44)
        return lambda rank: cycle((works_s, work), (waits_s, wait))

    return _goes_on(seed, "k5wait13", RTX_5090, 2, does, 1200)


def tensor_parallel_engine_between_requests(seed: int) -> Scene:
    """The four ranks of a server on A10G poll in a broadcast for a dozen minutes, until the next request comes."""

    def does(draw: Draw) -> Callable[[int], Part]:
        wait, work, shared = waits(draw, A10G), draw.work(DECODE), draw.seed()
        return lambda rank: sometimes(wait, each_s=720, part=work, for_s=45, seed=shared)

    more: Any = {
        "launcher": "mpirun",
        "command": "trtllm-serve model --port 8000 --tp_size 4",
        "cgroup": service("llm"),
    }
    return _goes_on(seed, "k5wait14", A10G, 4, does, 2000, allows="idle", **more)


def job_that_is_restarted_by_its_launcher(seed: int) -> Scene:
    """A worker of four A100 failed; the launcher ended all ranks and started them anew, and they train again."""
    draw = Draw(seed, "k5wait15")
    at_s = draw.between(300, 420)
    work, wait = train(draw.work(LLM), step_s=1.1), waits(draw, A100)
    again_s = at_s + 12
    again = since(again_s, phases(HOST, (25, COPY), (60, wait), (85, work)))
    memory = mib_of(A100, 0.6)
    actors = [
        *ranks(range(4), lambda rank: work, memory, name="old.", until_s=at_s),
        *ranks(range(4), lambda rank: again, memory, name="new.", from_s=again_s),
    ]
    return scene(seed, [A100] * 4, actors, at_s + 500)


def simulation_with_uneven_phases_seen_badly(seed: int) -> Scene:
    """Rank 1 of four H100 rebuilds its lists on the host for a minute and a half of each six; samples and values are lost."""
    turn = _turn_of(H100, FP64, lambda draw: MANY.but(cpu=draw.between(300, 700)), 360, (80, 100), one=1)
    bad = lambda draw: [
        often_gaps(draw.seed(), each_s=70, from_s=3, to_s=10),
        bad_process_zeros(draw.seed(), 0.02),
        no_process_values(draw.seed(), 0.03),
    ]
    more: Any = {"launcher": "mpirun", "command": "./granular -i hopper.in", "allows": "spin~ straggler~"}
    return _goes_on(seed, "k5wait16", H100, 4, turn, disturb=bad, **more)
