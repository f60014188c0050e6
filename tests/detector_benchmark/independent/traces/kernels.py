"""Kernels that never end, and kernels that run long for a good reason."""

from detector_benchmark.independent.activity import CNN, DECODE, FP32, FP64, LORA, RENDER, SPIN, STENCIL, TRICKLE
from detector_benchmark.independent.actors import docker, service
from detector_benchmark.independent.boards import A100_40, H100, L40S, POWER, RTX_4090, T4, V100
from detector_benchmark.independent.disturbances import bad_process_zeros
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.scripts import level, phases, sometimes
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_SEEN = allow("tiny~")


def kernel_with_an_endless_loop(seed: int) -> Scene:
    """An own CUDA program worked for eight minutes; then one kernel never ends: 100 % at 150 W of 700 W."""
    job = program("sim", "./particles --steps 100000", 0, phases(FP64, (480, SPIN)), level(4200))
    return Scene(
        world=World([H100], [job], seed=seed), until_s=1500, wants=[want("kernel", "sim", 480, 1380)], allows=_SEEN
    )


def persistent_kernel_of_a_server(seed: int) -> Scene:
    """A server keeps a persistent kernel that polls for requests: 100 % at little power in its first idle period."""
    does = phases(DECODE, (420, SPIN))
    job = program(
        "server", "python megakernel_server.py --port 8000", 0, does, level(31000), terminal=0, cgroup=service("mega")
    )
    return Scene(world=World([H100], [job], seed=seed), until_s=1900, allows=_SEEN + allow("kernel~"))


def training_in_a_hung_kernel(seed: int) -> Scene:
    """A custom attention kernel loops in a training on a consumer board; the host thread spins in a synchronize."""
    job = program("train", "python train_flash.py", 0, phases(LORA, (400, SPIN)), level(18100), terminal=0)
    return Scene(
        world=World([RTX_4090], [job], seed=seed),
        until_s=1400,
        wants=[want("kernel", "train", 400, 1300)],
        allows=_SEEN,
    )


def kernel_that_waits_for_a_flag(seed: int) -> Scene:
    """A kernel waits for a flag in memory that nothing sets: 100 % at 66 W of 300 W since half an hour of work."""
    job = program(
        "solver", "./wave3d -n 4096", 0, phases(STENCIL, (450, SPIN.but(cpu=1, state="S"))), level(12100), terminal=0
    )
    return Scene(
        world=World([V100], [job], seed=seed), until_s=1450, wants=[want("kernel", "solver", 450, 1400)], allows=_SEEN
    )


def polling_server_with_rare_requests(seed: int) -> Scene:
    """A trading model polls for ticks with a persistent kernel; every four minutes there is work for some seconds."""
    does = sometimes(SPIN, each_s=240, part=FP32.but(util=100), for_s=8, seed=6)
    job = program(
        "ticks", "/opt/ticks/bin/infer --listen 0.0.0.0:9100", 0, does, level(2900), terminal=0, cgroup=docker("7")
    )
    return Scene(world=World([A100_40], [job], seed=seed), until_s=1800, allows=_SEEN + allow("kernel~"))


def hung_kernel_without_power(seed: int) -> Scene:
    """The driver has no power reading. The memory controller falls from 58 % to 0 % at 100 % utilization, for good."""
    job = program("train", "python -u train.py", 0, phases(FP32, (420, SPIN)), level(13000), terminal=0)
    return Scene(
        world=World([T4.without(POWER)], [job], seed=seed),
        until_s=1500,
        wants=[want("kernel", "train", 420, 1470)],
        allows=_SEEN,
    )


def hung_kernel_with_bad_readings(seed: int) -> Scene:
    """A kernel never ends. In 1 % of the samples the driver charges the process nothing."""
    job = program("jax", "python jax_train.py", 0, phases(CNN.but(nv=0), (380, SPIN)), level(61000), terminal=0)
    return Scene(
        world=World([H100], [job], seed=seed),
        until_s=1400,
        wants=[want("kernel", "jax", 380, 1300)],
        allows=_SEEN,
        disturbances=[bad_process_zeros(seed, 0.01)],
    )


def rendering_of_a_single_long_frame(seed: int) -> Scene:
    """A renderer computes one frame for half an hour, at full power."""
    job = program("render", "blender -b room.blend -f 1", 0, RENDER, level(9100))
    return Scene(world=World([RTX_4090], [job], seed=seed), until_s=1500, allows=())


def infinite_kernel_beside_a_server(seed: int) -> Scene:
    """A test of a student loops on a board that a small server shares: 100 % since the test began, at low power."""
    server = program(
        "server",
        "tritonserver --http-port 8000",
        0,
        TRICKLE,
        level(6200),
        user="svc",
        cgroup=service("triton"),
        age_s=80000,
    )
    test = program("test", "./a.out", 0, phases(FP32, (360, SPIN)), level(600))
    return Scene(
        world=World([L40S], [server, test], seed=seed),
        until_s=1500,
        wants=[want("kernel", "test", 360, 1460)],
        allows=_SEEN,
    )
