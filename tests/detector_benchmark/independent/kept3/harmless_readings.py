"""Healthy work with bad readings: gaps, zeros, 255 %, jumps of the clock, missing values, hidden processes."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, FP64, LLM, LORA, Activity
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
    A6000,
    B200,
    GTX_1080_TI,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import (
    Disturbance,
    bad_gpu_zeros,
    bad_process_zeros,
    clock_jump,
    faults,
    gaps,
    hidden_hosts,
    lost_memory,
    no_process_values,
    often_gaps,
    raw_255,
    zero_memory,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.sketches import mib_of, scene, well_fed
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import train
from msgspec.structs import replace

from gputop.core.model.sample import Sample


def _one(
    seed: int, draw: Draw, board: Board, work: Activity, *disturb: Disturbance, until_s: float = 1500, **more: Any
) -> Scene:
    """Train on one board, with loaders that keep up, and read it badly."""
    does = train(draw.work(work).but(nv=0), step_s=draw.between(0.3, 2), is_alone=True)
    actor = program("job", "python train.py", 0, does, mib_of(board, draw.between(0.3, 0.8)), **more)
    return scene(seed, [board], [actor, *loaders(actor, 3, well_fed(draw))], until_s, disturb=disturb)


def _many(seed: int, draw: Draw, boards: Sequence[Board], work: Activity, *disturb: Disturbance) -> Scene:
    does = train(draw.work(work), step_s=draw.between(1, 6))
    return scene(
        seed, boards, ranks(range(len(boards)), lambda rank: does, mib_of(boards[0], 0.7)), 1500, disturb=disturb
    )


def zeros_of_processes(seed: int) -> Scene:
    """A job of eight H100 works; in 3 % of the samples a process is charged with 0 %."""
    draw = Draw(seed, "k3read1")
    return _many(seed, draw, [H100] * 8, LLM, bad_process_zeros(draw.seed(), 0.03))


def zeros_of_boards(seed: int) -> Scene:
    """Single samples say 0 % and 0 W of a board in full work."""
    draw = Draw(seed, "k3read2")
    return _many(seed, draw, [A100] * 4, LLM, bad_gpu_zeros(draw.seed(), 0.01))


def values_of_255_percent(seed: int) -> Scene:
    """An old driver says 255 % of a process in one sample of fifty."""
    draw = Draw(seed, "k3read3")
    return _one(seed, draw, V100, CNN, raw_255(draw.seed(), 0.02))


def clock_of_the_host_jumps_forward(seed: int) -> Scene:
    """The clock of the host is set forward by an hour in the middle of a training."""
    draw = Draw(seed, "k3read4")
    return _one(seed, draw, L40S, LORA, clock_jump(draw.between(500, 800), 3600))


def clock_of_the_host_is_set_back(seed: int) -> Scene:
    """The clock of the host is set back by 90 s."""
    draw = Draw(seed, "k3read5")
    return _one(seed, draw, RTX_4090, CNN, clock_jump(draw.between(500, 800), -90))


def laptop_sleeps_for_ten_minutes(seed: int) -> Scene:
    """gputop takes no sample for ten minutes, as its machine was suspended; the work goes on before and after."""
    draw = Draw(seed, "k3read6")
    return _one(seed, draw, RTX_3090, LORA, gaps((draw.between(400, 600), 600)), until_s=1900)


def gaps_at_random(seed: int) -> Scene:
    """gputop loses 3 to 20 s at random times in a job of sixteen boards."""
    draw = Draw(seed, "k3read7")
    return _many(seed, draw, [H200] * 16, LLM, often_gaps(draw.seed(), each_s=60, from_s=3, to_s=20))


def utilization_of_processes_is_missing_at_times(seed: int) -> Scene:
    """A third of the samples has no utilization of the processes yet."""
    draw = Draw(seed, "k3read8")
    return _many(seed, draw, [A6000] * 2, LORA, no_process_values(draw.seed(), 0.33))


def memory_cannot_be_read_at_times(seed: int) -> Scene:
    """The memory of the process cannot be read in a tenth of the samples, and is 0 in a few."""
    draw = Draw(seed, "k3read9")
    return _one(seed, draw, H100, LLM, lost_memory(draw.seed(), 0.1), zero_memory(draw.seed(), 0.01), until_s=2200)


def power_fails_to_be_read_at_times(seed: int) -> Scene:
    """Power and temperature of a T4 cannot be read in 5 % of the samples."""
    draw = Draw(seed, "k3read10")
    return _one(seed, draw, T4, FP32, faults(draw.seed(), 0.05, "power_average_w", "power_instant_w", "temperature_c"))


def training_of_another_user(seed: int) -> Scene:
    """The training belongs to another user: gputop does not see what it does on the CPU."""
    draw = Draw(seed, "k3read11")
    pids = [4000 + 37 * n for n in range(4)]
    return _one(seed, draw, L40S, CNN, hidden_hosts(*pids), user="root")


def board_with_few_readings(seed: int) -> Scene:
    """A GTX 1080 Ti gives neither PCIe nor the utilization of a process; it trains well."""
    draw = Draw(seed, "k3read12")
    return _one(seed, draw, GTX_1080_TI, CNN)


def gputop_in_a_container(seed: int) -> Scene:
    """gputop runs in a container: 20 GiB of each board belong to processes that it cannot see."""
    draw = Draw(seed, "k3read13")
    hidden = program("hidden", "hidden", 0, draw.work(LORA).at(0.5), mib_of(A100, 0.25))
    hidden = replace(hidden, uses=tuple(replace(use, is_listed=False) for use in hidden.uses))
    mine = program("mine", "python train.py", 0, draw.work(CNN).at(0.5), mib_of(A100, 0.3), cgroup=docker("a"))
    return scene(seed, [A100], [mine, hidden], 1500, is_in_container=True, disturb=[_only_mine])


def _only_mine(sample: Sample) -> Sample:
    """Hide the processes of other containers."""
    return replace(sample, relatives=tuple(one for one in sample.relatives if one.command != "hidden"))


def instances_without_utilization(seed: int) -> Scene:
    """Two processes work in MIG instances of an A100, whose utilization no driver gives."""
    draw = Draw(seed, "k3read14")
    actors = [
        program(f"job{n}", "python train.py", 0, draw.work(LORA, level=0.35).but(nv=0), mib, instance=n)
        for n, mib in ((1, mib_of(A100_MIG, 0.3)), (2, mib_of(A100_MIG, 0.15)))
    ]
    return scene(seed, [A100_MIG], actors, 1600)


def everything_at_once(seed: int) -> Scene:
    """A job on two B200 works well, with gaps, zeros, 255 %, faults and a small jump of the clock."""
    draw = Draw(seed, "k3read15")
    return _many(
        seed,
        draw,
        [B200] * 2,
        LLM,
        often_gaps(draw.seed(), each_s=90, from_s=2, to_s=9),
        bad_process_zeros(draw.seed(), 0.01),
        raw_255(draw.seed(), 0.005),
        faults(draw.seed(), 0.01, "power_average_w", "power_instant_w"),
        clock_jump(700, -3),
    )


def old_board_in_double_precision(seed: int) -> Scene:
    """A TITAN X computes at a low clock in double precision for hours, without the utilization of processes."""
    draw = Draw(seed, "k3read16")
    return _one(seed, draw, TITAN_X, FP64, bad_gpu_zeros(draw.seed(), 0.003))


def server_read_every_other_second(seed: int) -> Scene:
    """A server in full work; every other sample is lost for the first minutes, as the machine is loaded."""
    draw = Draw(seed, "k3read17")
    lost = gaps(*((2.0 * n, 1.0) for n in range(200)))
    return _one(seed, draw, A100, DECODE, lost)
