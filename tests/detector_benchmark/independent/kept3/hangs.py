"""Jobs whose ranks wait in a collective that will never end."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    DISK,
    FP64,
    HOST,
    IDLE,
    LLM,
    LORA,
    PREFILL,
)
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    B200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import Disturbance, bad_process_zeros, often_gaps, raw_255
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, Script, cycle
from detector_benchmark.independent.sketches import mib_of, scene, turns, well_fed
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, loads, saves, train, wait_on

_OK = "stalled idle~"


def _hang(
    seed: int,
    draw: Draw,
    boards: Sequence[Board],
    work: Part,
    *,
    at_s: float,
    odd: int | None = None,
    odd_does: Part = ASLEEP,
    by_s: float = 720,
    kinds: str = "hang",
    allows: str = _OK,
    launcher: str = "torchrun",
    command: str = "python -u train.py --config configs/base.yaml",
    loaders: int = 0,
    disturb: Sequence[Disturbance] = (),
    **more: Any,
) -> Scene:
    """Let the ranks work, then wait from a time on; the odd one does something else. The watch goes on for 3 min."""
    size = len(boards)

    def does(rank: int) -> Script:
        return turns(work, at_s, odd_does if rank == odd else wait_on(boards[rank]))

    actors = ranks(
        range(size), does, mib_of(boards[0], draw.between(0.4, 0.85)), launcher=launcher, command=command, **more
    )
    wants = want(kinds, everyone(size), at_s, at_s + by_s)
    actors = with_loaders(actors, loaders, well_fed(draw)) if loaders else actors
    return scene(seed, boards, actors, at_s + by_s + 180, wants, allows=allows, disturb=disturb)


def shapes_differ_between_the_ranks_of_a_node(seed: int) -> Scene:
    """Eight H100 train for some minutes, then all of them wait in an all-reduce: one called it with another shape."""
    draw = Draw(seed, "k3hang1")
    return _hang(seed, draw, [H100] * 8, train(draw.work(LLM), step_s=4), at_s=draw.between(400, 900))


def one_rank_sleeps_on_a_lock(seed: int) -> Scene:
    """Rank 2 of four A100 sleeps on a lock of its logger, at 0 %; the others poll for it."""
    draw = Draw(seed, "k3hang2")
    return _hang(
        seed,
        draw,
        [A100] * 4,
        train(draw.work(CNN), step_s=0.5),
        at_s=draw.between(350, 700),
        odd=2,
        kinds="hang stalled",
        loaders=4,
    )


def ranks_without_peer_access_poll_host_memory(seed: int) -> Scene:
    """Four L40S without P2P wait for each other for ever and poll over PCIe; before, their gradients took it, too."""
    draw = Draw(seed, "k3hang3")
    return _hang(
        seed, draw, [L40S] * 4, train(draw.work(LORA), step_s=2), at_s=draw.between(400, 800), launcher="spawn"
    )


def peer_was_killed_for_memory(seed: int) -> Scene:
    """The kernel killed rank 1 of two RTX 4090 for its memory; rank 0 polls alone, and its launcher does not see it."""
    draw = Draw(seed, "k3hang4")
    at_s, work = draw.between(400, 700), train(draw.work(LORA), step_s=3)
    actors = ranks(
        range(2), lambda rank: turns(work, at_s, wait_on(RTX_4090)), mib_of(RTX_4090, 0.8), launcher="bash run.sh"
    )
    wants = want("hang", "rank.job rank0 gpu:0 gpu:1", at_s, at_s + 780)
    return scene(seed, [RTX_4090] * 2, but(actors, "rank1", until_s=at_s), at_s + 960, wants, allows="stalled kernel")


def first_broadcast_never_ends(seed: int) -> Scene:
    """Four T4 load their model, then wait in the first broadcast of the weights: a firewall eats their packets."""
    draw = Draw(seed, "k3hang5")
    does = lambda rank: loads(draw, wait_on(T4))
    actors = ranks(range(4), does, mib_of(T4, 0.3), age_s=0.0)
    return scene(seed, [T4] * 4, actors, 1500, want("hang", everyone(4), 120, 1380), allows=_OK)


def gputop_came_after_the_hang(seed: int) -> Scene:
    """Four H100 of a job of two hours poll, one is at 0 % and sleeps: gputop never saw it work. It stays so."""
    draw = Draw(seed, "k3hang6")
    odd = draw.whole(0, 3)
    does = lambda rank: ASLEEP if rank == odd else COLLECTIVE
    actors = ranks(range(4), does, mib_of(H100, 0.9), age_s=7200.0, launcher="mpirun")
    return scene(seed, [H100] * 4, actors, 1500, want("hang", everyone(4), 0, 1320), allows=_OK)


def rank_zero_is_in_an_endless_loop(seed: int) -> Scene:
    """Rank 0 of eight burns one core in a loop over its metrics that never ends; seven wait. After 20 min that is sure."""
    draw = Draw(seed, "k3hang7")
    return _hang(
        seed,
        draw,
        [H100] * 8,
        train(draw.work(LLM), step_s=5),
        at_s=400,
        odd=0,
        odd_does=HOST,
        by_s=1260,
        allows=f"{_OK} spin",
    )


def rank_of_sixteen_is_blocked_by_a_dead_server(seed: int) -> Scene:
    """The file server of rank 9 of sixteen died as it read a shard: it is in D for good, fifteen H200 poll."""
    draw = Draw(seed, "k3hang8")
    odd = IDLE.but(cpu=0.0, state="D")
    return _hang(
        seed,
        draw,
        [H200] * 16,
        train(draw.work(LLM), step_s=8),
        at_s=draw.between(300, 500),
        odd=9,
        odd_does=odd,
        kinds="hang blocked",
        allows=f"{_OK} blocked",
        launcher="srun",
    )


def stages_of_a_pipeline_wait_for_each_other(seed: int) -> Scene:
    """Two stages of a pipeline of four send at once and none receives: all four A100 wait from then on."""
    draw = Draw(seed, "k3hang9")
    work = cycle((3, draw.work(LLM)), (1, COLLECTIVE))
    command = "python pretrain_gpt.py --pipeline-model-parallel-size 4"
    return _hang(seed, draw, [A100] * 4, work, at_s=draw.between(500, 900), command=command, launcher="srun")


def sharded_hang_seen_badly(seed: int) -> Scene:
    """An FSDP job of eight H100 hangs; gputop loses seconds often, and the driver says 0 % of a process now and then."""
    draw = Draw(seed, "k3hang10")
    disturb = [often_gaps(draw.seed(), each_s=60, from_s=2, to_s=8), bad_process_zeros(draw.seed(), 0.008)]
    return _hang(
        seed, draw, [H100] * 8, train(draw.work(LLM), step_s=3), at_s=draw.between(400, 700), by_s=900, disturb=disturb
    )


def third_checkpoint_never_ends(seed: int) -> Scene:
    """Rank 0 saves every 4 min for 20 s; the third save hits a full disk and waits for ever, with its seven peers."""
    draw = Draw(seed, "k3hang11")
    work = saves(train(draw.work(LLM), step_s=6), every_s=240, for_s=20)
    does = lambda rank: turns(work(rank), 705, DISK.but(cpu=0.3) if rank == 0 else COLLECTIVE)
    actors = ranks(range(8), does, mib_of(B200, 0.7))
    wants = want("hang blocked", everyone(8), 705, 705 + 1080)
    return scene(seed, [B200] * 8, actors, 705 + 1260, wants, allows=f"{_OK} blocked")


def worker_of_a_tensor_parallel_engine_died(seed: int) -> Scene:
    """An offline vLLM job over four A100: the worker of GPU 3 died in the middle of its batch, the others poll on."""
    draw = Draw(seed, "k3hang12")
    at_s = draw.between(500, 900)
    work = cycle((4, draw.work(PREFILL)), (16, draw.work(DECODE)))
    command = "python generate_offline.py --tensor-parallel-size 4 --input prompts.jsonl"
    actors = ranks(
        range(4), lambda rank: turns(work, at_s, COLLECTIVE), mib_of(A100, 0.9), launcher="spawn", command=command
    )
    wants = want("hang", everyone(4), at_s, at_s + 780)
    return scene(seed, [A100] * 4, but(actors, "rank3", until_s=at_s), at_s + 960, wants, allows=_OK)


def old_boards_of_an_mpi_job(seed: int) -> Scene:
    """A solver on eight V100 stops in an exchange of ghost cells; the old driver says 255 % of a process at times."""
    draw = Draw(seed, "k3hang13")
    return _hang(
        seed,
        draw,
        [V100] * 8,
        draw.work(FP64),
        at_s=draw.between(300, 600),
        launcher="mpirun",
        command="./nek5000 channel.rea",
        disturb=[raw_255(draw.seed(), 0.01)],
        by_s=840,
    )


def container_job_with_few_readings(seed: int) -> Scene:
    """Three A100 of a container hang; their driver gives neither PCIe nor NVLink, and no utilization of a process."""
    draw = Draw(seed, "k3hang14")
    board = A100_40.without("pcie", "process utilization")
    return _hang(
        seed,
        draw,
        [board] * 3,
        train(draw.work(CNN), step_s=1),
        at_s=draw.between(400, 700),
        cgroup=docker("b"),
        by_s=840,
    )


def hang_in_the_middle_of_an_evaluation(seed: int) -> Scene:
    """Two RTX 3090 evaluate for 40 s in each 5 min; in one evaluation the ranks have uneven batches and never meet."""
    draw = Draw(seed, "k3hang15")
    work = draw.work(CNN).but(nv=0)
    steps = cycle((260, train(work, step_s=1)), (40, work.at(0.7)))
    return _hang(seed, draw, [RTX_3090] * 2, steps, at_s=890, loaders=6)


def desktop_cards_of_a_lab(seed: int) -> Scene:
    """Rank 5 of six A6000 stopped at a breakpoint that its user forgot; five poll at 100 %, over host memory."""
    draw = Draw(seed, "k3hang16")
    return _hang(
        seed,
        draw,
        [A6000] * 6,
        train(draw.work(LORA), step_s=2),
        at_s=draw.between(300, 600),
        odd=5,
        kinds="hang stalled",
    )
