"""Processes that burn the CPU for long while the GPU that they hold does nothing."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, FP64, HOST, IDLE, LORA, MANY, QUERY
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    GTX_1080_TI,
    H100,
    H100_MIG,
    H200,
    L40S,
    RTX_4090,
    T4,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import level, phases, sometimes
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import everyone, train, with_pauses
from detector_benchmark.independent.world import World


def endless_loop_after_an_epoch(seed: int) -> Scene:
    """A training computes metrics after its epoch in an endless loop of Python: one core at 100 %, the GPU at 0 %."""
    draw = Draw(seed, "spin1")
    at_s = draw.between(400, 800)
    does = phases(train(draw.work(CNN), step_s=0.4, is_alone=True), (at_s, HOST))
    main = program("python", "python train.py", 0, does, level(draw.mib(A100_40)), terminal=0)
    return Scene(
        world=World([A100_40], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("spin stalled", "python gpu:0", at_s, at_s + 1200)],
        allows=allow("idle~ stalled"),
    )


def retry_loop_without_a_pause(seed: int) -> Scene:
    """A worker polls a queue that has closed, without a pause, for hours; it holds 12 GiB of a T4."""
    draw = Draw(seed, "spin2")
    main = program("worker", "python worker.py --queue q7", 0, HOST, level(11800), terminal=0, age_s=draw.about(9000))
    return Scene(
        world=World([T4], [main], seed=seed),
        until_s=1200,
        wants=[want("spin", "worker gpu:0", 0, 900)],
        allows=allow("idle"),
    )


def preprocessing_on_all_cores_with_the_gpu_held(seed: int) -> Scene:
    """A job holds an H100 while it tokenizes its data set on all cores, for the whole afternoon."""
    draw = Draw(seed, "spin3")
    busy = MANY.but(cpu=draw.between(900, 2600))
    does = phases(draw.work(LORA), (240, busy))
    main = program("python", "python prepare_and_train.py", 0, does, level(23000), terminal=0)
    return Scene(
        world=World([H100], [main], seed=seed),
        until_s=2200,
        wants=[want("spin", "python gpu:0", 240, 1600)],
        allows=allow("idle~"),
    )


def four_ranks_loop_in_python(seed: int) -> Scene:
    """A mistake in the sampler: four ranks build an index again and again, all on the CPU, and never step again."""
    draw = Draw(seed, "spin4")
    at_s = draw.between(300, 600)
    actors = ranks(
        range(4),
        lambda rank: phases(train(draw.work(CNN), step_s=0.9), (at_s, HOST)),
        level(draw.mib(A6000)),
    )
    return Scene(
        world=World([A6000] * 4, actors, seed=seed),
        until_s=at_s + 1500,
        wants=[want("spin stalled", everyone(4), at_s, at_s + 1200)],
        allows=allow("idle~ spin stalled"),
    )


def sixty_four_ranks_poll_in_mpi(seed: int) -> Scene:
    """64 MPI ranks share eight A100 and deadlock in a wait of MPI: 64 cores poll at 100 %, the GPUs are at 0 %."""
    draw = Draw(seed, "spin5")
    at_s = draw.between(200, 300)
    work = draw.work(FP64).but(util=12, share=0.09, mc=4, dram=4, sm=11, fp64=5, rx=40, tx=40)
    actors = ranks(
        [n // 8 for n in range(64)],
        lambda rank: phases(work, (at_s, HOST)),
        level(1900),
        launcher="mpirun",
        command="./lmp -k on g 8 -in melt.in",
    )
    everybody = " ".join(["rank.job", *(f"rank{n}" for n in range(64)), *(f"gpu:{n}" for n in range(8))])
    return Scene(
        world=World([A100] * 8, actors, seed=seed, interval_s=5.0),
        until_s=at_s + 1500,
        wants=[want("spin stalled hang", everybody, at_s, at_s + 1200)],
        allows=allow("spin stalled hang idle~ launch~"),
    )


def decoder_of_video_falls_back_to_the_cpu(seed: int) -> Scene:
    """A video pipeline lost its hardware decoder and decodes on the CPU; its model on the GPU is hardly used."""
    draw = Draw(seed, "spin6")
    at_s = draw.between(250, 500)
    blip = CNN.at(0.02)
    slow = sometimes(MANY, each_s=150, part=blip, for_s=1, seed=draw.seed())
    main = program("video", "python detect.py --src cam", 0, phases(draw.work(CNN), (at_s, slow)), level(5200))
    return Scene(
        world=World([GTX_1080_TI], [main], seed=seed),
        until_s=at_s + 1500,
        wants=[want("spin input", "video gpu:0", at_s, at_s + 1200)],
        allows=allow("idle~ spin input"),
    )


def slice_is_held_by_a_cpu_program(seed: int) -> Scene:
    """In a MIG slice of an H100 a gradient-boosting job runs on the CPU since its GPU build is missing."""
    draw = Draw(seed, "spin7")
    one = program("one", "python boost.py --device cuda", 0, HOST, level(3100), instance=1, age_s=600.0)
    two = program("two", "python serve_lora.py", 0, draw.work(LORA), level(31000), instance=2, user="bob")
    return Scene(
        world=World([H100_MIG], [one, two], seed=seed),
        until_s=1800,
        wants=[want("spin idle", "one", 0, 1600)],
        allows=allow("idle spin", "one gpu:0"),
    )


def garbage_collector_thrashes(seed: int) -> Scene:
    """A query engine near the end of its host memory collects garbage for ever, with the tables in GPU memory."""
    draw = Draw(seed, "spin8")
    at_s = draw.between(300, 700)
    does = phases(draw.work(QUERY), (at_s, MANY.but(cpu=1580)))
    main = program("java", "java -jar rapids-engine.jar", 0, does, level(draw.mib(L40S)), cgroup=docker("a"))
    return Scene(
        world=World([L40S], [main], seed=seed),
        until_s=at_s + 1300,
        wants=[want("spin stalled", "java gpu:0", at_s, at_s + 1000)],
        allows=allow("idle~"),
    )


def model_runs_on_the_cpu_by_mistake(seed: int) -> Scene:
    """A program put its model on the CPU, with a context on the GPU: all work is on sixteen cores."""
    draw = Draw(seed, "spin9")
    main = program("python", "python sd.py --steps 50", 0, MANY.but(cpu=1590), level(470), age_s=90.0)
    other = program("other", "python draw.py", 1, draw.work(DIFFUSION), level(14000), user="bob")
    return Scene(
        world=World([RTX_4090] * 2, [main, other], seed=seed),
        until_s=1500,
        wants=[want("spin", "python gpu:0", 0, 1200)],
        allows=allow("idle~"),
    )


def beam_search_loops_on_the_host(seed: int) -> Scene:
    """A generation script loops in its stop condition after long pauses of normal work; no token since."""
    draw = Draw(seed, "spin10")
    work = with_pauses(phases(draw.work(DECODE)), IDLE.but(cpu=20), every_s=200, for_s=40)
    at_s = draw.between(650, 1000)
    main = program("gen", "python generate.py --beam 8", 0, phases(work, (at_s, HOST)), level(draw.mib(H200)))
    return Scene(
        world=World([H200], [main], seed=seed),
        until_s=at_s + 1300,
        wants=[want("spin stalled", "gen gpu:0", at_s, at_s + 1000)],
        allows=allow("idle~"),
    )


def optimizer_search_never_accepts(seed: int) -> Scene:
    """A line search on the CPU never accepts a step; before, it used the GPU for 50 s of every minute."""
    draw = Draw(seed, "spin11")
    at_s = draw.between(600, 900)
    work = with_pauses(phases(draw.work(FP32)), HOST, every_s=60, for_s=10)
    main = program("fit", "python fit_gp.py", 0, phases(work, (at_s, HOST)), level(draw.mib(A100)), terminal=0)
    return Scene(
        world=World([A100], [main], seed=seed),
        until_s=at_s + 1300,
        wants=[want("spin stalled", "fit gpu:0", at_s, at_s + 1000)],
        allows=allow("idle~"),
    )
