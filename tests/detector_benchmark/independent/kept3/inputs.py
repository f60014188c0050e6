"""Trainings that wait for their data most of the time."""

from typing import Any

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP32, IDLE, LLM, LORA, Activity, mix
from detector_benchmark.independent.actors import slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_PCIE,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, scene, turns, well_fed
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone

_WAITS = IDLE.but(cpu=4)
_DISK = Activity(cpu=9, state="D")


def _full(draw: Draw) -> Activity:
    return Activity(cpu=draw.between(93, 100), state="R")


def _starves(
    seed: int,
    draw: Draw,
    board: Board,
    work: Part,
    workers: int,
    *,
    each_does: Activity | None = None,
    command: str = "python train.py",
    until_s: float = 900,
    by_s: float = 700,
    disturb: Any = (),
    beside: Any = (),
    **more: Any,
) -> Scene:
    actor = program("train", command, 0, work, mib_of(board, draw.between(0.2, 0.7)), **more)
    children = loaders(actor, workers, each_does or _full(draw))
    wants = want("input", "train gpu:0", 0, by_s)
    return scene(seed, [board], [*beside, actor, *children], until_s, wants, disturb=disturb)


def _duty(work: Activity, share: float) -> Activity:
    """Return work for a share of each second; it waits for data in the rest."""
    return mix((share, work.but(nv=0, cpu=60, thread=60)), (1 - share, _WAITS))


def four_loaders_decode_large_images(seed: int) -> Scene:
    """Four loaders decode photographs at full load; an A100 works a third of each second."""
    draw = Draw(seed, "k3input1")
    return _starves(seed, draw, A100, _duty(draw.work(CNN), draw.between(0.25, 0.4)), 4)


def one_loader_for_a_fast_board(seed: int) -> Scene:
    """A single loader at full load feeds an RTX 4090 that is busy for a fifth of the time."""
    draw = Draw(seed, "k3input2")
    return _starves(seed, draw, RTX_4090, _duty(draw.work(CNN), draw.between(0.15, 0.25)), 1, beside=desktop())


def steps_wait_for_video_for_many_seconds(seed: int) -> Scene:
    """Each batch of video needs 15 s of eight full loaders and 6 s of an H100."""
    draw = Draw(seed, "k3input3")
    work = cycle((draw.between(5, 7), draw.work(LLM).but(nv=0)), (draw.between(13, 17), _WAITS))
    return _starves(seed, draw, H100, work, 8, until_s=1200, by_s=1000)


def disk_is_too_slow_for_its_readers(seed: int) -> Scene:
    """Twelve loaders wait for a spinning disk, in D nearly all of the time; the L40S has work for a quarter of it."""
    draw = Draw(seed, "k3input4")
    work = cycle((2, draw.work(CNN).but(nv=0)), (6, _WAITS))
    return _starves(seed, draw, L40S, work, 12, each_does=_DISK)


def four_ranks_that_all_starve(seed: int) -> Scene:
    """Four ranks of a Slurm job with two loaders each, all at full load: no V100 is busier than 40 %."""
    draw = Draw(seed, "k3input5")
    work = _duty(draw.work(CNN), draw.between(0.25, 0.4))
    actors = with_loaders(ranks(range(4), lambda rank: work, mib_of(V100, 0.5), launcher="srun"), 2, _full(draw))
    return scene(seed, [V100] * 4, actors, 900, want("input", everyone(4), 0, 700))


def page_cache_was_lost(seed: int) -> Scene:
    """A training ran well from the page cache; since another job has taken that memory, its loaders wait for the disk."""
    draw = Draw(seed, "k3input6")
    at_s = draw.between(300, 500)
    work = draw.work(CNN).but(nv=0)
    actor = program("train", "python train.py", 0, turns(work, at_s, _duty(work, 0.3)), mib_of(A6000, 0.4))
    children = loaders(actor, 8, turns(well_fed(draw), at_s, _DISK))
    return scene(seed, [A6000], [actor, *children], at_s + 900, want("input", "train gpu:0", at_s, at_s + 700))


def augmentation_is_too_dear(seed: int) -> Scene:
    """Six loaders augment point clouds; a T4, not fast itself, still waits for half of each second."""
    draw = Draw(seed, "k3input7")
    return _starves(seed, draw, T4, _duty(draw.work(FP32), draw.between(0.4, 0.52)), 6)


def starving_job_seen_with_gaps(seed: int) -> Scene:
    """A Slurm job with 16 full loaders keeps an H200 at 30 to 45 %; gputop loses seconds now and then."""
    draw = Draw(seed, "k3input8")
    more: dict[str, Any] = {"cgroup": slurm(4711), "variables": {"SLURM_JOB_ID": "4711"}, "terminal": 0}
    gaps = often_gaps(draw.seed(), each_s=90, from_s=2, to_s=7)
    return _starves(seed, draw, H200, _duty(draw.work(LORA), draw.between(0.3, 0.45)), 16, disturb=[gaps], **more)


def board_without_pcie_and_power(seed: int) -> Scene:
    """A board whose driver gives neither power nor PCIe works in bursts of a second, between waits of three."""
    draw = Draw(seed, "k3input9")
    work = cycle((1, draw.work(CNN).but(nv=0)), (3, _WAITS))
    return _starves(seed, draw, RTX_3090.without("pcie", "power"), work, 4)


def latents_are_read_over_the_network(seed: int) -> Scene:
    """A diffusion training reads its latents over a slow network; eight loaders, mostly in D, an H100 at 45 %."""
    draw = Draw(seed, "k3input10")
    work = cycle((4, draw.work(DIFFUSION)), (5, _WAITS))
    return _starves(seed, draw, H100_PCIE, work, 8, each_does=_DISK, command="python train_dit.py")


def two_loaders_for_a_large_board(seed: int) -> Scene:
    """A user left the default of two loaders on a B200: both at full load, the GPU at a tenth."""
    draw = Draw(seed, "k3input11")
    return _starves(seed, draw, B200, _duty(draw.work(LLM), draw.between(0.08, 0.14)), 2)
