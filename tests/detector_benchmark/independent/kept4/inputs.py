"""Trainings whose GPU waits for data: their loaders are at their limit, or the storage is."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, FP32, IDLE, LLM, LORA, Activity
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    B200,
    H100,
    H200,
    L4,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import Disturbance, bad_process_zeros, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, notebook, scene
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone

_BATCH: Any = {"variables": {}, "terminal": 0}
_OK = "launch~"


def _full(draw: Draw) -> Activity:
    """Return a loader that decodes or augments all the time."""
    return Activity(cpu=draw.between(94, 101), state="R")


def _on_disk(draw: Draw) -> Activity:
    """Return a loader that waits for its storage nearly all the time."""
    return Activity(cpu=draw.between(4, 18), state="D")


def _hungry(draw: Draw, work: Activity, low: float, high: float) -> Activity:
    """Return a training that works for a part of each second and waits for batches for the rest."""
    return draw.work(work).at(draw.between(low, high)).but(cpu=draw.between(18, 48), thread=None, noise=0.09)


def _starves(
    seed: int,
    name: str,
    board: Board,
    *,
    work: Activity = CNN,
    low: float = 0.22,
    high: float = 0.5,
    workers: int = 6,
    loader: Callable[[Draw], Part] = _full,
    disturb: Callable[[Draw], Sequence[Disturbance]] = lambda draw: (),
    interval_s: float = 1.0,
    command: str = "python -u train.py --data /data",
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    does = drifting(draw, _hungry(draw, work, low, high), depth=0.08)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.85)), **_BATCH | more)
    actors = [actor, *loaders(actor, workers, loader(draw))]
    wants = want("input", "job gpu:0", 0, 700)
    return scene(seed, [board], actors, 840, wants, allows=_OK, disturb=disturb(draw), interval_s=interval_s)


def two_loaders_for_a_fast_board(seed: int) -> Scene:
    """Two loaders decode photographs for an H100: both at 100 % of a core, the board at a third."""
    return _starves(seed, "k4input1", H100, workers=2)


def augmentation_on_few_cores(seed: int) -> Scene:
    """Six loaders augment for an A100 on six cores: all full, the board below half."""
    return _starves(seed, "k4input2", A100)


def shards_on_a_slow_mount(seed: int) -> Scene:
    """Twelve loaders of a training on an L40S wait for a network mount, in the state D."""
    return _starves(seed, "k4input3", L40S, workers=12, loader=_on_disk, work=FP32)


def small_files_on_a_hard_disk(seed: int) -> Scene:
    """A million small files on a hard disk feed a 3090: the loaders wait for the disk, the board stands at a quarter."""
    return _starves(seed, "k4input4", RTX_3090, workers=4, loader=_on_disk, low=0.15, high=0.3)


def video_decoded_on_the_host(seed: int) -> Scene:
    """Eight loaders decode video on the CPU for a V100, and the board works two seconds of six."""

    def does(draw: Draw) -> Part:
        return cycle((2, draw.work(FP32)), (4, IDLE.but(cpu=20)))

    draw = Draw(seed, "k4input5")
    actor = program("job", "python train_video.py", 0, does(draw), mib_of(V100, 0.6), **_BATCH)
    actors = [actor, *loaders(actor, 8, _full(draw))]
    return scene(seed, [V100], actors, 840, want("input", "job gpu:0", 0, 700), allows=_OK)


def eight_ranks_with_too_few_loaders(seed: int) -> Scene:
    """Each of eight ranks on H200 has two loaders at their limit; the boards work a third of the time."""
    draw = Draw(seed, "k4input6")
    work = _hungry(draw, CNN, 0.28, 0.42)
    actors = with_loaders(ranks(range(8), lambda rank: drifting(draw, work), mib_of(H200, 0.4)), 2, _full(draw))
    return scene(seed, [H200] * 8, actors, 840, want("input", everyone(8), 0, 700), allows=_OK)


def starved_board_seen_badly(seed: int) -> Scene:
    """A T4 waits for four full loaders; samples are missing, and processes say 0 % at times."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=50, from_s=3, to_s=8), bad_process_zeros(draw.seed(), 0.02)]
    return _starves(seed, "k4input7", T4, workers=4, disturb=bad)


def notebook_that_reads_images(seed: int) -> Scene:
    """A notebook trains on a TITAN X, whose driver charges no process; four full loaders feed it."""
    draw = Draw(seed, "k4input8")
    actors = notebook("nb", 0, drifting(draw, _hungry(draw, CNN, 0.25, 0.4)), mib_of(TITAN_X, 0.6))
    actors += loaders(actors[1], 4, _full(draw))
    return scene(seed, [TITAN_X], actors, 840, want("input", "nb gpu:0", 0, 700), allows=_OK)


def point_clouds_for_a_gaming_board(seed: int) -> Scene:
    """Point clouds are voxelised by three loaders for an RTX 4090, which tells nothing of PCIe."""
    return _starves(seed, "k4input9", RTX_4090.without("pcie"), workers=3, work=FP32, low=0.3, high=0.5)


def largest_board_behind_a_slow_store(seed: int) -> Scene:
    """A B200 waits for an object store: sixteen loaders in D, power falls and rises with every batch."""
    bad = lambda draw: [late_power(draw.seed(), 0.1)]
    return _starves(seed, "k4input10", B200, workers=16, loader=_on_disk, work=LLM, low=0.3, high=0.55, disturb=bad)


def starved_container_seen_every_two_seconds(seed: int) -> Scene:
    """A container with two cores trains on an A100 of 40 GB: its two loaders are full; gputop looks every two seconds."""
    more: Any = {"workers": 2, "cgroup": docker("4"), "interval_s": 2.0}
    return _starves(seed, "k4input11", A100_40, **more)


def tuning_with_slow_tokenizers(seed: int) -> Scene:
    """Four tokenizers feed the tuning of a language model on an L4 and are too slow for it."""
    return _starves(seed, "k4input12", L4, work=LORA, workers=4, low=0.2, high=0.45)
