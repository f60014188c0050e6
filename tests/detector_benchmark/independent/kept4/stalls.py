"""Programs that do nothing any more, although nobody ended them."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, FP32, IDLE, LLM, LORA, MOLECULES, Activity
from detector_benchmark.independent.actors import Actor, docker, slurm
from detector_benchmark.independent.boards import A100, B200, H100, L4, L40S, RTX_3090, RTX_4090, T4, V100, Board
from detector_benchmark.independent.disturbances import (
    Disturbance,
    bad_process_zeros,
    faults,
    lost_memory,
    no_process_values,
    often_gaps,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import loaders, program, ranks, shell
from detector_benchmark.independent.scripts import script
from detector_benchmark.independent.sketches import jammed, mib_of, scene, turns, well_fed
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, everyone, steps_until, train

_BATCH: Any = {"variables": {}, "terminal": 0}


def _stalls(
    seed: int,
    name: str,
    board: Board,
    *,
    work: Activity = FP32,
    command: str = "python -u train.py --epochs 90",
    rest: Activity = ASLEEP,
    workers: int = 4,
    beside: Callable[[Actor, float], Sequence[Actor]] = lambda actor, at_s: (),
    disturb: Callable[[Draw], Sequence[Disturbance]] = lambda draw: (),
    allows: str = "idle~ blocked",
    interval_s: float = 1.0,
    **more: Any,
) -> Scene:
    """Let a program work with its loaders; at some time all of them fall asleep for ever."""
    draw = Draw(seed, name)
    at_s = draw.between(420, 640)
    does = turns(rippling(draw, drifting(draw, draw.work(work))), at_s, rest)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.85)), **_BATCH | more)
    helpers = loaders(actor, workers, turns(well_fed(draw), at_s, jammed(0)))
    actors = [actor, *helpers, *beside(actor, at_s)]
    wants = want("stalled", "job gpu:0", at_s, at_s + 960)
    return scene(seed, [board], actors, at_s + 1020, wants, allows=allows, disturb=disturb(draw), interval_s=interval_s)


def _burner(command: str, title: str = "") -> Callable[[Actor, float], Sequence[Actor]]:
    """Return a child that burns a core, from the moment of the standstill on."""

    def beside(actor: Actor, at_s: float) -> Sequence[Actor]:
        burns = script(turns(jammed(1), at_s, jammed(99, "R")))
        return [Actor(name="burner", command=command, parent=actor.name, host=burns, title=title, threads=2)]

    return beside


# --- one child burns a core ----------------------------------------------------------------------------------------
def loader_in_an_endless_regular_expression(seed: int) -> Scene:
    """One of five loaders never comes back from a regular expression and burns a core; all others sleep, on an A100."""
    return _stalls(seed, "k4stall1", A100, beside=_burner("python -u train.py --epochs 90", "pt_data_worker"))


def uploader_that_tries_for_ever(seed: int) -> Scene:
    """The child that sends metrics loops over a broken connection at 100 %; the training on an H100 waits for it."""
    return _stalls(seed, "k4stall2", H100, work=LLM, beside=_burner("wandb-service --pid-filename /tmp/x"))


def tokenizer_that_never_returns(seed: int) -> Scene:
    """A child that tokenizes runs into a loop of its own; an L4 has nothing to do any more."""
    beside = _burner("/usr/bin/python3 tokenize_worker.py")
    return _stalls(seed, "k4stall3", L4, work=LORA, beside=beside, allows="idle~ blocked input~")


def helper_that_polls_a_pipe(seed: int) -> Scene:
    """The helper of a molecular simulation polls a pipe that its parent, asleep for ever, does not fill; a T4."""
    return _stalls(
        seed, "k4stall4", T4, work=MOLECULES, command="gmx mdrun -deffnm run", workers=0, beside=_burner("plumed")
    )


# --- seen badly ----------------------------------------------------------------------------------------------------
def standstill_seen_through_gaps(seed: int) -> Scene:
    """A training on a V100 stands still; gputop misses five to fifteen seconds, again and again."""
    gaps = lambda draw: [often_gaps(draw.seed(), each_s=75, from_s=5, to_s=15)]
    return _stalls(seed, "k4stall5", V100, work=CNN, disturb=gaps)


def standstill_with_values_that_fail(seed: int) -> Scene:
    """A training on a B200 stands still; the shares of its processes and the memory often cannot be read."""
    bad = lambda draw: [no_process_values(draw.seed(), 0.05), lost_memory(draw.seed(), 0.05)]
    return _stalls(seed, "k4stall6", B200, work=LLM, disturb=bad)


def standstill_seen_every_five_seconds(seed: int) -> Scene:
    """A fine-tuning on an RTX 4090 stands still; gputop looks every five seconds, and some readings fail."""
    bad = lambda draw: [
        faults(draw.seed(), 0.05, "gpu_utilization_percent", "power_average_w"),
        bad_process_zeros(draw.seed(), 0.05),
    ]
    return _stalls(seed, "k4stall7", RTX_4090, work=LORA, disturb=bad, interval_s=5.0)


# --- -i means an input ---------------------------------------------------------------------------------------------
def batch_with_an_input_file(seed: int) -> Scene:
    """A solver with `-i case.nml` on an A100 waits for a lock that nothing releases."""
    return _stalls(seed, "k4stall8", A100, command="./solver -i case.nml -o out.nc", workers=0)


def training_with_an_input_folder(seed: int) -> Scene:
    """A training with `-i /data/shards` on an L40S: its queue is empty for ever after a worker died."""
    return _stalls(seed, "k4stall9", L40S, work=CNN, command="python train.py -i /data/shards -b 64")


def transcoding_with_an_input(seed: int) -> Scene:
    """An upscaler with `-i film.mkv` in a container on a T4 waits for a frame that never comes."""
    more: Any = {"command": "python upscale.py -i film.mkv -s 4", "workers": 2, "cgroup": docker("9")}
    return _stalls(seed, "k4stall10", T4, **more)


# --- others --------------------------------------------------------------------------------------------------------
def eight_ranks_asleep(seed: int) -> Scene:
    """All eight ranks of a Slurm job on L40S sleep at 0 % and at the power of a context, after a worker's deadlock."""
    draw = Draw(seed, "k4stall11")
    at_s = draw.between(400, 600)
    work = train(draw.work(CNN), step_s=1.4)
    actors = ranks(range(8), lambda rank: turns(work, at_s, jammed(0.4)), mib_of(L40S, 0.5), launcher="srun")
    wants = want("stalled", everyone(8), at_s, at_s + 960)
    return scene(seed, [L40S] * 8, actors, at_s + 1020, wants, allows="idle~ hang")


def training_whose_steps_end(seed: int) -> Scene:
    """A training on a 3090 that reported its steps reports none any more and sleeps: a loader was killed."""
    draw = Draw(seed, "k4stall12")
    at_s = draw.between(420, 600)
    does = turns(drifting(draw, draw.work(FP32)), at_s, jammed(0.3))
    more: Any = {"steps": steps_until(at_s, each_s=0.4), "cgroup": slurm(99), "variables": {"SLURM_JOB_ID": "99"}}
    actor = program("job", "python train.py", 0, does, mib_of(RTX_3090, 0.7), terminal=0, **more)
    wants = want("stalled", "job gpu:0", at_s, at_s + 960)
    return scene(seed, [RTX_3090], [actor], at_s + 1020, wants, allows="idle~")


def loaders_that_are_zombies(seed: int) -> Scene:
    """Two loaders of a training on a V100 were killed and are zombies; the rest sleeps and waits for their batches."""
    draw = Draw(seed, "k4stall13")
    at_s = draw.between(420, 600)
    actor = program("job", "python train.py", 0, turns(draw.work(CNN), at_s, ASLEEP), mib_of(V100, 0.6), **_BATCH)
    fed = loaders(actor, 2, turns(well_fed(draw), at_s, jammed(0)))
    dead = [shell(f"dead{n}", actor.command, parent="job", zombie_s=at_s, title="pt_data_worker") for n in (0, 1)]
    wants = want("stalled", "job gpu:0", at_s, at_s + 960)
    return scene(seed, [V100], [actor, *fed, *dead], at_s + 1020, wants, allows="idle~ orphan~")


def batch_inference_that_waits_for_storage(seed: int) -> Scene:
    """A batch inference on an H100 waits in a read of a mount that is gone, in the state D, for ever."""
    more: Any = {"work": DECODE, "rest": IDLE.but(cpu=0, state="D"), "workers": 0, "command": "python embed.py --all"}
    return _stalls(seed, "k4stall14", H100, **more, allows="idle~ blocked")
