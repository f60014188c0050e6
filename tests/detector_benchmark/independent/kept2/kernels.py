"""Programs of one process whose kernel never ends."""

from detector_benchmark.independent.activity import CNN, FP32, FP64, HOST, LORA, QUERY, SPIN, STENCIL
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    GTX_1080_TI,
    H100,
    H100_PCIE,
    L40S,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import Disturbance, bad_process_zeros, faults, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Part, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, loads, train, with_pauses
from detector_benchmark.independent.world import World


def _endless(
    seed: int,
    board: Board,
    command: str,
    work: Part,
    at_s: float,
    *,
    wait: Part = SPIN,
    later_s: float = 800,
    disturbances: tuple[Disturbance, ...] = (),
) -> Scene:
    draw = Draw(seed, command)
    main = program("main", command, 0, phases(work, (at_s, wait)), level(draw.mib(board, 0.1, 0.7)))
    return Scene(
        world=World([board], [main], seed=seed),
        until_s=at_s + later_s + 200,
        wants=[want("kernel", "main gpu:0", at_s, at_s + later_s)],
        allows=allow("tiny~ stalled~"),
        disturbances=disturbances,
    )


def solver_that_does_not_converge(seed: int) -> Scene:
    """A hand-written solver on A100 loops in one kernel whose condition is never met, after minutes of work."""
    draw = Draw(seed, "kernel1")
    return _endless(seed, A100, "./poisson --tol 1e-9", draw.work(FP64), draw.between(300, 900))


def stencil_deadlocks_in_a_grid_barrier(seed: int) -> Scene:
    """A cooperative kernel on H100 deadlocks in a barrier of the grid; the main thread sleeps in a blocking wait."""
    draw = Draw(seed, "kernel2")
    wait = SPIN.but(cpu=0.4, thread=0.4, state="S", sm=88, occupancy=48, share=0.06)
    return _endless(seed, H100, "./wave3d -n 1024", draw.work(STENCIL), draw.between(250, 700), wait=wait)


def triton_kernel_spins_on_a_flag(seed: int) -> Scene:
    """A Triton kernel with a spin lock on an RTX 4090 never ends; GPU without PCIe counters, with a desktop."""
    draw = Draw(seed, "kernel3")
    board = RTX_4090.without("pcie")
    at_s = draw.between(300, 600)
    main = program("main", "python flash_bench.py", 0, phases(draw.work(LORA), (at_s, SPIN)), level(9000))
    return Scene(
        world=World([board], [main, *desktop()], seed=seed),
        until_s=at_s + 1100,
        wants=[want("kernel", "main gpu:0", at_s, at_s + 900)],
        allows=allow("tiny~ stalled~"),
    )


def numba_loop_on_an_old_board(seed: int) -> Scene:
    """A Numba kernel of a student loops for ever on a GTX 1080 Ti: no PCIe counters, no utilization per process."""
    draw = Draw(seed, "kernel4")
    return _endless(seed, GTX_1080_TI, "python sim.py", draw.work(FP32), draw.between(200, 500))


def training_on_a_t4_gets_stuck(seed: int) -> Scene:
    """A training on a T4 with pauses to save gets stuck in a kernel with out-of-range indices."""
    draw = Draw(seed, "kernel5")
    work = with_pauses(train(draw.work(CNN), step_s=0.7, is_alone=True), HOST, every_s=240, for_s=15)
    return _endless(seed, T4, "python train_seg.py", work, draw.between(500, 800))


def query_engine_joins_for_ever(seed: int) -> Scene:
    """A query on GPU loops in a hash join whose table is full; a lookup never finds a free slot."""
    draw = Draw(seed, "kernel6")
    return _endless(seed, L40S, "python etl_cudf.py", draw.work(QUERY), draw.between(400, 700), later_s=900)


def stuck_kernel_seen_badly(seed: int) -> Scene:
    """A kernel on an A6000 never ends; samples are lost, zeros and faults come in between."""
    draw = Draw(seed, "kernel7")
    bad = (
        often_gaps(draw.seed(), each_s=80, from_s=2, to_s=14),
        bad_process_zeros(draw.seed(), 0.015),
        faults(draw.seed(), 0.02, "power_average_w"),
    )
    return _endless(seed, A6000, "./raytrace", draw.work(FP32), 400, later_s=900, disturbances=bad)


def job_in_a_container_never_returns(seed: int) -> Scene:
    """A batch job in a container on a B200 waits for a kernel after its work; its CPU thread polls the stream."""
    draw = Draw(seed, "kernel8")
    at_s = draw.between(400, 800)
    does = loads(draw, phases(draw.work(LORA), (at_s, SPIN.but(mc=1))))
    main = program("main", "python moe_test.py", 0, does, level(60000), cgroup=docker("c"), terminal=0, age_s=3.0)
    return Scene(
        world=World([B200], [main], seed=seed),
        until_s=at_s + 1100,
        wants=[want("kernel", "main gpu:0", at_s, at_s + 900)],
        allows=allow("tiny~ stalled~"),
    )


def endless_kernel_on_one_of_four(seed: int) -> Scene:
    """Of four independent searches on one V100 each, the third enters an endless kernel. The others work on."""
    draw = Draw(seed, "kernel9")
    at_s = draw.between(400, 900)
    actors = [
        program(
            f"search{n}",
            f"python search.py --seed {n}",
            n,
            phases(draw.work(FP32), (at_s, SPIN)) if n == 2 else draw.work(FP32),
            level(draw.mib(V100)),
        )
        for n in range(4)
    ]
    return Scene(
        world=World([V100] * 4, actors, seed=seed),
        until_s=at_s + 1100,
        wants=[want("kernel hang", "search2 gpu:2", at_s, at_s + 900)],
        allows=allow("tiny~ stalled~"),
    )


def kernel_that_hung_before_gputop_started(seed: int) -> Scene:
    """A kernel has polled for three hours already when gputop starts, which never sees it work."""
    draw = Draw(seed, "kernel10")
    wait = SPIN.but(sm=draw.between(0.7, 4), cpu=100)
    main = program("main", "./persistent_test --blocks 1", 0, wait, level(640), age_s=11000.0)
    return Scene(
        world=World([H100_PCIE], [main], seed=seed),
        until_s=2000,
        wants=[want("kernel tiny", "main gpu:0", 0, 1800)],
        allows=allow("tiny kernel stalled~"),
    )


def debug_build_waits_in_the_device_printf(seed: int) -> Scene:
    """A debug build on an A100 stops in a kernel that waits for the host, which waits for the kernel."""
    draw = Draw(seed, "kernel11")
    wait = SPIN.but(cpu=ASLEEP.cpu, thread=0.2, state="S")
    return _endless(seed, A100, "./lattice_dbg --verbose", draw.work(FP64, level=0.5), 450, wait=wait)
