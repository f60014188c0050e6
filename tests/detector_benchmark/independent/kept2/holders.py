"""Processes that hold much memory and do nothing with the GPU."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, HOST, IDLE, LLM, LORA, QUERY
from detector_benchmark.independent.actors import docker
from detector_benchmark.independent.boards import (
    A30_MIG,
    A100,
    A100_40,
    GTX_1080_TI,
    H100,
    H200,
    L4,
    L40S,
    LAPTOP_4070,
    RTX_3090,
    T4,
)
from detector_benchmark.independent.disturbances import lost_memory, raw_255
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program, ranks
from detector_benchmark.independent.scripts import level, phases, sometimes, steps
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, train
from detector_benchmark.independent.world import World

from gputop.core.processes.cgroup import Cgroup

_KERNEL = "python -m ipykernel_launcher -f /run/user/1000/jupyter/kernel-4f.json"
_JUPYTER = {"cgroup": Cgroup(kind="jupyter", trusted=()), "terminal": 0, "variables": {"JPY_PARENT_PID": "4001"}}


def notebook_left_over_night(seed: int) -> Scene:
    """A notebook trained in the evening; its kernel keeps 40 GB of an A100 for hours while its owner sleeps."""
    draw = Draw(seed, "idle1")
    at_s = draw.between(300, 600)
    does = phases(draw.work(CNN), (at_s, ASLEEP))
    main = program("kernel", _KERNEL, 0, does, level(draw.mib(A100, 0.3, 0.6)), **_JUPYTER)
    return Scene(
        world=World([A100], [main], seed=seed, interval_s=2.0),
        until_s=at_s + 3600,
        wants=[want("idle stalled", "kernel gpu:0", at_s, at_s + 1500)],
        allows=allow("stalled"),
    )


def python_prompt_holds_a_model(seed: int) -> Scene:
    """A Python prompt at a terminal loaded a model to try one thing, an hour before gputop starts."""
    draw = Draw(seed, "idle2")
    main = program("python", "python", 0, ASLEEP, level(draw.mib(L40S, 0.4, 0.8)), age_s=draw.between(4000, 9000))
    return Scene(
        world=World([L40S], [main], seed=seed),
        until_s=1600,
        wants=[want("idle", "python gpu:0", 0, 1200)],
    )


def debugger_prompt_of_a_finished_script(seed: int) -> Scene:
    """`python -i` stays at its prompt after the script has ended, with 18 GiB of an RTX 3090, and a desktop beside."""
    draw = Draw(seed, "idle3")
    at_s = draw.between(200, 500)
    does = phases(draw.work(FP32), (at_s, ASLEEP))
    main = program("python", "python -i experiment.py", 0, does, level(18400))
    return Scene(
        world=World([RTX_3090], [main, *desktop()], seed=seed),
        until_s=at_s + 1800,
        wants=[want("idle stalled", "python gpu:0", at_s, at_s + 1500)],
    )


def sweep_keeps_its_memory_at_the_end(seed: int) -> Scene:
    """The ranks of a finished sweep wait for a key before they end: eight H100 are full and do nothing."""
    draw = Draw(seed, "idle4")
    at_s = draw.between(250, 500)
    work = train(draw.work(LLM), step_s=3)
    actors = ranks(range(8), lambda rank: phases(work, (at_s, ASLEEP)), level(draw.mib(H100)), launcher="spawn")
    return Scene(
        world=World([H100] * 8, actors, seed=seed, interval_s=2.0),
        until_s=at_s + 2000,
        wants=[want("idle stalled", everyone(8), at_s, at_s + 1500)],
        allows=allow("idle stalled"),
    )


def holder_in_a_mig_slice(seed: int) -> Scene:
    """A forgotten process holds a slice of an A30 that others wait for; MIG gives no utilization."""
    draw = Draw(seed, "idle5")
    one = program("one", "python -i look.py", 0, ASLEEP, level(9800), instance=3, age_s=20000.0)
    two = program("two", "python train.py", 0, draw.work(CNN), level(4200), instance=5, user="bob")
    return Scene(
        world=World([A30_MIG], [one, two], seed=seed),
        until_s=2400,
        wants=[want("idle", "one", 0, 2100)],
        allows=allow("idle", "one gpu:0"),
    )


def image_tool_keeps_its_model(seed: int) -> Scene:
    """An image generator on a laptop made three pictures, then its user left for lunch with the model loaded."""
    draw = Draw(seed, "idle6")
    at_s = draw.between(200, 400)
    does = phases(draw.work(DIFFUSION), (at_s, ASLEEP))
    main = program("comfy", "python ComfyUI/main.py --lowvram", 0, does, level(6100))
    return Scene(
        world=World([LAPTOP_4070], [main, *desktop()], seed=seed),
        until_s=at_s + 2000,
        wants=[want("idle", "comfy gpu:0", at_s, at_s + 1800)],
        allows=allow("idle stalled~"),
    )


def finished_workers_add_up(seed: int) -> Scene:
    """Inference processes on a T4 end their work but not their lives: three hold the memory that the fourth needs."""
    draw = Draw(seed, "idle7")
    actors = [
        program(
            f"infer{n}",
            f"python infer.py --file {n}.mp4",
            0,
            phases(IDLE, (60 + 300 * n, draw.work(CNN)), (300 + 300 * n, ASLEEP)),
            level(3300),
            from_s=40.0 + 300 * n,
        )
        for n in range(3)
    ]
    return Scene(
        world=World([T4], actors, seed=seed),
        until_s=3000,
        wants=[want("idle stalled", "infer0 gpu:0", 300, 2000)],
        allows=allow("idle stalled"),
    )


def holder_with_bad_samples(seed: int) -> Scene:
    """A query engine is done with its tables since long, and keeps them; some samples say 255 %, some fail."""
    draw = Draw(seed, "idle8")
    at_s = draw.between(150, 400)
    does = phases(draw.work(QUERY), (at_s, ASLEEP))
    main = program("query", "python -m cudf_shell", 0, does, level(draw.mib(A100_40)))
    return Scene(
        world=World([A100_40], [main], seed=seed),
        until_s=at_s + 2200,
        wants=[want("idle", "query gpu:0", at_s, at_s + 1900)],
        allows=allow("stalled~"),
        disturbances=[raw_255(draw.seed(), 0.004), lost_memory(draw.seed(), 0.01)],
    )


def session_in_a_container_is_forgotten(seed: int) -> Scene:
    """An interactive container has held 130 GB of an H200 since the morning; its shell waits for input."""
    draw = Draw(seed, "idle9")
    main = program("python", "ipython", 0, ASLEEP, level(130000), cgroup=docker("e"), age_s=draw.about(20000))
    return Scene(
        world=World([H200], [main], seed=seed, is_in_container=True),
        until_s=1600,
        wants=[want("idle", "python gpu:0", 0, 1200)],
    )


def heartbeat_of_a_forgotten_process(seed: int) -> Scene:
    """A forgotten experiment does nothing but a heartbeat of 1 s of small kernels every few minutes."""
    draw = Draw(seed, "idle10")
    beat = IDLE.but(util=2, share=0.005, sm=0.5, cpu=7)
    does = sometimes(ASLEEP, each_s=280, part=beat, for_s=1, seed=draw.seed())
    main = program("python", "python keep.py", 0, does, level(9100), age_s=30000.0)
    return Scene(
        world=World([GTX_1080_TI], [main], seed=seed),
        until_s=2600,
        wants=[want("idle", "python gpu:0", 0, 2400)],
        allows=allow("stalled~"),
    )


def post_processing_is_done_and_the_model_stays(seed: int) -> Scene:
    """A scoring job writes its tables on the CPU for 5 min after its work, then waits for nothing, model in memory."""
    draw = Draw(seed, "idle11")
    at_s = draw.between(700, 900)
    does = phases(draw.work(DECODE), (at_s - 300, HOST), (at_s, ASLEEP))
    main = program("score", "python score.py", 0, does, steps((-1e9, 17000)))
    return Scene(
        world=World([L4], [main], seed=seed),
        until_s=at_s + 1900,
        wants=[want("idle stalled", "score gpu:0", at_s, at_s + 1500)],
        allows=allow("spin~ stalled idle~"),
    )


def lora_left_in_a_screen_session(seed: int) -> Scene:
    """A LoRA run in a screen session ended with an exception in an interactive debugger, pdb, and waits there."""
    draw = Draw(seed, "idle12")
    at_s = draw.between(400, 700)
    does = phases(draw.work(LORA), (at_s, ASLEEP))
    main = program("python", "python -m pdb -c continue lora.py", 0, does, level(draw.mib(A100)))
    return Scene(
        world=World([A100], [main], seed=seed),
        until_s=at_s + 2000,
        wants=[want("idle stalled", "python gpu:0", at_s, at_s + 1700)],
        allows=allow("stalled idle"),
    )
