"""Programs that wait for a kernel that never ends."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DIFFUSION,
    FP32,
    FP64,
    LLM,
    LORA,
    PREFILL,
    RENDER,
    SPIN,
    STENCIL,
    Activity,
)
from detector_benchmark.independent.actors import Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A100_40,
    B200,
    GH200,
    H100,
    H200,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, faults, late_power, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import alone, jammed, mib_of, turns, well_fed
from detector_benchmark.independent.textures import dipping, drifting, rippling
from detector_benchmark.independent.trace import Scene, want


def _polls(draw: Draw) -> Activity:
    """Return a kernel of a few blocks that only polls; the host sleeps in the driver or polls as well."""
    cpu = draw.one_of((0.5, 100.0))
    return SPIN.but(
        spin=draw.between(0.15, 1.1),
        share=draw.between(0, 0.012),
        sm=draw.between(0.7, 7),
        occupancy=draw.between(0.5, 4),
        mc=draw.between(0, 0.4),
        cpu=cpu,
        thread=cpu,
        state="R" if cpu > 50 else "S",
    )


def _endless(
    seed: int,
    name: str,
    board: Board,
    work: Callable[[Draw], Part],
    command: str,
    *,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    workers: int = 0,
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    """Let a program work for minutes; from then on its last kernel never ends."""
    draw = Draw(seed, name)
    at_s = draw.between(300, 600)
    children = loaders(Actor(name="job", command=command), workers, turns(well_fed(draw), at_s, jammed(0)))
    wants = want("kernel", "job gpu:0", at_s, at_s + 840)
    given: Any = {"disturb": disturb(draw), "allows": "stalled hang~ spin~", "actors": [*beside, *children]} | more
    does = turns(work(draw), at_s, _polls(draw))
    memory = mib_of(board, draw.between(0.15, 0.85))
    return alone(seed, board, does, memory, at_s + 900, wants, command=command, **given)


def _steady(work: Activity) -> Callable[[Draw], Part]:
    return lambda draw: rippling(draw, drifting(draw, draw.work(work)))


def semaphore_of_a_fused_kernel(seed: int) -> Scene:
    """A fused kernel in Triton on an H200 waits for a semaphore that a block of an earlier launch left set."""
    return _endless(seed, "k5kernel1", H200, _steady(LLM), "python train_fused.py", workers=4)


def barrier_of_a_grid_that_does_not_fit(seed: int) -> Scene:
    """A cooperative grid on a GH200 is larger than the board in its second phase, and its barrier never opens."""
    return _endless(seed, "k5kernel2", GH200, _steady(FP64), "./lbm --domain 512")


def loop_with_a_not_a_number(seed: int) -> Scene:
    """A root finder on a V100 got a value that is no number; its loop in one warp never ends."""
    return _endless(seed, "k5kernel3", V100, _steady(STENCIL), "python price_numba.py")


def ray_between_two_mirrors(seed: int) -> Scene:
    """A ray between two mirrors never ends on an RTX 5090, in a batch of pictures, with a desktop beside."""
    return _endless(seed, "k5kernel4", RTX_5090, _steady(RENDER), "./render --frames 1-240", beside=desktop())


def flag_that_the_host_never_sets(seed: int) -> Scene:
    """A kernel on an A100 waits for a flag in pinned memory; the thread that should set it has ended."""
    return _endless(seed, "k5kernel5", A100, _steady(FP32), "./stream_match rules.bin")


def consumer_without_a_producer(seed: int) -> Scene:
    """The consumer blocks of a pipelined product on a B200 wait for a producer block that left early."""
    return _endless(seed, "k5kernel6", B200, _steady(LLM), "python bench_gemm_train.py")


def table_of_hashes_that_is_full(seed: int) -> Scene:
    """An insertion into a full table of hashes on an L40S probes for a free slot, for ever."""
    return _endless(seed, "k5kernel7", L40S, _steady(FP32), "./dedupe -i crawl.bin", cgroup=slurm(71))


def tree_with_a_cycle(seed: int) -> Scene:
    """A walk over a tree on a T4 meets a cycle of pointers; a student's program had worked before."""
    return _endless(seed, "k5kernel8", T4, _steady(CNN), "./bvh scene2.obj")


def batch_inference_that_dips_and_then_freezes(seed: int) -> Scene:
    """An embedding of documents on an A10G worked in turns of ten seconds, and froze inside a plugin's kernel."""
    turn = lambda draw: dipping(draw, draw.work(PREFILL), jammed(80, "R"), every_s=14, for_s=3)
    return _endless(seed, "k5kernel9", A10G, turn, "python embed_all.py", cgroup=docker("b"))


def diffusion_that_freezes_between_two_steps(seed: int) -> Scene:
    """A generation of films on an RTX PRO 6000 froze in an attention kernel; the driver reports power late at times."""
    bad = lambda draw: [late_power(draw.seed(), 0.12)]
    return _endless(seed, "k5kernel10", PRO_6000, _steady(DIFFUSION), "python film.py --prompts p.txt", disturb=bad)


def frozen_kernel_in_a_coarse_recording(seed: int) -> Scene:
    """A kernel of a training on an A100 of 40 GB never ends; a recording has one sample in five seconds, some are lost."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=150, from_s=6, to_s=20)]
    return _endless(seed, "k5kernel11", A100_40, _steady(LORA), "python tune.py", disturb=bad, interval_s=5.0)


def frozen_kernel_with_zeros(seed: int) -> Scene:
    """A kernel on an H100 without profiling never ends; single samples report 0 % for its process or no power."""
    bad = lambda draw: [
        bad_process_zeros(draw.seed(), 0.03),
        faults(draw.seed(), 0.04, "power_average_w", "power_instant_w"),
    ]
    return _endless(seed, "k5kernel12", H100.without("gpm"), _steady(LLM), "python train.py", disturb=bad)


def frozen_after_many_small_jobs(seed: int) -> Scene:
    """A queue of docking runs on a 3090 did thirty seconds of work and ten of nothing; the last run never ends."""
    turn = lambda draw: cycle((draw.between(25, 35), draw.work(FP32)), (10, jammed(60, "R")))
    return _endless(seed, "k5kernel13", RTX_3090, turn, "./autodock --ligands list.txt")
