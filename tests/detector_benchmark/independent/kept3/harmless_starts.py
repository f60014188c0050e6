"""Starts: imports, downloads, weights, compilation, captures. None is trouble."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    COPY,
    DECODE,
    DISK,
    FP32,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    PREFILL,
    Activity,
)
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H100_MIG,
    H200,
    L40S,
    PRO_6000,
    RTX_4090,
    T4,
    Board,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Part, cycle, phases, steps, warmed
from detector_benchmark.independent.sketches import mib_of, scene
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import loads, train

_IMPORTS = HOST.but(cpu=96)


def _starts(
    seed: int,
    board: Board,
    does: Part,
    mib: float,
    *,
    at_s: float = 30,
    command: str = "python train.py",
    until_s: float = 1300,
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    memory = warmed(450, mib, at_s=at_s, over_s=40)
    actor = program("job", command, 0, does, memory, age_s=0.0, **more)
    return scene(seed, [board], [actor, *beside], until_s)


def compiler_of_a_model_uses_all_cores(seed: int) -> Scene:
    """torch.compile works with many processes for four minutes, the GPU runs single kernels; then the training begins."""
    draw = Draw(seed, "k3start1")
    at_s = draw.between(180, 260)
    builds = cycle((9, MANY), (1, IDLE.but(util=30, share=0.1, sm=10, cpu=100, state="R")))
    does = phases(_IMPORTS, (15, DISK), (25, builds), (at_s, draw.work(LLM).but(nv=0)))
    return _starts(seed, A100, does, 33000)


def array_compiler_for_two_minutes(seed: int) -> Scene:
    """XLA compiles on its threads for two minutes, with the memory taken and the GPU at rest."""
    draw = Draw(seed, "k3start2")
    at_s = draw.between(90, 140)
    does = phases(_IMPORTS, (12, MANY), (at_s, draw.work(LLM).but(nv=0)))
    return _starts(seed, H200, does, 106000, at_s=10, command="python train_flax.py")


def engine_is_built_by_trying_kernels(seed: int) -> Scene:
    """TensorRT tries kernels for ten minutes, with bursts on the GPU and one thread busy; then the program serves."""
    draw = Draw(seed, "k3start3")
    tries = cycle((2, draw.work(FP32).but(util=70, share=0.4)), (3, HOST))
    does = phases(_IMPORTS, (10, tries), (600, draw.work(PREFILL)))
    return _starts(seed, L40S, does, 14000, command="trtllm-build --checkpoint_dir ckpt", until_s=1200)


def server_loads_profiles_and_captures(seed: int) -> Scene:
    """A vLLM server imports, loads, profiles and captures its graphs in three minutes, then serves."""
    draw = Draw(seed, "k3start4")
    work = cycle((10, draw.work(DECODE)), (3, draw.work(PREFILL)), (6, IDLE.but(cpu=4)))
    captures = IDLE.but(util=45, mc=12, share=0.15, sm=20, dram=10, cpu=100, state="R")
    does = phases(_IMPORTS, (25, COPY), (70, draw.work(PREFILL)), (85, captures), (115, HOST), (125, work))
    command = "python -m vllm.entrypoints.openai.api_server --model m --port 8000"
    memory = steps(
        (0, 450.0), (25, 15000.0), (70, 26000.0), (84, 70000.0), (90, 70600.0), (100, 71200.0), (115, 71800.0)
    )
    actor = program("serve", command, 0, does, memory, age_s=0.0)
    return scene(seed, [H100], [actor], 1200)


def extension_is_compiled_first(seed: int) -> Scene:
    """DeepSpeed compiles an extension with a compiler for three minutes; the ranks of two GPUs wait on its lock, asleep."""
    draw = Draw(seed, "k3start5")
    at_s = draw.between(130, 190)
    work = train(draw.work(LORA), step_s=2)
    does = lambda rank: phases(_IMPORTS, (14, IDLE.but(cpu=3)), (at_s, work))
    actors = ranks(range(2), does, warmed(430, 17000, at_s=at_s), launcher="deepspeed train.py", age_s=0.0)
    builds = [
        Actor(
            name=f"cc{n}", command="cicc --arch sm_89", parent="rank0", until_s=at_s, from_s=14, host=lambda t_s: HOST
        )
        for n in range(4)
    ]
    return scene(seed, [RTX_4090] * 2, [*actors, *builds], 1200)


def weights_are_downloaded_first(seed: int) -> Scene:
    """A script has a context on the GPU and downloads 30 GiB for five minutes; then it generates."""
    draw = Draw(seed, "k3start6")
    at_s = draw.between(250, 320)
    does = phases(_IMPORTS, (12, IDLE.but(cpu=22)), (at_s, COPY), (at_s + 20, draw.work(DECODE)))
    return _starts(seed, A6000, does, 31000, at_s=at_s, command="python generate.py --model org/m")


def eight_ranks_find_each_other(seed: int) -> Scene:
    """Eight ranks load, meet, and wait 45 s in their first collective for the slowest of them; then they train."""
    draw = Draw(seed, "k3start7")
    work = train(draw.work(LLM), step_s=5)
    poll = Activity(util=100, spin=1.0, sm=10, occupancy=4, cpu=101, state="R", noise=0.004)

    def does(rank: int) -> Part:
        ready_s = 50 + 6.0 * ((rank * 5) % 8)
        return phases(_IMPORTS, (15, DISK), (ready_s - 10, COPY), (ready_s, poll), (100, work))

    actors = ranks(range(8), does, warmed(500, 60000, at_s=40), launcher="srun", age_s=0.0)
    return scene(seed, [B200] * 8, actors, 900)


def tuner_of_kernels_tries_for_minutes(seed: int) -> Scene:
    """Triton tunes its kernels for five minutes: single launches, one or more cores busy; then it works at full load."""
    draw = Draw(seed, "k3start8")
    tunes = cycle((1, draw.work(FP32).but(util=85, share=0.5)), (2, HOST), (2, MANY))
    does = phases(_IMPORTS, (14, tunes), (draw.between(240, 320), draw.work(LLM).but(nv=0)))
    return _starts(seed, PRO_6000, does, 40000)


def restart_of_four_ranks(seed: int) -> Scene:
    """A training of four ranks reads a checkpoint from a slow disk for two minutes, then skips batches for one, then works."""
    draw = Draw(seed, "k3start9")
    work = train(draw.work(CNN), step_s=1)
    does = lambda rank: phases(_IMPORTS, (14, DISK), (130, COPY), (140, HOST), (190, work))
    actors = ranks(range(4), does, warmed(450, 9000, at_s=130), age_s=0.0)
    return scene(seed, [T4] * 4, actors, 1100)


def start_in_an_instance_of_mig(seed: int) -> Scene:
    """A small training starts in an instance of an H100: imports, weights, compilation, then steady work."""
    draw = Draw(seed, "k3start10")
    does = loads(draw, draw.work(LORA, level=0.4).but(nv=0), slow=1.4)
    return _starts(seed, H100_MIG, does, 21000, instance=1)


def programs_that_follow_each_other(seed: int) -> Scene:
    """A shell script starts a program of two minutes again and again: each imports, loads, works, exits."""
    draw = Draw(seed, "k3start11")
    each_s, work = draw.between(110, 150), draw.work(CNN).but(nv=0)
    many = []
    for n in range(9):
        from_s = n * each_s
        shifted = phases(_IMPORTS, (from_s + 10, COPY), (from_s + 18, work))
        more: dict[str, Any] = {"from_s": from_s, "until_s": from_s + each_s - 3, "age_s": 0.0}
        many.append(program(f"run{n}", f"python run.py --seed {n}", 0, shifted, mib_of(L40S, 0.2), **more))
    return scene(seed, [L40S], many, 9 * each_s - 20)
