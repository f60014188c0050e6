"""Processes whose memory grows for as long as they work, and is never given back."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, IDLE, LLM, LORA, MOLECULES
from detector_benchmark.independent.actors import docker, service
from detector_benchmark.independent.boards import (
    A100,
    A100_MIG,
    A6000,
    B200,
    H100,
    H200,
    L4,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    T4,
)
from detector_benchmark.independent.disturbances import lost_memory, often_gaps, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import Curve, cycle, growing, level, sawtooth, steps, warmed
from detector_benchmark.independent.sketches import mib_of, notebook, scene
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone, poisson_steps, since, train


def _while_on(base: Curve, *, on_s: float, off_s: float, mib_per_min: float) -> Curve:
    """Grow only in the first part of each period."""

    def curve(t_s: float) -> float:
        turns, rest = divmod(t_s, on_s + off_s)
        return base(t_s) + (turns * on_s + min(rest, on_s)) / 60 * mib_per_min // 2 * 2

    return curve


def losses_are_kept_with_their_graph(seed: int) -> Scene:
    """A training on an RTX 4090 adds each loss tensor to a list: 20 to 30 MiB a minute, from its first step on."""
    draw = Draw(seed, "k3leak1")
    memory = growing(warmed(480, 9000), mib_per_min=draw.between(20, 30), from_s=60)
    does = since(0, train(draw.work(CNN).but(nv=0), step_s=0.4, is_alone=True))
    actors = [*desktop(), program("train", "python train.py --arch resnet152", 0, does, memory, age_s=0)]
    return scene(seed, [RTX_4090], actors, 3300, want("leak", "train gpu:0", 60, 3000), allows="filling")


def every_rank_of_eight_grows(seed: int) -> Scene:
    """Each of eight ranks keeps the activations of a hook: 50 to 70 MiB a minute on every H100, for hours."""
    draw = Draw(seed, "k3leak2")
    memory = growing(level(41000), mib_per_min=draw.between(50, 70), from_s=-600)
    actors = ranks(range(8), lambda rank: train(draw.work(LLM), step_s=6), memory, launcher="srun")
    return scene(seed, [H100] * 8, actors, 2400, want("leak", everyone(8), 0, 2200), allows="filling")


def server_grows_with_its_requests(seed: int) -> Scene:
    """A server keeps a tensor for each request. It grows by 60 MiB a minute while requests come, and rests between."""
    draw = Draw(seed, "k3leak3")
    on_s, off_s = draw.between(80, 150), draw.between(60, 120)
    memory = _while_on(level(19000), on_s=on_s, off_s=off_s, mib_per_min=60)
    does = cycle((on_s, draw.work(DECODE)), (off_s, IDLE))
    command = "/opt/env/bin/python -m uvicorn api:app --host 0.0.0.0 --port 8080"
    actor = program("api", command, 0, does, memory, cgroup=service("captions"), terminal=0, variables={})
    return scene(seed, [L40S], [actor], 3900, want("leak", "api gpu:0", 0, 3700), allows="filling")


def segments_at_random_times(seed: int) -> Scene:
    """A graph network that keeps features of its neighbours: segments of about 40 MiB, about one a minute."""
    draw = Draw(seed, "k3leak4")
    memory = poisson_steps(level(24000), draw, mib=40, each_s=50, from_s=-900, to_s=6000)
    actor = program("gnn", "python -u gnn/main.py", 0, draw.work(FP32), memory)
    return scene(seed, [A100], [actor], 3900, want("leak", "gnn gpu:0", 0, 3700), allows="filling")


def cell_of_a_notebook_that_appends(seed: int) -> Scene:
    """A cell of a notebook on a T4 runs for an hour and appends its predictions on the GPU: 15 to 25 MiB a minute."""
    draw = Draw(seed, "k3leak5")
    memory = growing(level(3900), mib_per_min=draw.between(15, 25), from_s=100)
    actors = notebook("nb", 0, draw.work(FP32).but(util=82), memory)
    return scene(seed, [T4], actors, 3600, want("leak", "nb gpu:0", 100, 3400), allows="filling")


def instance_of_mig_fills(seed: int) -> Scene:
    """A process in a MIG instance of an A100 leaks 40 MiB a minute; only its memory can be read."""
    draw = Draw(seed, "k3leak6")
    memory = growing(level(6000), mib_per_min=40, from_s=0)
    actor = program("embed", "python embed.py --shard 3", 0, draw.work(DECODE, level=0.25), memory, instance=2)
    other = program("beside", "python rerank.py", 0, draw.work(DECODE, level=0.3), level(21000), instance=1, user="eve")
    return scene(seed, [A100_MIG], [actor, other], 3000, want("leak", "embed gpu:0", 0, 2800), allows="filling")


def a_step_with_each_epoch(seed: int) -> Scene:
    """Each epoch of 3 to 4 min leaves its validation set on the GPU: 140 MiB at once, then nothing until the next."""
    draw = Draw(seed, "k3leak7")
    epoch_s = draw.between(180, 240)
    memory = steps(*[(n * epoch_s, 12000 + 140 * n) for n in range(-1, 40)])
    actor = program(
        "seg", "python train_segmentation.py", 0, draw.work(CNN).but(nv=0), memory, variables={"TMUX": "/t"}
    )
    return scene(seed, [A6000], [actor], 4500, want("leak", "seg gpu:0", 0, 4300), allows="filling")


def floor_of_the_teeth_rises(seed: int) -> Scene:
    """Each batch of requests needs 2 GiB for a minute and gives them back, less some: the floor rises by 50 MiB/min."""
    draw = Draw(seed, "k3leak8")
    memory = growing(sawtooth(level(30000), mib=2000, period_s=draw.between(50, 90)), mib_per_min=50, from_s=-300)
    command = "python -m sglang.launch_server --model-path /models/q --port 30000"
    actor = program("sglang", command, 0, draw.work(DECODE), memory, cgroup=docker("5"), terminal=0, variables={})
    return scene(seed, [B200], [actor], 3600, want("leak", "sglang gpu:0", 0, 3400), allows="filling")


def flat_for_twenty_minutes_then_a_leak(seed: int) -> Scene:
    """A diffusion service is flat until a new LoRA is loaded; from then on each picture leaves 25 MiB, 4 a minute."""
    draw = Draw(seed, "k3leak9")
    at_s = draw.between(1000, 1300)
    memory = growing(steps((-9e9, 14200.0), (at_s, 14900.0)), mib_per_min=100, from_s=at_s)
    actor = program("diffuse", "python app.py --listen --port 7860", 0, draw.work(DIFFUSION), memory)
    return scene(seed, [L4], [actor], at_s + 1900, want("leak", "diffuse gpu:0", at_s, at_s + 1700), allows="filling")


def steady_leak_read_badly(seed: int) -> Scene:
    """A leak of 60 MiB a minute; one sample in a hundred says 0 MiB, some cannot be read, and some seconds are lost."""
    draw = Draw(seed, "k3leak10")
    memory = growing(level(52000), mib_per_min=60, from_s=0)
    actor = program("rl", "python ppo.py --env humanoid", 0, draw.work(LLM).but(nv=0), memory)
    disturb = [
        zero_memory(draw.seed(), 0.01),
        lost_memory(draw.seed(), 0.01),
        often_gaps(draw.seed(), each_s=150, from_s=3, to_s=12),
    ]
    return scene(seed, [H200], [actor], 3000, want("leak", "rl gpu:0", 0, 2800), allows="filling", disturb=disturb)


def very_fast_leak_while_it_works(seed: int) -> Scene:
    """A training that has worked for an hour begins to lose 300 to 400 MiB a minute; there is room for two hours."""
    draw = Draw(seed, "k3leak11")
    memory = growing(level(21000), mib_per_min=draw.between(300, 400), from_s=200)
    actor = program("train", "python -u train_lora.py", 0, draw.work(LORA), memory)
    return scene(seed, [PRO_6000], [actor], 2300, want("leak filling", "train gpu:0", 200, 2100), allows="filling")


def memory_of_processes_is_unknown(seed: int) -> Scene:
    """The driver of a workstation does not say what each process holds; the board itself grows by 80 MiB a minute."""
    draw = Draw(seed, "k3leak12")
    memory = growing(level(6000), mib_per_min=80, from_s=0)
    actors = [*desktop(), program("md", "python simulate.py --platform CUDA", 0, draw.work(MOLECULES), memory)]
    board = RTX_3090.without("process memory")
    return scene(seed, [board], actors, 3000, want("leak", "md gpu:0", 0, 2800), allows="filling")


def one_rank_of_four_grows(seed: int) -> Scene:
    """Rank 0 of an FSDP job logs images and keeps them on its GPU: 45 MiB a minute; its three peers are flat."""
    draw = Draw(seed, "k3leak13")
    flat = mib_of(A100, 0.6)
    grows = growing(flat, mib_per_min=45, from_s=-1000)
    actors = ranks(range(4), lambda rank: train(draw.work(LLM), step_s=9), None, lambda rank: flat if rank else grows)
    return scene(seed, [A100] * 4, actors, 2900, want("leak", "rank0 gpu:0", 0, 2700), allows="filling")
