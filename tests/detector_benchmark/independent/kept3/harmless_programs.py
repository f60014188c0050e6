"""Other programs that work as they should: simulations, queries, video, rendering, mixed work."""

from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    FP64,
    HOST,
    LLM,
    LORA,
    MOLECULES,
    QUERY,
    RENDER,
    STENCIL,
    Activity,
)
from detector_benchmark.independent.actors import slurm
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    H100,
    H200,
    L4,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    T4,
    Board,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program
from detector_benchmark.independent.scripts import Part, cycle
from detector_benchmark.independent.sketches import mib_of, scene, well_fed
from detector_benchmark.independent.trace import Scene


def _runs(seed: int, draw: Draw, board: Board, command: str, does: Part, **more: Any) -> Scene:
    return scene(
        seed, [board], [program("job", command, 0, does, mib_of(board, draw.between(0.05, 0.5)), **more)], 1500
    )


def molecular_dynamics_with_many_cores(seed: int) -> Scene:
    """GROMACS uses eight cores and three quarters of an L40S, evenly."""
    draw = Draw(seed, "k3prog1")
    return _runs(seed, draw, L40S, "gmx mdrun -deffnm prod", draw.work(MOLECULES))


def queries_over_tables(seed: int) -> Scene:
    """A database of tables on an A100 works in swings, with GB/s over PCIe."""
    draw = Draw(seed, "k3prog2")
    more = {"variables": {}, "terminal": 0}
    return _runs(seed, draw, A100, "python -m dask_cuda worker", draw.work(QUERY), **more)


def video_is_decoded_and_encoded(seed: int) -> Scene:
    """A transcoder uses the video engines of an L4 at 70 %, and its compute at a few percent."""
    draw = Draw(seed, "k3prog3")
    does = Activity(util=4, mc=9, share=0.12, sm=3, dram=8, decoder=68, encoder=74, rx=60, tx=40, cpu=35)
    return _runs(seed, draw, L4, "ffmpeg -hwaccel cuda -i in.mkv -c:v h264_nvenc out.mp4", does)


def training_with_loaders_that_keep_up(seed: int) -> Scene:
    """A training is at 76 to 84 %, its loaders at 20 to 35 % of a core each: the rest is its own overhead."""
    draw = Draw(seed, "k3prog4")
    work = draw.work(CNN).but(nv=0, util=draw.between(76, 84))
    actor = program("job", "python train.py", 0, work, mib_of(RTX_3090, 0.6))
    return scene(seed, [RTX_3090], [actor, *loaders(actor, 8, well_fed(draw))], 1500)


def full_training_with_busy_loaders(seed: int) -> Scene:
    """The loaders work hard, but the H100 is at 97 % all the time: it waits for nothing."""
    draw = Draw(seed, "k3prog5")
    actor = program("job", "python train.py", 0, draw.work(LLM).but(nv=0), mib_of(H100, 0.8))
    return scene(seed, [H100], [actor, *loaders(actor, 8, well_fed(draw, 60, 80))], 1500)


def render_of_frames(seed: int) -> Scene:
    """A renderer draws frames of 50 s, with 8 s on the CPU between them."""
    draw = Draw(seed, "k3prog6")
    does = cycle((50, draw.work(RENDER)), (8, HOST))
    return _runs(seed, draw, RTX_4090, "blender -b scene.blend -a", does)


def quantum_chemistry_in_double_precision(seed: int) -> Scene:
    """A Slurm job computes in double precision, with phases of 20 s on the CPU in each two minutes."""
    draw = Draw(seed, "k3prog7")
    more = {"cgroup": slurm(3111), "variables": {"SLURM_JOB_ID": "3111"}, "terminal": 0}
    does = cycle((100, draw.work(FP64)), (20, HOST))
    return _runs(seed, draw, H200, "./cp2k.psmp -i in.inp", does, **more)


def pipeline_of_data_on_the_gpu(seed: int) -> Scene:
    """DALI decodes images on an A6000 for other machines: 38 %, with the decoder at 70 %."""
    draw = Draw(seed, "k3prog8")
    return _runs(seed, draw, A6000, "python serve_batches.py --port 5555", draw.work(DATA))


def weather_model_bound_by_memory(seed: int) -> Scene:
    """A stencil code uses the memory of a workstation board at 90 %, with half of its power."""
    draw = Draw(seed, "k3prog9")
    return _runs(seed, draw, PRO_6000, "./wrf.exe", draw.work(STENCIL))


def batch_generation_at_a_steady_rate(seed: int) -> Scene:
    """A script of vLLM decodes a file of prompts, at 95 % and half of the power, bound by memory."""
    draw = Draw(seed, "k3prog10")
    return _runs(seed, draw, H100, "python generate.py --in prompts.jsonl", draw.work(DECODE))


def small_training_with_fused_steps(seed: int) -> Scene:
    """A small model runs as CUDA graphs: a T4 at 96 %, most of its power, little CPU."""
    draw = Draw(seed, "k3prog11")
    does = draw.work(LORA, level=0.9).but(nv=0, cpu=22, thread=22)
    return _runs(seed, draw, T4, "python train_compiled.py", does)
