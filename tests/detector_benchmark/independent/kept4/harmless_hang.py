"""Ranks that wait for each other, and go on."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    FP64,
    HOST,
    LLM,
    LORA,
    MANY,
    PREFILL,
    Activity,
    mix,
)
from detector_benchmark.independent.actors import service
from detector_benchmark.independent.boards import A100, B200, H100, H200, L4, L40S, RTX_4090, V100, Board
from detector_benchmark.independent.disturbances import Disturbance, bad_process_zeros, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import ranks
from detector_benchmark.independent.scripts import Part, cycle, phases, sometimes
from detector_benchmark.independent.sketches import jammed, mib_of, scene
from detector_benchmark.independent.textures import dipping, saving, waits
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import EXCHANGE, train, wait_on, with_pauses

_Parts = Callable[[Draw], Callable[[int], Part]]


def _goes_on(
    seed: int,
    name: str,
    boards: Sequence[Board],
    does: _Parts,
    *,
    until_s: float = 1500,
    disturb: Callable[[Draw], Sequence[Disturbance]] = lambda draw: (),
    interval_s: float = 1.0,
    allows: str = "",
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    actors = ranks(range(len(boards)), does(draw), mib_of(boards[0], draw.between(0.4, 0.9)), **more)
    return scene(seed, boards, actors, until_s, disturb=disturb(draw), interval_s=interval_s, allows=allows)


# --- checkpoints, as recorded --------------------------------------------------------------------------------------
def checkpoint_after_each_few_steps(seed: int) -> Scene:
    """Eight H100 train for three seconds, then seven of them wait twenty for rank 0 to write, all the time."""
    does = lambda draw: saving(draw, draw.work(LLM), H100, works_s=draw.between(3, 4), saves_s=draw.between(15, 24))
    return _goes_on(seed, "k4wait1", [H100] * 8, does)


def checkpoint_to_a_slower_and_slower_disk(seed: int) -> Scene:
    """Four A100 train for 23 s, then wait for a checkpoint: 15 s at first, and nearly a minute after a while."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(LLM)
        quick = saving(draw, work, A100, works_s=23, saves_s=15)
        slow = saving(draw, work, A100, works_s=23, saves_s=draw.between(48, 58))
        return lambda rank: phases(quick(rank), (600, slow(rank)))

    return _goes_on(seed, "k4wait2", [A100] * 4, does, interval_s=2.0)


def checkpoint_every_four_minutes(seed: int) -> Scene:
    """Eight B200 train for four minutes, then wait a minute for rank 0; power is late in some looks."""
    does = lambda draw: saving(draw, draw.work(LLM), B200, works_s=235, saves_s=draw.between(50, 70))
    return _goes_on(seed, "k4wait3", [B200] * 8, does, disturb=lambda draw: [late_power(draw.seed(), 0.1)])


# --- rank 0 works on the host --------------------------------------------------------------------------------------
def _rank_zero(
    draw: Draw, board: Board, work: Activity, host: Activity, every_s: float, for_s: float
) -> Callable[[int], Part]:
    """Let rank 0 work on the host for a while in each period, while the others wait for it."""
    steps, wait = train(draw.work(work), step_s=1.8), waits(draw, board)
    return lambda rank: with_pauses(steps, host if rank == 0 else wait, every_s=every_s, for_s=for_s)


def boxes_are_scored_on_rank_zero(seed: int) -> Scene:
    """Rank 0 of eight A100 scores boxes on one core for six minutes after each epoch of ten; the others wait."""
    does = lambda draw: _rank_zero(draw, A100, CNN, HOST, 960, draw.between(330, 400))
    return _goes_on(seed, "k4wait4", [A100] * 8, does, until_s=2400, allows="spin~")


def answers_are_judged_on_rank_zero(seed: int) -> Scene:
    """Rank 0 of four H200 judges answers by tests on many cores for eight minutes; the others wait at 100 %."""
    does = lambda draw: _rank_zero(draw, H200, LORA, MANY, 1080, draw.between(440, 500))
    return _goes_on(seed, "k4wait5", [H200] * 4, does, until_s=2300, allows="spin~")


def index_is_built_on_rank_zero(seed: int) -> Scene:
    """Rank 0 of four L40S without NVLink builds an index on the host for seven minutes; the others poll over PCIe."""
    does = lambda draw: _rank_zero(draw, L40S, LORA, MANY.but(cpu=430.0), 1000, draw.between(390, 440))
    return _goes_on(seed, "k4wait6", [L40S] * 4, does, until_s=2200, launcher="mpirun", allows="spin~")


def checkpoint_is_packed_on_rank_zero(seed: int) -> Scene:
    """Rank 0 of eight H100 packs its checkpoint on one core for five minutes; gputop misses looks meanwhile."""
    does = lambda draw: _rank_zero(draw, H100, LLM, HOST.but(tx=40), 800, draw.between(290, 330))
    gaps = lambda draw: [often_gaps(draw.seed(), each_s=60, from_s=3, to_s=9), bad_process_zeros(draw.seed(), 0.01)]
    return _goes_on(seed, "k4wait7", [H100] * 8, does, until_s=1900, disturb=gaps, allows="spin~")


# --- servers that wait for requests inside a collective ------------------------------------------------------------
def _serves_together(draw: Draw, board: Board, work: Activity) -> Callable[[int], Part]:
    wait, seed = waits(draw, board), draw.seed()
    return lambda rank: sometimes(wait, each_s=700, part=draw.work(work), for_s=40, seed=seed)


def tensor_parallel_server_at_night(seed: int) -> Scene:
    """The eight ranks of a language server on H100 wait in a collective for ten minutes between requests."""
    more: Any = {"command": "python -m vllm.entrypoints.openai.api_server -tp 8 --port 8000", "cgroup": service("llm")}
    does = lambda draw: _serves_together(draw, H100, DECODE)
    return _goes_on(seed, "k4wait8", [H100] * 8, does, launcher="spawn", until_s=2000, allows="idle", **more)


def another_server_on_small_boards(seed: int) -> Scene:
    """The four ranks of a server on L4, started as a module, poll host memory until the next request comes."""
    more: Any = {"command": "python -m sglang.launch_server --tp 4 --port 30000", "cgroup": service("chat")}
    does = lambda draw: _serves_together(draw, L4, PREFILL)
    return _goes_on(seed, "k4wait9", [L4] * 4, does, launcher="spawn", until_s=2000, allows="idle", **more)


# --- others --------------------------------------------------------------------------------------------------------
def data_set_prepared_before_the_first_step(seed: int) -> Scene:
    """Rank 0 of eight H100 prepares the data set on many cores for seven minutes; the others wait at a barrier."""

    def does(draw: Draw) -> Callable[[int], Part]:
        at_s, wait, work = draw.between(400, 450), waits(draw, H100), train(draw.work(LLM), step_s=2)
        return lambda rank: phases(HOST, (25, MANY if rank == 0 else wait), (at_s, work))

    return _goes_on(seed, "k4wait10", [H100] * 8, does, until_s=900, age_s=0.0, allows="spin~")


def exchange_over_a_slow_network(seed: int) -> Scene:
    """Two of the ranks of four V100 nodes exchange gradients over Ethernet: 30 s of work, 50 s of waiting, for ever."""

    def does(draw: Draw) -> Callable[[int], Part]:
        slow = COLLECTIVE.but(rx=draw.between(90, 140), tx=draw.between(90, 140), noise=0.1)
        work, works_s = draw.work(CNN), draw.between(25, 35)
        return lambda rank: cycle((works_s, work), (50, slow))

    return _goes_on(seed, "k4wait11", [V100] * 4, does, launcher="mpirun")


def short_turns_of_rank_zero(seed: int) -> Scene:
    """Rank 0 of two V100 is at 0 % for three seconds of each thirteen, and its peer at 100 % and low power: healthy."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work = draw.work(CNN)
        return lambda rank: dipping(draw, work, jammed(60, "R") if rank == 0 else wait_on(V100), every_s=13, for_s=4)

    return _goes_on(seed, "k4wait12", [V100] * 2, does, launcher="spawn", until_s=900)


def outer_steps_of_a_training_far_apart(seed: int) -> Scene:
    """Two RTX 4090 train alone for six minutes and then average their weights with others for three, on and on."""

    def does(draw: Draw) -> Callable[[int], Part]:
        alone = train(draw.work(LORA), step_s=1, is_alone=True)
        average = mix((0.9, wait_on(RTX_4090)), (0.1, EXCHANGE.but(nv=0.0, rx=900.0, tx=900.0)))
        return lambda rank: with_pauses(alone, average, every_s=540, for_s=draw.between(170, 185))

    return _goes_on(seed, "k4wait13", [RTX_4090] * 2, does, until_s=2200)


def host_phases_of_a_simulation(seed: int) -> Scene:
    """Rank 2 of four H100 reads the next input on the host for four minutes in each quarter of an hour."""

    def does(draw: Draw) -> Callable[[int], Part]:
        work, wait = train(draw.work(FP64), step_s=1.2), waits(draw, H100)
        reads = jammed(draw.between(12, 30), "D")
        return lambda rank: with_pauses(work, reads if rank == 2 else wait, every_s=900, for_s=draw.between(215, 230))

    return _goes_on(seed, "k4wait14", [H100] * 4, does, until_s=2300, launcher="mpirun", command="./climate -i run.nml")
