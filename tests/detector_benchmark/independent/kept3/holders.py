"""Processes that hold memory of a GPU and have not used it for a long time."""

from detector_benchmark.independent.activity import CNN, FP32, IDLE, LORA
from detector_benchmark.independent.actors import SSH, TERMINAL
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    H100,
    H100_MIG,
    H200,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    T4,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import level, sometimes
from detector_benchmark.independent.sketches import jammed, mib_of, notebook, scene, turns
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP

_BY_S = 960


def notebook_since_last_night(seed: int) -> Scene:
    """A notebook holds a model on an A100 since yesterday; its user has gone home."""
    draw = Draw(seed, "k3idle1")
    actors = notebook("nb", 0, jammed(draw.between(0.1, 0.6)), mib_of(A100, draw.between(0.3, 0.7)), age_s=50000)
    return scene(seed, [A100], actors, 1200, want("idle", "nb gpu:0", 0, _BY_S))


def prompt_of_python_after_a_training(seed: int) -> Scene:
    """``python -i`` trained for some minutes, and now waits at its prompt, with all of its memory."""
    draw = Draw(seed, "k3idle2")
    at_s = draw.between(200, 500)
    does = turns(draw.work(CNN).but(nv=0), at_s, ASLEEP)
    actor = program("repl", "python -i train.py", 0, does, mib_of(RTX_4090, 0.6))
    return scene(seed, [RTX_4090], [*desktop(), actor], at_s + 1200, want("idle", "repl gpu:0", at_s, at_s + _BY_S))


def forgotten_debugger(seed: int) -> Scene:
    """A script waits in pdb on a terminal since hours: 30 GiB of an A6000."""
    draw = Draw(seed, "k3idle3")
    actor = program("pdb", "python -m pdb finetune.py", 0, ASLEEP, level(30000), age_s=20000)
    board = A6000.without("pcie") if draw.whole(0, 1) else A6000
    return scene(seed, [board], [actor], 1200, want("idle", "pdb gpu:0", 0, _BY_S), allows="stalled")


def scripts_that_finished_and_stayed(seed: int) -> Scene:
    """Three inference scripts on a T4 finished and wait for a key at a terminal; together they hold 12 GiB."""
    draw = Draw(seed, "k3idle4")
    actors = [
        program(f"infer{n}", "python infer.py --show", 0, ASLEEP, level(mib), age_s=draw.between(4000, 90000))
        for n, mib in enumerate((5144.0, 2070.0, 5154.0))
    ]
    return scene(seed, [T4], actors, 1200, want("idle", "infer0 infer1 infer2 gpu:0", 0, _BY_S), allows="stalled")


def instance_of_mig_held_by_a_notebook(seed: int) -> Scene:
    """A notebook holds an instance of an H100, whose activity is zero; the other instance works."""
    draw = Draw(seed, "k3idle5")
    nb = notebook("nb", 0, jammed(0.3), level(17000), instance=2)
    other = program(
        "other", "python train.py", 0, draw.work(LORA, level=0.4).but(nv=0), level(30000), instance=1, user="bob"
    )
    return scene(seed, [H100_MIG], [*nb, other], 1260, want("idle", "nb gpu:0", 0, 1080))


def blips_of_a_heartbeat(seed: int) -> Scene:
    """A notebook extension reads the free memory and runs a kernel of a microsecond now and then: 1 % in single samples."""
    draw = Draw(seed, "k3idle6")
    blip = IDLE.but(util=1, share=0.002, cpu=4)
    does = sometimes(jammed(0.5), each_s=120, part=blip, for_s=1, seed=draw.seed())
    actors = notebook("nb", 0, does, mib_of(L40S, 0.5), age_s=30000)
    return scene(seed, [L40S], actors, 1500, want("idle", "nb gpu:0", 0, 1320))


def one_user_holds_and_one_works(seed: int) -> Scene:
    """On two H100 bob trains on one, and ann's model lies on the other, unused, in her tmux since two hours."""
    draw = Draw(seed, "k3idle7")
    holds = program("holds", "ipython", 1, ASLEEP, mib_of(H100, 0.85), age_s=7000, variables=SSH, terminal=TERMINAL)
    works = program("works", "python train.py", 0, draw.work(LORA).but(nv=0), mib_of(H100, 0.5), user="bob")
    return scene(seed, [H100] * 2, [holds, works], 1200, want("idle", "holds gpu:1", 0, _BY_S))


def array_library_took_three_quarters(seed: int) -> Scene:
    """A notebook imported JAX for a plot: it took 75 % of an H200 and has computed nothing for hours."""
    draw = Draw(seed, "k3idle8")
    actors = notebook("nb", 0, jammed(draw.between(0.2, 1.5)), mib_of(H200, 0.75), age_s=15000)
    return scene(seed, [H200], actors, 1200, want("idle", "nb gpu:0", 0, _BY_S))


def dashboard_that_took_a_gpu(seed: int) -> Scene:
    """A dashboard of a data scientist imported TensorFlow, which took 22 GiB of an RTX 3090; it only draws curves."""
    draw = Draw(seed, "k3idle9")
    does = sometimes(jammed(0.4), each_s=60, part=jammed(9), for_s=2, seed=draw.seed())
    actor = program("dash", "python dashboard.py", 0, does, level(22300), age_s=90000)
    return scene(seed, [RTX_3090], [actor], 1200, want("idle", "dash gpu:0", 0, _BY_S), allows="stalled")


def holder_seen_through_gaps(seed: int) -> Scene:
    """A session of ipython holds 60 GiB of a workstation since its last cell; gputop loses seconds now and then."""
    draw = Draw(seed, "k3idle10")
    at_s = draw.between(120, 300)
    does = turns(draw.work(FP32), at_s, jammed(0.2))
    actor = program("ipy", "/opt/env/bin/python /opt/env/bin/ipython", 0, does, level(60000))
    gaps = often_gaps(draw.seed(), each_s=120, from_s=2, to_s=10)
    return scene(seed, [PRO_6000], [actor], at_s + 1300, want("idle", "ipy gpu:0", at_s, at_s + 1100), disturb=[gaps])
