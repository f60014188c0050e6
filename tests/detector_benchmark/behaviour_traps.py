"""Traces that try to break the detectors: what looks wrong and is well, and trouble that hides.

Of each trap no alarm may come; each of the hidden ones must be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Final, TypeAlias

from detector_benchmark import behaviour_shapes as shapes
from detector_benchmark.behaviour_frames import Rank, Scene, samples
from detector_benchmark.behaviour_shapes import (
    A100,
    H100,
    RTX_4090,
    V100,
    Board,
    Second,
    Seconds,
    Shape,
    lasting,
    seeded,
)
from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.sample import Gpu, GpuState, Job, Sample
from gputop.core.processes.jobs import JobFinder

Shown: TypeAlias = "Iterable[tuple[Sample, tuple[Job, ...]]]"

A40: Final = Board("NVIDIA A40", 300, 30, 81, False)
A40_WORSE: Final = Board("NVIDIA A40", 300, 30, 110, False)
H100_LOWERED: Final = Board("NVIDIA H100 80GB HBM3", 350, 70, 120, True, 700)
A100_LOWERED: Final = Board("NVIDIA A100-SXM4-80GB", 200, 57, 85, False, 400)
_GONE: Final = Second(is_alive=False)
_MULTI: Final = ("torchrun rank {}/{}", "MPI rank {}/{}")


class Trap(Struct):
    """``code``: of the alarm that has to come, None if none may."""

    name: str
    shown: Shown
    code: str | None = None
    onset_s: float = 0.0


def _job(rng: Random, held: list[Seconds], board: Board, *, is_hidden: bool = False) -> Scene:
    k, name = len(held), rng.choice(_MULTI)
    ranks = [
        Rank(
            seconds, gpu=at, has_launcher=True, framework=None if is_hidden else name.format(at, k),
            rank=None if is_hidden else at, world=None if is_hidden else k,
        )
        for at, seconds in enumerate(held)
    ]  # fmt: skip
    return Scene(ranks, board, rng.randrange(1000))


def _hung(rng: Random, effort: float, *, thread: float | None = None) -> Shape:
    """Return a kernel that waits, and draws more than a context does, with a little traffic all around."""
    thread = rng.choice((0.5, 3.0, 99.8)) if thread is None else thread
    return lambda: Second(
        gu=rng.choice((99, 100)), mu=rng.choice((0, 0, 1, 2)), effort=effort + rng.uniform(-0.004, 0.004),
        pcie=rng.uniform(0, 15), nvlink=rng.uniform(0, 60), sm=12, occupancy=3, dram=0.8, thread=thread, state="R",
    )  # fmt: skip


# --- what looks wrong and is well --------------------------------------------------------------------------------
def _checkpoint_of_rank_0(rng: Random) -> Trap:
    """Rank 0 writes for minutes, on the CPU and then not even there; the others wait; it takes longer each time."""
    k, work = rng.choice((2, 4, 8)), shapes.training(rng, is_multi=True)
    held: list[Seconds] = [[] for _ in range(k)]
    for length in (80, 150, rng.randint(200, 245)):
        writes = lasting(shapes.copying(shapes.spinning(rng), rng), length / 3) + [
            Second(state=rng.choice("DS"), thread=rng.uniform(2, 30)) for _ in range(int(2 * length / 3))
        ]
        waits = shapes.hanging(rng)
        for at, seconds in enumerate(held):
            seconds.extend(lasting(work, rng.randint(180, 200)))
            seconds.extend(writes if not at else lasting(waits, len(writes)))
    return Trap("checkpoint of rank 0", samples(_job(rng, [one + lasting(work, 60) for one in held], H100)))


def _long_evaluation(rng: Random) -> Trap:
    k, work = rng.choice((2, 4, 8)), shapes.training(rng, is_multi=True)
    alone = shapes.decoding(rng)
    held = [lasting(work, 300) + lasting(shapes.hanging(rng) if at else alone, 1200) for at in range(k)]
    return Trap("rank 0 evaluates for 20 minutes", samples(_job(rng, held, A100)))


def _learned_wait(rng: Random) -> Trap:
    """Waits grow slowly: each is less than twice the longest before."""
    work = shapes.training(rng, is_multi=True)
    held: Seconds = []
    for length in (180, 290, 420, 550):
        held += lasting(work, 150) + lasting(shapes.hanging(rng), length)
    scene = Scene([Rank(held + lasting(work, 60), rank=0, world=4, framework="torchrun rank 0/4")], H100)
    return Trap("waits that grow", samples(scene))


def _replicas(rng: Random) -> Trap:
    """Independent simulations of tiny kernels under one launcher; power does not move at all."""
    effort = rng.uniform(0.02, 0.09)
    still = Second(gu=100, mu=1, effort=effort, pcie=1, sm=9, occupancy=3, thread=100, state="R")
    held = [[still] * 1500 for _ in range(rng.choice((2, 8)))]
    return Trap("replicas of tiny kernels", samples(_job(rng, held, V100, is_hidden=True)))


def _launch_bound_ranks(rng: Random) -> Trap:
    work = shapes.launching(rng)
    held = [lasting(work, 1200) for _ in range(4)]
    return Trap("launch-bound ranks", samples(_job(rng, held, RTX_4090)))


def _notebook(rng: Random) -> Trap:
    held: Seconds = []
    for _ in range(3):
        held += lasting(shapes.training(rng), rng.randint(130, 400)) + lasting(shapes.idle(rng), rng.randint(310, 900))
    kernel = "python -m ipykernel_launcher -f k.json"
    return Trap("notebook", samples(Scene([Rank(held, command=kernel, framework="Jupyter kernel")], H100)))


def _own_server(rng: Random) -> Trap:
    held = lasting(shapes.decoding(rng), 500) + lasting(shapes.idle(rng), 1200)
    return Trap("a server of one's own", samples(Scene([Rank(held, command="python serve.py --port 8000")], A100)))


def _idle_server_after_load(rng: Random) -> Trap:
    ranks = [
        Rank(
            lasting(shapes.decoding(rng), 300) + lasting(shapes.hanging(rng), 1200), gpu=at, has_launcher=True,
            command=f"VLLM::Worker_TP{at}", framework="vLLM",
        )
        for at in range(4)
    ]  # fmt: skip
    return Trap("tensor-parallel server without requests", samples(Scene(ranks, H100)))


def _tiny_beside_a_server(rng: Random) -> Trap:
    """What worked on this GPU was the server, which has nothing to do now; the tiny kernels go on as they did."""
    effort = rng.uniform(0.02, 0.1)
    tiny = lasting(lambda: replace(shapes.tiny(rng)(), effort=effort), 1100)
    serves = lasting(shapes.decoding(rng), 300) + lasting(shapes.hanging(rng), 800)
    ranks = [Rank(tiny), Rank(serves, framework="vLLM", command="VLLM::Worker_TP0")]
    return Trap("tiny kernels beside a server that falls quiet", samples(Scene(ranks, H100)))


def _slow_reader(rng: Random) -> Trap:
    """Reads from a slow file system for two minutes, always caught in D, but it gets on."""
    held = lasting(shapes.training(rng), 200) + lasting(lambda: Second(state="D", thread=rng.uniform(2.5, 9)), 150)
    return Trap("slow reader", samples(Scene([Rank(held + lasting(shapes.training(rng), 60))], H100)))


def _graceful_end(rng: Random) -> Trap:
    work = shapes.training(rng, is_multi=True)
    held = [lasting(work, 400 + 40 * at) + lasting(lambda: _GONE, 400 - 40 * at) for at in range(6)]
    held.append(lasting(work, 900))
    return Trap("ranks that end one after the other", samples(_job(rng, held, H100)))


def _joins_late(rng: Random) -> Trap:
    """Is first seen while it waits."""
    work = shapes.training(rng, is_multi=True)
    held = [lasting(shapes.hanging(rng), 230) + lasting(work, 300) for _ in range(4)]
    return Trap("first seen while it waits", samples(_job(rng, held, H100)))


def _suspended(rng: Random) -> Trap:
    """Gaps and a clock that jumps, in waits of four minutes: they are not to be added up."""
    work = shapes.training(rng, is_multi=True)
    held = (lasting(work, 200) + lasting(shapes.hanging(rng), 240)) * 3 + lasting(work, 30)
    scene = _job(rng, [held, held], A100)
    jumps = {350: 3600.0, 420: -1800.0, 640: 20.0, 900: 100_000.0}
    return Trap("a suspended laptop", _jumping(samples(scene), jumps))


def _pid_again(rng: Random) -> Trap:
    """After a job that worked a simulation of tiny kernels gets its pid."""
    first, then = lasting(shapes.training(rng), 300), lasting(shapes.tiny(rng), 900)
    shown = samples(Scene([Rank(first + then)], H100))
    return Trap("a pid that is used again", _restarted(shown, 300))


def _gpu_goes_and_comes(rng: Random) -> Trap:
    work = shapes.training(rng, is_multi=True)
    scene = _job(rng, [lasting(work, 900) for _ in range(4)], H100)
    return Trap("a GPU that goes and comes", _without_gpu(samples(scene), 2, range(200, 260)))


def _gpu_hangs_for_a_while(rng: Random) -> Trap:
    work = shapes.training(rng, is_multi=True)
    scene = _job(rng, [lasting(work, 900) for _ in range(4)], H100)
    return Trap("a GPU that does not answer for a while", _without_answer(samples(scene), 1, range(300, 380)))


def _encoder(rng: Random) -> Trap:
    held = lasting(lambda: Second(gu=rng.choice((0, 1, 2)), effort=0.1, pcie=300, thread=70), 1200)
    return Trap("video encoding", samples(Scene([Rank(held, command="ffmpeg -c:v h264_nvenc")], RTX_4090)))


def _restarts(rng: Random) -> Trap:
    """Trains, ends, starts again within seconds: the power of an empty GPU is not that of a context."""
    held: Seconds = []
    for _ in range(5):
        held += lasting(shapes.idle(rng, thread=90), 25) + lasting(shapes.training(rng), 150) + [_GONE] * 40
    return Trap("restarts", samples(Scene([Rank(held)], A100)))


def _idle_stage(rng: Random) -> Trap:
    """One rank of a pipeline has nothing to do for most of the time."""
    work = shapes.training(rng, is_multi=True)
    held = [lasting(work, 900) for _ in range(3)] + [lasting(work, 150) + lasting(shapes.idle(rng), 750)]
    return Trap("a stage with nothing to do", samples(_job(rng, held, H100)))


def _reports_progress(rng: Random) -> Trap:
    """Looks like a hang and says that it goes on."""
    work = [replace(one, step=at) for at, one in enumerate(lasting(shapes.training(rng), 200))]
    rest = [replace(one, step=200 + at // 20) for at, one in enumerate(lasting(shapes.hanging(rng), 700))]
    return Trap("progress goes on", samples(Scene([Rank(work + rest)], H100)))


# --- trouble that hides ------------------------------------------------------------------------------------------
def _hang_on(board: Board, effort: float) -> Callable[[Random], Trap]:
    def make(rng: Random) -> Trap:
        # the odd one out uses the CPU, as in an evaluation: it has twelve minutes
        k, before = rng.choice((2, 4, 8)), rng.randint(150, 300)
        work, wait = shapes.training(rng, is_multi=True), _hung(rng, effort)
        out = lasting(work, before) + lasting(shapes.spinning(rng), 900)
        held = [out, *(lasting(work, before) + lasting(wait, 900) for _ in range(k - 1))]
        name = f"hang on {board.name}, context {board.context_w:.0f} W of {board.limit_w:.0f} W"
        return Trap(name, samples(_job(rng, held, board)), "stuck.collective", before)

    return make


def _hang_beside_a_notebook(rng: Random) -> Trap:
    held = lasting(shapes.training(rng), 200) + lasting(shapes.hanging(rng), 450)
    idle = Rank(lasting(shapes.idle(rng), 650), command="python -m ipykernel_launcher", framework="Jupyter kernel")
    return Trap("stuck kernel beside a notebook", samples(Scene([Rank(held), idle], H100)), "stuck.kernel", 200)


def _hang_beside_a_server(rng: Random) -> Trap:
    """Beside a server that waits in its own kernel power is not its own; that it worked, its memory traffic tells."""
    held = lasting(shapes.training(rng), 200) + lasting(shapes.hanging(rng), 450)
    waits = Rank(lasting(shapes.hanging(rng), 650), framework="SGLang", command="sglang::scheduler_TP0")
    shown = samples(Scene([Rank(held), waits], A100))
    return Trap("stuck kernel beside a server without requests", shown, "stuck.kernel", 200)


def _hang_seen_seldom(rng: Random) -> Trap:
    before = 240
    held = lasting(shapes.training(rng, is_multi=True), before) + lasting(shapes.hanging(rng), 500)
    scene = _job(rng, [held, held, held, held], H100)
    return Trap("hang, looked at every 5 s", _every(samples(scene), 5), "stuck.collective", before)


def _hang_without_process_utilization(rng: Random) -> Trap:
    held = lasting(shapes.training(rng, is_multi=True), 200) + lasting(shapes.hanging(rng), 450)
    shown = _without_sm(samples(_job(rng, [held, held], V100)))
    return Trap("hang without utilization of processes", shown, "stuck.collective", 200)


def _rank_of_two_dies(rng: Random) -> Trap:
    """The job is no job any more when one of its two ranks is gone."""
    work = shapes.training(rng, is_multi=True)
    held = [
        lasting(work, 200) + lasting(lambda: _GONE, 450),
        lasting(work, 200) + lasting(shapes.hanging(rng), 450),
    ]
    return Trap("one of two ranks dies", samples(_job(rng, held, H100)), "stuck.collective", 200)


def _hidden_ranks(rng: Random) -> Trap:
    work = shapes.training(rng, is_multi=True)
    held = [lasting(work, 250) + lasting(shapes.hanging(rng), 450) for _ in range(4)]
    return Trap("hang of ranks that nobody may read", samples(_job(rng, held, A100, is_hidden=True)),
                "stuck.collective", 250)  # fmt: skip


def _cools_slowly(rng: Random) -> Trap:
    """Power comes down over a minute after the hang began."""
    wait = shapes.hanging(rng)
    after = [replace(wait(), effort=wait().effort + 0.3 * 0.95**n) for n in range(500)]
    held = lasting(shapes.training(rng), 200) + after
    return Trap("power that comes down slowly", samples(Scene([Rank(held)], H100)), "stuck.kernel", 200)


def _deadlock_in_tmux(rng: Random) -> Trap:
    held = lasting(shapes.training(rng), 400) + lasting(shapes.idle(rng, count=4), 450)
    return Trap("deadlock in tmux", samples(Scene([Rank(held, terminal="pts/2")], H100)), "stalled.process", 400)


def _dead_worker(rng: Random) -> Trap:
    dead = Second(thread=0.5, workers=((0.0, "Z"), (0.0, "Z"), (0.1, "S"), (0.0, "S")))
    held = lasting(shapes.training(rng), 400) + [dead] * 450
    return Trap("dead loader workers", samples(Scene([Rank(held)], A40)), "stalled.process", 400)


def _whole_job_stalls(rng: Random) -> Trap:
    work = shapes.training(rng, is_multi=True)
    held = [lasting(work, 300) + lasting(shapes.idle(rng, count=4), 450) for _ in range(4)]
    return Trap("a whole job stalls", samples(_job(rng, held, H100)), "stalled.job", 300)


def _kernel_blocks_it(rng: Random) -> Trap:
    held = lasting(shapes.training(rng), 200) + lasting(lambda: Second(state="D", thread=0.0), 200)
    return Trap("blocked in the kernel", samples(Scene([Rank(held)], H100)), "process.blocked", 200)


# --- how it is looked at -----------------------------------------------------------------------------------------
def _every(shown: Shown, seconds: int) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    for at, (sample, jobs) in enumerate(shown):
        if at % seconds == 0:
            yield replace(sample, interval_s=float(seconds)), jobs


def _jumping(shown: Shown, jumps: dict[int, float]) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    off = 0.0
    for at, (sample, jobs) in enumerate(shown):
        off += jumps.get(at, 0.0)
        gpus = tuple(replace(gpu, read_s=(gpu.read_s or 0.0) + off) for gpu in sample.gpus)
        yield replace(sample, time_s=sample.time_s + off, gpus=gpus), jobs


def _restarted(shown: Shown, second: int) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    for at, (sample, jobs) in enumerate(shown):
        ticks = 7 if at < second else 9000
        yield replace(sample, processes=tuple(replace(p, start_ticks=ticks) for p in sample.processes)), jobs


def _without_sm(shown: Shown) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    for sample, jobs in shown:
        processes = tuple(
            replace(one, gpus=tuple(replace(use, sm_percent=None) for use in one.gpus)) for one in sample.processes
        )
        yield replace(sample, processes=processes), jobs


def _without_gpu(shown: Shown, index: int, when: range) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    finder = JobFinder()
    for at, (sample, jobs) in enumerate(shown):
        if at not in when:
            yield sample, jobs
            continue
        processes = tuple(one for one in sample.processes if one.gpus[0].gpu_index != index)
        gpus = tuple(gpu for gpu in sample.gpus if gpu.index != index)
        yield replace(sample, processes=processes, gpus=gpus), finder.find(processes, sample.relatives)


def _without_answer(shown: Shown, index: int, when: range) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    kept: Gpu | None = None
    for at, (sample, jobs) in enumerate(shown):
        if at == when.start:
            kept = sample.gpus[index]
        if at in when and kept:
            state = GpuState.OK if at - when.start < 3 else GpuState.HUNG
            old = replace(kept, state=state, metrics=kept.metrics if state is GpuState.OK else {})
            gpus = tuple(old if gpu.index == index else gpu for gpu in sample.gpus)
            yield replace(sample, gpus=gpus), jobs
        else:
            yield sample, jobs


TRAPS: Final[tuple[Callable[[Random], Trap], ...]] = (
    _checkpoint_of_rank_0, _long_evaluation, _learned_wait, _replicas, _launch_bound_ranks, _notebook, _own_server,
    _idle_server_after_load, _tiny_beside_a_server, _slow_reader, _graceful_end, _joins_late, _suspended, _pid_again,
    _gpu_goes_and_comes, _gpu_hangs_for_a_while, _encoder, _restarts, _idle_stage, _reports_progress,
)  # fmt: skip
HIDDEN: Final[tuple[Callable[[Random], Trap], ...]] = (
    _hang_on(A40, 0.08), _hang_on(A40_WORSE, 0.05), _hang_on(H100_LOWERED, 0.05), _hang_on(A100_LOWERED, 0.05),
    _hang_on(V100, 0.09), _hang_on(RTX_4090, 0.14), _hang_beside_a_notebook, _hang_beside_a_server, _hang_seen_seldom,
    _hang_without_process_utilization, _rank_of_two_dies, _hidden_ranks, _cools_slowly, _deadlock_in_tmux, _dead_worker,
    _whole_job_stalls, _kernel_blocks_it,
)  # fmt: skip


def traps(seed: int) -> list[Trap]:
    """Return all of them."""
    return [make(seeded(f"{at}/{seed}")) for at, make in enumerate((*TRAPS, *HIDDEN))]
