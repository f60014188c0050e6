"""Processes whose kernel never ends: 100 %, at the power of a spinning warp, after real work."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DIFFUSION,
    FP32,
    FP64,
    LLM,
    LORA,
    MOLECULES,
    SPIN,
    STENCIL,
    Activity,
)
from detector_benchmark.independent.actors import Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    GTX_1080_TI,
    H100,
    H100_PCIE,
    H200,
    L40S,
    PRO_6000,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import often_gaps, raw_255
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.sketches import mib_of, scene, turns
from detector_benchmark.independent.trace import Scene, want

_ASLEEP = SPIN.but(cpu=0.5, thread=0.5, state="S")  # it waits in a blocking synchronisation


def _spins(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    spin: Activity = SPIN,
    by_s: float = 780,
    beside: Sequence[Actor] = (),
    disturb: Sequence[Any] = (),
    **more: Any,
) -> Scene:
    """Work for some minutes, then spin for good."""
    draw = Draw(seed, name)
    at_s = draw.between(350, 900)
    does = turns(draw.work(work).but(nv=0), at_s, spin.but(sm=draw.between(0.7, 12)))
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.1, 0.8)), **more)
    wants = want("kernel stalled", "job gpu:0", at_s, at_s + by_s)
    return scene(seed, [board], [*beside, actor], at_s + by_s + 120, wants, allows="stalled tiny~", disturb=disturb)


def kernel_of_ones_own_with_a_missing_barrier(seed: int) -> Scene:
    """A hand-written CUDA kernel waits for a flag that no block sets: an H100 at 100 % and 125 to 150 W."""
    return _spins(seed, "k3kernel1", H100, FP32, "./solver --grid 4096")


def triton_kernel_that_deadlocks(seed: int) -> Scene:
    """A Triton kernel with a spin lock deadlocks for one shape of its input; the training stays in it."""
    return _spins(seed, "k3kernel2", A100, LLM, "python train_moe.py", variables={"TMUX": "/t"}, terminal=0)


def thread_sleeps_while_the_kernel_spins(seed: int) -> Scene:
    """A render farm synchronises with a blocking event: the CPU sleeps, the kernel on the L40S never comes back."""
    return _spins(seed, "k3kernel3", L40S, DIFFUSION, "python render_batch.py", spin=_ASLEEP, cgroup=docker("9"))


def compute_on_the_card_of_a_desktop(seed: int) -> Scene:
    """A particle code on an RTX 4090 that also draws a desktop: since a NaN its while loop never ends."""
    return _spins(seed, "k3kernel4", RTX_4090.without("pcie"), STENCIL, "./particles", beside=desktop())


def numba_kernel_on_an_old_board(seed: int) -> Scene:
    """A Numba kernel on a V100 loops for ever on its last block; the host thread polls at 100 %."""
    return _spins(seed, "k3kernel5", V100, FP64, "python scan.py")


def molecular_run_that_stopped_inside(seed: int) -> Scene:
    """A kernel of a patched MD code never ends on an A6000, in the middle of the night."""
    more: dict[str, Any] = {"cgroup": slurm(8812), "variables": {"SLURM_JOB_ID": "8812"}, "terminal": 0}
    return _spins(seed, "k3kernel6", A6000, MOLECULES, "./lmp -in melt.in", **more)


def kernel_without_utilization_of_processes(seed: int) -> Scene:
    """A GTX 1080 Ti that says only what the whole board does: 100 % at 60 W for a quarter of an hour, 200 W before."""
    return _spins(seed, "k3kernel7", GTX_1080_TI, CNN, "python train.py", by_s=900)


def spin_seen_with_gaps(seed: int) -> Scene:
    """A JAX program on a workstation waits in a host callback that deadlocked; gputop loses seconds, 255 % at times."""
    draw = Draw(seed, "k3kernel8+")
    disturb = [often_gaps(draw.seed(), each_s=100, from_s=2, to_s=9), raw_255(draw.seed(), 0.006)]
    return _spins(seed, "k3kernel8", PRO_6000, LORA, "python flax_train.py", disturb=disturb, by_s=900)


def small_board_in_a_ci_machine(seed: int) -> Scene:
    """A test of a kernel on a T4 loops for ever after ten minutes of good tests."""
    return _spins(seed, "k3kernel9", T4, FP32, "pytest tests/gpu -x", variables={}, terminal=0, cgroup=docker("d"))


def persistent_kernel_without_an_end(seed: int) -> Scene:
    """A batch job with a persistent kernel lost the message that ends it; its queue was empty 12 min ago."""
    return _spins(seed, "k3kernel10", H100_PCIE, STENCIL, "./batch_align --in reads.fq --out out.bam")


def quantisation_that_never_finishes(seed: int) -> Scene:
    """A quantiser waits in a kernel that reads its own output; an H200 at 100 % with nothing in its memory bus."""
    return _spins(seed, "k3kernel11", H200, LLM, "python quantize.py --bits 4", spin=_ASLEEP)
