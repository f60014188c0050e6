"""Jobs whose ranks wait in a collective that never ends."""

from collections.abc import Callable

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, DISK, HOST, IDLE, LLM, LORA, MANY
from detector_benchmark.independent.boards import A100, B200, H100, H100_PCIE, H200, L40S, RTX_3090, TITAN_X, V100
from detector_benchmark.independent.disturbances import bad_process_zeros, faults, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, Script, cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import (
    ASLEEP,
    everyone,
    loads,
    saves,
    serves,
    steps_until,
    train,
    wait_on,
)
from detector_benchmark.independent.world import World


def _stuck(work: Script, at_s: float, wait: Part, odd: int = -1, odd_does: Part = ASLEEP) -> Callable[[int], Script]:
    """Return ranks that work until a time, then wait for ever; the odd one does something else."""
    return lambda rank: phases(work, (at_s, odd_does if rank == odd else wait))


def llm_rank_sleeps_on_a_lock(seed: int) -> Scene:
    """One of eight ranks of an LLM training stops at a lock of its tokenizer; seven spin in the all-reduce for ever."""
    draw = Draw(seed, "hang1")
    at_s, odd = draw.between(420, 900), draw.whole(0, 7)
    work = train(draw.work(LLM), step_s=draw.between(2, 5))
    actors = ranks(range(8), _stuck(work, at_s, COLLECTIVE, odd), level(draw.mib(H100)), launcher="srun")
    return Scene(
        world=World([H100] * 8, actors, seed=seed),
        until_s=at_s + 1000,
        wants=[want("hang", everyone(8), at_s, at_s + 750)],
        allows=allow("stalled idle~", f"rank{odd} gpu:{odd}"),
    )


def all_ranks_of_an_a100_node_wait_for_another_node(seed: int) -> Scene:
    """All four ranks here spin for a rank on another node that died. Steps of 20 s, gradients accumulate before."""
    draw = Draw(seed, "hang2")
    at_s = draw.between(500, 800)
    work = train(draw.work(LLM), step_s=20, talk=0.12)
    actors = ranks(range(4), _stuck(work, at_s, COLLECTIVE), level(draw.mib(A100)))
    return Scene(
        world=World([A100] * 4, actors, seed=seed),
        until_s=at_s + 1000,
        wants=[want("hang", everyone(4), at_s, at_s + 800)],
    )


def consumer_boards_without_p2p(seed: int) -> Scene:
    """Four RTX 3090 without P2P and PCIe counters freeze at a random step; the process of rank 2 burns a core."""
    draw = Draw(seed, "hang3")
    at_s, board = draw.between(200, 600), RTX_3090.without("pcie")
    work = train(draw.work(CNN), step_s=draw.between(0.2, 0.6), talk=0.25)
    actors = ranks(range(4), _stuck(work, at_s, wait_on(board), 2, HOST), level(draw.mib(board)), launcher="spawn")
    return Scene(
        world=World([board] * 4, actors, seed=seed),
        until_s=at_s + 1250,
        wants=[want("hang", everyone(4), at_s, at_s + 1100)],
        allows=allow("spin", "rank2 gpu:2"),
    )


def first_collective_never_ends(seed: int) -> Scene:
    """A wrong network interface: eight L40S load the model, then hang in their first collective."""
    draw = Draw(seed, "hang4")
    actors = ranks(
        range(8), lambda rank: loads(Draw(seed, "hang4"), wait_on(L40S)), level(draw.mib(L40S, 0.1, 0.3)), age_s=2.0
    )
    return Scene(
        world=World([L40S] * 8, actors, seed=seed),
        until_s=1300,
        wants=[want("hang", everyone(8), 20, 1150)],
        allows=allow("kernel~"),
    )


def one_rank_exits_and_its_peers_spin(seed: int) -> Scene:
    """The OOM killer of the host ends rank 5 of 8 (mpirun does not notice); seven ranks spin on."""
    draw = Draw(seed, "hang5")
    at_s = draw.between(350, 700)
    work = train(draw.work(CNN), step_s=0.4)
    actors = ranks(range(8), _stuck(work, at_s, COLLECTIVE), level(draw.mib(V100)), launcher="mpirun")
    actors = but(actors, "rank5", until_s=at_s)
    return Scene(
        world=World([V100] * 8, actors, seed=seed),
        until_s=at_s + 900,
        wants=[want("hang", everyone(8), at_s, at_s + 700)],
    )


def tensor_parallel_server_wedges_under_load(seed: int) -> Scene:
    """A vLLM server on four H100, busy all day, wedges: rank 0 spins in the all-gather, three workers are at 0 %."""
    draw = Draw(seed, "hang6")
    at_s = draw.between(500, 800)
    busy = serves(draw, draw.work(DECODE), each_s=4, for_s=12, rest=COLLECTIVE)
    command = "python3 -m vllm.entrypoints.openai.api_server --model m --tensor-parallel-size 4"
    does = _stuck(busy, at_s, ASLEEP.but(cpu=2), 0, COLLECTIVE)
    actors = ranks(range(4), does, level(75000), command=command, launcher="spawn")
    return Scene(
        world=World([H100] * 4, actors, seed=seed),
        until_s=at_s + 1700,
        wants=[want("hang stalled", everyone(4), at_s, at_s + 1600)],
        allows=allow("idle kernel stalled"),
    )


def loader_of_one_rank_waits_for_a_dead_file_server(seed: int) -> Scene:
    """The file server stops: rank 6 and its loaders are in D, the other ranks spin; none goes on."""
    draw = Draw(seed, "hang7")
    at_s = draw.between(300, 900)
    work = train(draw.work(CNN), step_s=draw.between(0.3, 0.9))
    actors = with_loaders(ranks(range(8), _stuck(work, at_s, COLLECTIVE, 6, DISK.but(cpu=0)), level(21000)), 1)
    actors = but(actors, "rank6.loader0", host=phases(IDLE.but(cpu=40), (at_s, DISK.but(cpu=0))))
    return Scene(
        world=World([A100] * 8, actors, seed=seed),
        until_s=at_s + 1000,
        wants=[want("hang", everyone(8), at_s, at_s + 800)],
        allows=allow("blocked stalled idle~", "rank6 gpu:6 rank6.loader0"),
    )


def rl_job_with_routine_waits_hangs(seed: int) -> Scene:
    """An RL job on eight B200: ranks wait 90 s for rollouts in each round. In one round the wait never ends."""
    draw = Draw(seed, "hang8")
    rounds = cycle((150, draw.work(LLM)), (90, COLLECTIVE), (60, MANY))
    at_s = 1350.0
    actors = ranks(range(8), _stuck(rounds, at_s, COLLECTIVE, 0), level(draw.mib(B200)), command="python -m verl.main")
    return Scene(
        world=World([B200] * 8, actors, seed=seed),
        until_s=at_s + 1300,
        wants=[want("hang", everyone(8), at_s, at_s + 1100)],
        allows=(*allow("hang~ launch~"), *allow("stalled idle", "rank0 gpu:0")),
    )


def two_old_boards_without_process_utilization(seed: int) -> Scene:
    """Two TITAN X, whose driver gives no utilization per process, hang after some epochs of training."""
    draw = Draw(seed, "hang9")
    at_s = draw.between(600, 1000)
    work = train(draw.work(CNN), step_s=0.5, talk=0.15)
    actors = ranks(range(2), _stuck(work, at_s, wait_on(TITAN_X)), level(draw.mib(TITAN_X)), launcher="spawn")
    return Scene(
        world=World([TITAN_X] * 2, actors, seed=seed),
        until_s=at_s + 1000,
        wants=[want("hang", everyone(2), at_s, at_s + 850)],
    )


def checkpoint_that_never_ends(seed: int) -> Scene:
    """Rank 0 saves for 40 s every 5 min. One save never ends, as its disk is full: seven ranks spin."""
    draw = Draw(seed, "hang10")
    work = saves(train(draw.work(LLM), step_s=3), every_s=300, for_s=40)
    at_s = 860.0
    does = lambda rank: phases(work(rank), (at_s, ASLEEP if rank == 0 else COLLECTIVE))
    actors = ranks(range(8), does, level(draw.mib(H200)))
    return Scene(
        world=World([H200] * 8, actors, seed=seed),
        until_s=at_s + 1100,
        wants=[want("hang", everyone(8), at_s, at_s + 900)],
        allows=allow("stalled idle~", "rank0 gpu:0"),
    )


def hang_seen_through_gaps_and_zeros(seed: int) -> Scene:
    """Sixteen ranks hang; gputop loses 3 to 12 s each minute, and reads zeros and faults now and then."""
    draw = Draw(seed, "hang11")
    at_s = draw.between(300, 500)
    work = train(draw.work(LLM), step_s=draw.between(8, 12))
    actors = ranks(range(16), _stuck(work, at_s, COLLECTIVE, 11), level(draw.mib(H100)), launcher="srun")
    return Scene(
        world=World([H100] * 16, actors, seed=seed),
        until_s=at_s + 1000,
        wants=[want("hang", everyone(16), at_s, at_s + 900)],
        allows=allow("stalled idle~", "rank11 gpu:11"),
        disturbances=[
            often_gaps(draw.seed(), each_s=60, from_s=3, to_s=12),
            bad_process_zeros(draw.seed(), 0.01),
            faults(draw.seed(), 0.01, "power_average_w", "gpu_utilization_percent"),
        ],
    )


def gputop_starts_long_after_the_hang(seed: int) -> Scene:
    """A LoRA training on two H100 PCIe has hung for hours when gputop starts; its log says when the last step was."""
    draw = Draw(seed, "hang12")
    actors = ranks(
        range(2),
        lambda rank: phases(wait_on(H100_PCIE)),
        level(draw.mib(H100_PCIE)),
        age_s=40000.0,
        steps=steps_until(-9000.0, each_s=7),
    )
    return Scene(
        world=World([H100_PCIE] * 2, actors, seed=seed),
        until_s=1200,
        wants=[want("hang", everyone(2), 0, 1000)],
        allows=allow("stalled kernel~"),
    )


def lora_hang_in_steps_of_a_minute(seed: int) -> Scene:
    """Three ranks with steps of 60 s and 8 s of CPU work in each; rank 1 of them loops on the CPU for ever."""
    draw = Draw(seed, "hang13")
    at_s = draw.between(700, 1000)
    work = train(draw.work(LORA), step_s=60, talk=0.05, host=0.13)
    actors = ranks(range(3), _stuck(work, at_s, wait_on(L40S), 1, HOST), level(draw.mib(L40S)))
    return Scene(
        world=World([L40S] * 3, actors, seed=seed, interval_s=2.0),
        until_s=at_s + 1300,
        wants=[want("hang", everyone(3), at_s, at_s + 1150)],
        allows=allow("spin", "rank1 gpu:1"),
    )
