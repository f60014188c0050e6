"""Trainings that wait for their data: loaders near their limit, or the disk."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DATA, DISK, FP32, HOST, IDLE, LORA, Activity, mix
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    B200,
    GTX_1080_TI,
    H100,
    L4,
    RTX_3090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks, with_loaders
from detector_benchmark.independent.scripts import Part, cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import everyone, train
from detector_benchmark.independent.world import World

_WAITS = IDLE.but(cpu=6)
_NAMES = "python gpu:0"


def _starved(draw: Draw, seed: int, board: Board, does: Part, count: int, loader: Part, from_s: float = 0) -> Scene:
    main = program("python", "python train.py", 0, does, level(draw.mib(board)), terminal=0)
    names = " ".join([_NAMES, *(f"python.loader{n}" for n in range(count))])
    return Scene(
        world=World([board], [main, *loaders(main, count, loader)], seed=seed),
        until_s=from_s + 1100,
        wants=[want("input", names, from_s, from_s + 900)],
    )


def two_loaders_for_one_h100(seed: int) -> Scene:
    """Two loaders at 99 % feed an H100 that works a third of the time: the step is shorter than a sample."""
    draw = Draw(seed, "input1")
    busy = draw.between(0.25, 0.4)
    does = mix((busy, draw.work(CNN).but(nv=0)), (1 - busy, _WAITS))
    return _starved(draw, seed, H100, does, 2, HOST)


def images_are_decoded_on_slow_cores(seed: int) -> Scene:
    """Eight loaders decode large images at full load; an A100 works for 3 s and waits for 5 s, again and again."""
    draw = Draw(seed, "input2")
    busy_s = draw.between(2, 4)
    does = cycle((busy_s, draw.work(CNN).but(nv=0)), (draw.between(4, 7), _WAITS))
    return _starved(draw, seed, A100, does, 8, IDLE.but(cpu=draw.between(90, 99), thread=95, state="R"))


def loaders_wait_for_a_network_disk(seed: int) -> Scene:
    """Six loaders are in D most of the time: the network disk gives 40 MB/s, and the V100 is at 15 %."""
    draw = Draw(seed, "input3")
    busy = draw.between(0.1, 0.22)
    loader = cycle((3, DISK.but(cpu=14)), (1, IDLE.but(cpu=30)))
    return _starved(draw, seed, V100, mix((busy, draw.work(CNN).but(nv=0)), (1 - busy, _WAITS)), 6, loader)


def another_job_takes_the_cores(seed: int) -> Scene:
    """From some time on another user's build takes the cores: the loaders are busy all the time, the GPU falls below 50 %."""
    draw = Draw(seed, "input4")
    at_s, work = draw.between(400, 700), draw.work(FP32)
    busy = draw.between(0.35, 0.5)
    slow = mix((busy, work), (1 - busy, _WAITS))
    loader = phases(IDLE.but(cpu=45), (at_s, IDLE.but(cpu=97, thread=97, state="R")))
    return _starved(draw, seed, A6000, phases(work, (at_s, slow)), 4, loader, at_s)


def no_loader_process_at_all(seed: int) -> Scene:
    """With num_workers=0 the main thread of a training reads and augments: 2 s on the CPU, 1 s on the GPU, for hours."""
    draw = Draw(seed, "input5")
    work = draw.work(FP32)
    does = cycle((draw.between(2, 3), HOST), (1, work))
    main = program("python", "python train.py", 0, does, level(6200))
    return Scene(
        world=World([GTX_1080_TI], [main], seed=seed),
        until_s=1200,
        wants=[want("input launch spin", _NAMES, 0, 1000)],
        allows=allow("input launch spin"),
    )


def eight_ranks_starve_together(seed: int) -> Scene:
    """Eight ranks with four loaders each, all near 95 %: each board works half of the time, none more than others."""
    draw = Draw(seed, "input6")
    busy = draw.between(0.4, 0.55)
    does = mix((busy, draw.work(CNN)), (0.1, COLLECTIVE), (0.9 - busy, _WAITS))
    loader = IDLE.but(cpu=95, thread=95, state="R")
    actors = with_loaders(ranks(range(8), lambda rank: does, level(31000)), 4, loader)
    return Scene(
        world=World([A100] * 8, actors, seed=seed, interval_s=2.0),
        until_s=1100,
        wants=[want("input", everyone(8), 0, 900)],
        allows=allow("input"),
    )


def audio_features_on_the_cpu(seed: int) -> Scene:
    """A speech training on an RTX 3090 computes features in three loaders; the board is at 50 to 60 %."""
    draw = Draw(seed, "input7")
    busy = draw.between(0.48, 0.6)
    does = mix((busy, draw.work(FP32)), (1 - busy, _WAITS))
    return _starved(draw, seed, RTX_3090, does, 3, IDLE.but(cpu=98, thread=98, state="R"))


def shards_come_from_the_cloud(seed: int) -> Scene:
    """Shards are fetched from object storage: 20 s of work, then 25 s of waiting with loaders that unpack at 90 %."""
    draw = Draw(seed, "input8")
    does = cycle((draw.between(15, 22), draw.work(LORA)), (draw.between(20, 28), _WAITS))
    return _starved(draw, seed, A100_40, does, 5, IDLE.but(cpu=91, thread=91, state="R"))


def small_machine_with_a_fast_board(seed: int) -> Scene:
    """A B200 in a container with four cores: a vision training at 20 %, its four loaders at 100 %."""
    draw = Draw(seed, "input9")
    does = mix((0.2, draw.work(CNN).but(nv=0)), (0.8, _WAITS))
    return _starved(draw, seed, B200, does, 4, HOST)


def starved_training_seen_with_gaps(seed: int) -> Scene:
    """A T4 waits for three loaders at 96 %; gputop loses some seconds every minute or two."""
    draw = Draw(seed, "input10")
    busy = draw.between(0.3, 0.5)
    does = mix((busy, draw.work(CNN).but(nv=0)), (1 - busy, _WAITS))
    scene = _starved(draw, seed, T4, does, 3, IDLE.but(cpu=96, thread=96, state="R"))
    return Scene(
        world=scene.world,
        until_s=scene.until_s,
        wants=scene.wants,
        disturbances=[often_gaps(draw.seed(), each_s=90, from_s=2, to_s=8)],
    )


def video_decoder_is_the_limit(seed: int) -> Scene:
    """A video training on an L4 decodes in six processes on the CPU, each near its limit; 12 s of work in 30 s."""
    draw = Draw(seed, "input11")
    work: Activity = draw.work(DATA).but(decoder=0, util=80, share=0.6)
    does = cycle((12, work), (draw.between(15, 20), _WAITS))
    return _starved(draw, seed, L4, does, 6, IDLE.but(cpu=94, thread=94, state="R"))


def steps_of_a_tenth_of_a_second(seed: int) -> Scene:
    """Steps of 0.1 s: 30 ms on the GPU, the rest for the data. Every second looks the same, at 30 %."""
    draw = Draw(seed, "input12")
    work = train(draw.work(CNN).but(nv=0), step_s=0.1, is_alone=True)(0)
    return _starved(draw, seed, A100, mix((0.3, work), (0.7, _WAITS)), 2, IDLE.but(cpu=99, thread=99, state="R"))
