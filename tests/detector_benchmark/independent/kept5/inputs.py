"""Trainings and inferences whose GPU waits for data: what prepares or reads them is at its limit."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, IDLE, LLM, LORA, PREFILL, Activity
from detector_benchmark.independent.actors import Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A6000,
    GH200,
    H100,
    H100_PCIE,
    H200,
    L4,
    LAPTOP_4070,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import late_power, no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders, with_loaders
from detector_benchmark.independent.scripts import Part, cycle, script
from detector_benchmark.independent.sketches import alone, mib_of, notebook, scene, team
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone

_SHOWN_S, _END_S = 700, 840

Dice = Callable[[Draw], Part]


def _decodes(draw: Draw) -> Part:
    return Activity(cpu=draw.between(92, 101), state="R")


def _reads(draw: Draw) -> Part:
    return Activity(cpu=draw.between(3, 22), state="D")


def _reads_and_decodes(draw: Draw) -> Part:
    """Read for some seconds, then decode for as many, without a rest."""
    return cycle((draw.between(2, 5), Activity(cpu=8, state="D")), (draw.between(2, 5), Activity(cpu=98, state="R")))


def _starved(draw: Draw, work: Activity, low: float, high: float) -> Part:
    """Work for a part of each second, and wait in the queue of batches for the rest."""
    part = draw.work(work).at(draw.between(low, high))
    return drifting(draw, part.but(cpu=draw.between(15, 50), thread=None, noise=0.1), depth=0.08)


def _waits(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    *,
    loader: Dice = _decodes,
    workers: int = 6,
    low: float = 0.2,
    high: float = 0.5,
    does: Dice | None = None,
    children: Callable[[Draw], Sequence[Actor]] | None = None,
    command: str = "python -u train.py --data /data",
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part = does(draw) if does else _starved(draw, work, low, high)
    owner = Actor(name="job", command=command)
    actors = children(draw) if children else loaders(owner, workers, loader(draw))
    given: Any = {"actors": actors, "allows": "launch~", "disturb": disturb(draw), "command": command} | more
    wants = want("input", "job gpu:0", 0, _SHOWN_S)
    return alone(seed, board, part, mib_of(board, draw.between(0.3, 0.85)), _END_S, wants, **given)


def jpegs_for_a_superchip(seed: int) -> Scene:
    """Eight loaders decode JPEG files for a GH200 that could take four times as many; all are at a full core."""
    return _waits(seed, "k5input1", GH200, CNN, workers=8)


def one_loader_by_default(seed: int) -> Scene:
    """A training on an RTX 5090 has a single loader, the default of the example that it was copied from."""
    return _waits(seed, "k5input2", RTX_5090, FP32, workers=1, low=0.15, high=0.35)


def slices_of_a_hospital_on_a_share(seed: int) -> Scene:
    """Four loaders of a segmentation on an A6000 read volumes from a network share, in the state D."""
    return _waits(seed, "k5input3", A6000, FP32, loader=_reads, workers=4)


def shards_from_a_cold_store(seed: int) -> Scene:
    """Ten loaders of a training on an H200 fetch cold shards from a store and unpack them, one after the other."""
    return _waits(seed, "k5input4", H200, LLM, loader=_reads_and_decodes, workers=10, low=0.3, high=0.55)


def films_decoded_by_children(seed: int) -> Scene:
    """A training on an A10G is fed by four children that decode films, each at full cores; no loader of PyTorch is there."""

    def children(draw: Draw) -> list[Actor]:
        work = Activity(cpu=draw.between(180, 320), thread=99.0, state="R")
        command = "ffmpeg -i /data/clip.mp4 -f rawvideo -pix_fmt rgb24 -"
        return [Actor(name=f"ff{n}", command=command, parent="job", host=script(work), threads=9) for n in range(4)]

    return _waits(seed, "k5input5", A10G, CNN, children=children, command="python train_clips.py")


def batch_inference_on_scans(seed: int) -> Scene:
    """An inference over a million scans on a T4 has three loaders at full cores and rests two thirds of the time."""
    return _waits(seed, "k5input6", T4, PREFILL, workers=3, low=0.22, high=0.4, command="python infer_scans.py")


def bursts_between_long_fetches(seed: int) -> Scene:
    """A training on an H100 works for three seconds of nine: its loaders in D bring a round of batches at a time."""
    does = lambda draw: cycle((3, draw.work(CNN)), (draw.between(5, 7), IDLE.but(cpu=12)))
    return _waits(seed, "k5input7", H100, CNN, does=does, loader=_reads, workers=8)


def ranks_behind_one_slow_disk(seed: int) -> Scene:
    """Four ranks on V100 with three loaders each read from one disk; all boards work a third of the time."""
    draw = Draw(seed, "k5input8")
    work = draw.work(CNN).at(draw.between(0.25, 0.4)).but(cpu=30, thread=None, noise=0.08)
    does = lambda rank: drifting(draw, work, depth=0.05)
    wants = want("input", everyone(4), 0, _SHOWN_S)
    feeds = lambda actors: with_loaders(actors, 3, _reads(draw))
    more: Any = {"launcher": "srun", "allows": "launch~", "change": feeds}
    return team(seed, [V100] * 4, does, mib_of(V100, 0.7), _END_S, wants, **more)


def eight_ranks_that_augment_too_much(seed: int) -> Scene:
    """Eight ranks on A100 have four loaders each, all full with augmentations; the boards are at two fifths."""
    draw = Draw(seed, "k5input9")
    work = draw.work(CNN).at(draw.between(0.33, 0.45)).but(cpu=35, thread=None, noise=0.08)
    does = lambda rank: drifting(draw, work, depth=0.05)
    wants = want("input", everyone(8), 0, _SHOWN_S)
    feeds = lambda actors: with_loaders(actors, 4, _decodes(draw))
    return team(seed, [A100] * 8, does, mib_of(A100, 0.5), 780, wants, allows="launch~", change=feeds, interval_s=2.0)


def notebook_on_a_laptop_with_two_loaders(seed: int) -> Scene:
    """A notebook on a laptop's RTX 4070 without PCIe readings trains on images; its two loaders are full."""
    draw = Draw(seed, "k5input10")
    actors = notebook("nb", 0, _starved(draw, CNN, 0.2, 0.45), mib_of(LAPTOP_4070, 0.6))
    actors += [*loaders(actors[1], 2, _decodes(draw)), *desktop()]
    return scene(seed, [LAPTOP_4070], actors, _END_S, want("input", "nb gpu:0", 0, _SHOWN_S), allows="launch~")


def speech_resampled_on_two_cores(seed: int) -> Scene:
    """A Slurm job with three cores trains a speech model on an H100 PCIe; two loaders resample and are full."""
    more: Any = {"cgroup": slurm(884), "variables": {"SLURM_JOB_ID": "884"}, "workers": 2}
    bad = lambda draw: [late_power(draw.seed(), 0.1), no_process_values(draw.seed(), 0.03)]
    return _waits(seed, "k5input11", H100_PCIE, FP32, disturb=bad, **more)


def starved_board_in_a_coarse_recording(seed: int) -> Scene:
    """A 3090 in a container waits for five full loaders; there is a sample in five seconds, and some are lost."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=120, from_s=6, to_s=15)]
    return _waits(seed, "k5input12", RTX_3090, LORA, workers=5, disturb=bad, interval_s=5.0, cgroup=docker("2"))


def prompts_read_one_by_one(seed: int) -> Scene:
    """An offline generation on an L4 gets its pictures from two loaders that are full; it rests half of the time."""
    return _waits(seed, "k5input13", L4, DECODE, workers=2, low=0.3, high=0.5, command="python caption_all.py")
