"""Programs on one GPU that wait for ever for a kernel that never ends."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import DECODE, DIFFUSION, FP32, FP64, LLM, LORA, SPIN, STENCIL, Activity
from detector_benchmark.independent.actors import docker, slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H200,
    L4,
    L40S,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import Disturbance, bad_process_zeros, late_power, often_gaps, raw_255
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.sketches import jammed, mib_of, scene, turns
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want

_BATCH: Any = {"variables": {}, "terminal": 0}


def _spins(draw: Draw) -> Activity:
    """Return a kernel that never ends: few blocks, next to the power of a context, the host asleep or polling."""
    cpu = draw.one_of((100.0, 100.0, 1.0))
    state = "R" if cpu > 50 else "S"
    return SPIN.but(spin=draw.between(0.2, 1.05), sm=draw.between(0.8, 4), cpu=cpu, thread=cpu, state=state)


def _stuck(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    disturb: Callable[[Draw], Sequence[Disturbance]] = lambda draw: (),
    interval_s: float = 1.0,
    beside: Any = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    at_s = draw.between(300, 560)
    does = turns(rippling(draw, drifting(draw, draw.work(work))), at_s, _spins(draw))
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.1, 0.8)), **_BATCH | more)
    wants = want("kernel", "job gpu:0", at_s, at_s + 840)
    return scene(
        seed,
        [board],
        [*beside, actor],
        at_s + 900,
        wants,
        allows="stalled hang~",
        disturb=disturb(draw),
        interval_s=interval_s,
    )


def spin_lock_of_a_custom_kernel(seed: int) -> Scene:
    """A block of a custom kernel on an H100 waits for a lock that another block holds, which never gets a place."""
    return _stuck(seed, "k4kernel1", H100, LLM, "python train_custom.py")


def grid_barrier_without_enough_blocks(seed: int) -> Scene:
    """A grid-wide barrier on an A100 waits for a block that was never launched."""
    return _stuck(seed, "k4kernel2", A100, FP64, "./cfd --mesh wing.cgns")


def while_loop_on_the_device(seed: int) -> Scene:
    """A loop on a V100 that ends when a value converges gets a value that is not a number."""
    return _stuck(seed, "k4kernel3", V100, STENCIL, "./heat3d -i cube.in")


def inference_of_a_small_board_stuck(seed: int) -> Scene:
    """A detector on an L4 in a container waits for a kernel that waits for a flag of the host."""
    return _stuck(seed, "k4kernel4", L4, DECODE, "python detect_batch.py", cgroup=docker("5"))


def student_kernel_without_a_break(seed: int) -> Scene:
    """A student's kernel on a T4 has lost its `break`; the program before it was busy for minutes."""
    return _stuck(seed, "k4kernel5", T4, FP32, "./exercise7")


def renderer_with_an_endless_ray(seed: int) -> Scene:
    """A ray is reflected for ever on an RTX 4090 that tells nothing of PCIe; a desktop is beside."""
    return _stuck(seed, "k4kernel6", RTX_4090.without("pcie"), DIFFUSION, "./pathtrace scene.xml", beside=desktop())


def producer_that_died_inside_a_graph(seed: int) -> Scene:
    """A persistent consumer on a B200 waits for a producer inside a CUDA graph that failed."""
    return _stuck(seed, "k4kernel7", B200, LLM, "python rollout_batch.py --graphs")


def stuck_kernel_with_zeros_and_gaps(seed: int) -> Scene:
    """A kernel on an H200 never ends; single samples say 0 % of its process, and some looks are missing."""
    bad = lambda draw: [bad_process_zeros(draw.seed(), 0.03), often_gaps(draw.seed(), each_s=80, from_s=4, to_s=10)]
    return _stuck(seed, "k4kernel8", H200, LORA, "python tune.py -i data.json", disturb=bad)


def stuck_kernel_seen_every_three_seconds(seed: int) -> Scene:
    """A kernel of a Slurm job on an L40S never ends; gputop looks every three seconds, power is late at times."""
    bad = lambda draw: [late_power(draw.seed(), 0.1)]
    more: Any = {"cgroup": slurm(4410), "variables": {"SLURM_JOB_ID": "4410"}}
    return _stuck(seed, "k4kernel9", L40S, FP32, "srun ./lattice", disturb=bad, interval_s=3.0, **more)


def stuck_kernel_of_an_old_driver(seed: int) -> Scene:
    """A kernel on a V100 without counters never ends; the driver says 255 % in some samples."""
    return _stuck(seed, "k4kernel10", V100, FP64, "./qmc run.in", disturb=lambda draw: [raw_255(draw.seed(), 0.04)])


def deadlock_of_two_streams(seed: int) -> Scene:
    """Two streams of a training on an A6000 wait for each other's events in device code; the host sleeps."""
    return _stuck(seed, "k4kernel11", A6000, LORA, "python train_streams.py", resident_mib=14000.0)


def kernel_stuck_right_after_the_start(seed: int) -> Scene:
    """An all-purpose solver on an A100 worked for six minutes, failed, and spins with a warm, empty grid."""
    draw = Draw(seed, "k4kernel12")
    at_s = draw.between(360, 480)
    does = turns(draw.work(STENCIL), at_s, turns(jammed(90, "R"), at_s + 6, _spins(draw)))
    actor = program("job", "./solve -i big.inp", 0, does, mib_of(A100, 0.6), **_BATCH)
    wants = want("kernel", "job gpu:0", at_s, at_s + 840)
    return scene(seed, [A100], [actor], at_s + 900, wants, allows="stalled hang~")
