"""Processes whose memory grows and is never given back."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DATA,
    DECODE,
    FP32,
    IDLE,
    LLM,
    LORA,
    PREFILL,
    RENDER,
    Activity,
)
from detector_benchmark.independent.actors import Actor, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A30_MIG,
    A100,
    GH200,
    H100,
    H200,
    L4,
    PRO_6000,
    PROCESS_MEMORY,
    RTX_3090,
    RTX_5090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import late_power, lost_memory, often_gaps, zero_memory
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop
from detector_benchmark.independent.scripts import Curve, Part, added, growing, level, records, sawtooth, warmed
from detector_benchmark.independent.sketches import alone, notebook, scene, team
from detector_benchmark.independent.textures import dipping, drifting, rippling
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone, poisson_steps, saturating, serves, spikes, train


def _leaks(
    seed: int,
    name: str,
    board: Board,
    memory: Callable[[Draw], Curve],
    work: Activity,
    *,
    does: Callable[[Draw, Activity], Part] = lambda draw, work: rippling(draw, drifting(draw, work)),
    from_s: float = 0,
    by_s: float = 2700,
    is_alarm: bool = False,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    part, curve = does(draw, draw.work(work)), memory(draw)
    wants = want("leak", "job gpu:0", from_s, by_s, is_alarm=is_alarm)
    given: Any = {"allows": "filling", "interval_s": 2.0, "disturb": disturb(draw), "actors": beside} | more
    return alone(seed, board, part, curve, by_s + 100, wants, **given)


def _each_round(base: Curve, mib: float, every_s: float, first_s: float) -> Curve:
    """Leave the same amount behind in each round."""
    return lambda t_s: base(t_s) + mib * max(0, math.floor((t_s - first_s) / every_s) + 1)


# --- a little with every step ---------------------------------------------------------------------------------------
def outputs_kept_with_their_graphs(seed: int) -> Scene:
    """A list of outputs on an H100 keeps their graphs: some megabytes with each step, for the whole training."""
    memory = lambda draw: growing(warmed(800, 38000), mib_per_min=draw.between(30, 80), from_s=70)
    return _leaks(seed, "k5leak1", H100, memory, LLM, command="python -u finetune.py")


def forty_megabytes_a_minute_of_a_server(seed: int) -> Scene:
    """A server on an A100 grows by about forty megabytes a minute; in a day its board will be full."""
    memory = lambda draw: growing(level(20958), mib_per_min=draw.between(37, 45), from_s=0)
    more: Any = {"command": "python -m lmdeploy.serve --server-port 23333", "cgroup": service("chat")}
    return _leaks(seed, "k5leak2", A100, memory, DECODE, by_s=3000, is_alarm=True, **more)


def transitions_stored_on_the_board(seed: int) -> Scene:
    """An agent on an RTX 5090 stores every transition on the board, and no limit was ever set."""
    memory = lambda draw: growing(level(4200), mib_per_min=draw.between(60, 130), from_s=0, chunk_mib=20)
    does = lambda draw, work: dipping(draw, work, IDLE.but(cpu=97, state="R"), every_s=23, for_s=6)
    return _leaks(seed, "k5leak3", RTX_5090, memory, FP32, does=does, command="python sac.py", beside=desktop())


def hidden_state_that_is_never_detached(seed: int) -> Scene:
    """A recurrent net on a V100 carries its state from batch to batch undetached; memory grows until it fails."""
    memory = lambda draw: growing(warmed(700, 3100), mib_per_min=draw.between(120, 190), from_s=60, chunk_mib=6)
    return _leaks(seed, "k5leak4", V100, memory, FP32, by_s=2500)


def slow_leak_of_a_long_simulation(seed: int) -> Scene:
    """A simulation on a GH200 forgets a dozen megabytes a minute, for more than an hour."""
    memory = lambda draw: growing(level(30500), mib_per_min=draw.between(11, 16), from_s=0, chunk_mib=4)
    return _leaks(seed, "k5leak5", GH200, memory, FP32, by_s=4500, interval_s=4.0, command="./reservoir case7.dat")


# --- much in rare rounds --------------------------------------------------------------------------------------------
def epochs_that_leave_a_hundred_megabytes(seed: int) -> Scene:
    """Each epoch of five minutes on a 3090 leaves about a hundred megabytes behind, for an hour and more."""
    memory = lambda draw: _each_round(level(9100), draw.whole(45, 75) * 2, draw.between(280, 350), 180)
    does = lambda draw, work: dipping(draw, work, IDLE.but(cpu=70), every_s=310, for_s=15)
    return _leaks(seed, "k5leak6", RTX_3090, memory, CNN, does=does, by_s=4400, interval_s=3.0)


def model_loaded_anew_with_each_client(seed: int) -> Scene:
    """A speech server on a T4 loads a part of its model anew for each client that comes, and frees none when it leaves."""
    memory = lambda draw: _each_round(level(2900), draw.whole(60, 90) * 2, draw.between(150, 220), 100)
    does = lambda draw, work: serves(draw, work, each_s=40, for_s=50)
    more: Any = {"command": "python asr_server.py --http-port 9000", "cgroup": docker("8")}
    return _leaks(seed, "k5leak7", T4, memory, PREFILL, does=does, by_s=4000, interval_s=3.0, **more)


def programs_compiled_for_every_shape(seed: int) -> Scene:
    """A training in JAX on an H200 compiles a new program for each length of its texts and keeps them all."""
    memory = lambda draw: poisson_steps(
        level(46000), draw, mib=draw.between(80, 130), each_s=draw.between(50, 75), from_s=30, to_s=4300
    )
    return _leaks(seed, "k5leak8", H200, memory, LLM, by_s=4200, interval_s=3.0, command="python train_jax.py")


# --- under other movements ------------------------------------------------------------------------------------------
def floor_that_rises_under_batches(seed: int) -> Scene:
    """The memory of a training on an A10G goes up and down with its batches; its floor rises by fifty megabytes a minute."""

    def memory(draw: Draw) -> Curve:
        low = growing(level(6300), mib_per_min=draw.between(45, 75), from_s=0)
        return sawtooth(low, mib=draw.between(1200, 2600), period_s=draw.between(21, 48))

    return _leaks(seed, "k5leak10", A10G, memory, CNN)


def leak_behind_a_warm_up(seed: int) -> Scene:
    """A generation on an RTX PRO 6000 fills a cache that saturates within ten minutes, and leaks as well, all the time."""

    def memory(draw: Draw) -> Curve:
        cache = saturating(level(24000), mib=draw.between(5000, 9000), tau_s=180)
        return growing(cache, mib_per_min=draw.between(60, 110), from_s=120)

    return _leaks(seed, "k5leak11", PRO_6000, memory, DECODE, by_s=3300, command="python rollouts.py")


def leak_that_begins_with_the_second_stage(seed: int) -> Scene:
    """A training on an A100 is flat for a quarter of an hour; its second stage keeps every batch of a metric."""
    memory = lambda draw: growing(level(33000), mib_per_min=draw.between(70, 140), from_s=900)
    return _leaks(seed, "k5leak12", A100, memory, LORA, from_s=900, by_s=3600)


def frames_kept_under_spikes(seed: int) -> Scene:
    """A film pipeline on an L4 keeps its frames; each scene needs a gigabyte more for some seconds."""

    def memory(draw: Draw) -> Curve:
        low = growing(level(3600), mib_per_min=draw.between(70, 120), from_s=0, chunk_mib=8)
        return spikes(low, mib=1100, every_s=draw.between(70, 110), for_s=7)

    return _leaks(seed, "k5leak13", L4, memory, DATA, command="./transcode --queue", cgroup=service("film"))


def varying_lengths_over_a_leak(seed: int) -> Scene:
    """Records of an allocator lie over a leak of thirty megabytes a minute on an H100, in a training of texts."""

    def memory(draw: Draw) -> Curve:
        tops = records(level(41000), mib=900, each_s=6, seed=draw.seed())
        return added(growing(level(0), mib_per_min=draw.between(28, 50), from_s=0), tops)

    return _leaks(seed, "k5leak14", H100, memory, LLM, by_s=3600)


# --- jobs, slices, and bad readings ---------------------------------------------------------------------------------
def eight_ranks_that_grow_alike(seed: int) -> Scene:
    """Eight ranks on A100 keep the outputs of every step of their evaluation; all grow alike, and it is sure: an alarm."""
    draw = Draw(seed, "k5leak15")
    work = train(draw.work(LORA), step_s=0.8)
    memory = growing(level(39000), mib_per_min=draw.between(110, 170), from_s=0)
    wants = want("leak", everyone(8), 0, 2700, is_alarm=True)
    more: Any = {"allows": "filling", "interval_s": 5.0, "launcher": "srun"}
    return team(seed, [A100] * 8, lambda rank: rippling(draw, work), memory, 2800, wants, **more)


def cells_run_again_in_a_slice(seed: int) -> Scene:
    """Each run of a cell in a slice of an A30 leaves a tensor behind that a traceback holds; its author runs it for an hour."""
    draw = Draw(seed, "k5leak16")
    memory = poisson_steps(level(2100), draw, mib=draw.between(110, 150), each_s=70, from_s=20, to_s=3900)
    does = serves(draw, draw.work(FP32).but(share=0.25), each_s=30, for_s=40)
    actors = notebook("nb", 0, does, lambda t_s: min(11400, memory(t_s)), instance=3)
    return scene(seed, [A30_MIG], actors, 3600, want("leak", "nb gpu:0", 0, 3500), allows="filling", interval_s=3)


def board_that_grows_without_a_name(seed: int) -> Scene:
    """The driver of a 3090 reports no memory of processes; the board itself grows by fifty megabytes a minute of renders."""
    memory = lambda draw: growing(level(5100), mib_per_min=draw.between(45, 70), from_s=0)
    board = RTX_3090.without(PROCESS_MEMORY)
    return _leaks(seed, "k5leak17", board, memory, RENDER, by_s=3200, command="./render --queue", beside=desktop())


def leak_behind_bad_readings(seed: int) -> Scene:
    """A training on an H200 grows by ninety megabytes a minute; zeros are read, values fail, samples are lost."""
    bad = lambda draw: [
        zero_memory(draw.seed(), 0.012),
        lost_memory(draw.seed(), 0.03),
        late_power(draw.seed(), 0.1),
        often_gaps(draw.seed(), each_s=200, from_s=4, to_s=14),
    ]
    memory = lambda draw: growing(warmed(900, 52000), mib_per_min=draw.between(75, 110), from_s=70)
    return _leaks(seed, "k5leak18", H200, memory, LLM, disturb=bad)


def leak_in_a_coarse_recording(seed: int) -> Scene:
    """A service on a T4 leaks thirty megabytes a minute; the recording has a sample in ten seconds."""
    memory = lambda draw: growing(level(4000), mib_per_min=draw.between(28, 45), from_s=0)
    more: Any = {"command": "python detect_api.py --port 5000", "cgroup": service("detect"), "interval_s": 10.0}
    does = lambda draw, work: serves(draw, work, each_s=12, for_s=20)
    return _leaks(seed, "k5leak19", T4, memory, CNN, does=does, by_s=3600, **more)
