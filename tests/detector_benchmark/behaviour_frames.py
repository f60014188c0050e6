"""From seconds to samples: boards with power, host processes with workers, jobs found as they are on a box."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from random import Random

from detector_benchmark.behaviour_shapes import H100, Board, Second, Seconds, seeded
from examples import NOW
from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.catalogue import (
    CLOCK_SM,
    CLOCK_SM_MAX,
    DRAM_ACTIVE,
    EVENT_REASONS,
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    MEMORY_UTILIZATION,
    NVLINK_RX,
    NVLINK_TX,
    PCIE_RX,
    PCIE_TX,
    POWER_AVERAGE,
    POWER_LIMIT,
    POWER_LIMIT_DEFAULT,
    SM_ACTIVE,
    SM_OCCUPANCY,
    TENSOR_ACTIVE,
)
from gputop.core.model.owner import Owner
from gputop.core.model.progress import Progress
from gputop.core.model.sample import DriverInfo, Gpu, GpuProcess, Host, HostProcess, Job, MetricValue, Sample
from gputop.core.processes.jobs import JobFinder

GIB = 1024**3
LAUNCHER = 900
_HOST = Host(name="box", cores_percent=(10.0,) * 64, load=(9.0, 9.0, 9.0))
_DRIVER = DriverInfo()


class Rank(Struct):
    """A process through time, on one GPU. ``framework``: as attribution names it. ``world``: its ranks."""

    seconds: Seconds
    gpu: int = 0
    command: str = "python -u train.py"
    framework: str | None = None
    terminal: str | None = None
    rank: int | None = None
    world: int | None = None
    has_launcher: bool = False
    memory: int = 20 * GIB


class Scene(Struct):
    """Several processes on the GPUs of a box, from the same second on.

    ``is_lottery``: of two on one GPU each gets its share of the time, and of the driver's samples, seven a second, each
    is charged to one of them, with all that the GPU did; what is told is the mean of ten seconds. Else the driver tells
    exactly what each did.
    """

    ranks: list[Rank]
    board: Board = H100
    seed: int = 0
    has_utilization: bool = True
    is_lottery: bool = False

    @property
    def length(self) -> int:
        """Return its seconds."""
        return max(len(rank.seconds) for rank in self.ranks)


def samples(scene: Scene) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
    """Return the samples of a scene, a second apart, with the jobs in them."""
    rng, finder = seeded(scene.seed), JobFinder()
    owners, lottery = [_owner(rank) for rank in scene.ranks], _Lottery(scene.seed)
    for second in range(scene.length):
        now = [rank.seconds[min(second, len(rank.seconds) - 1)] for rank in scene.ranks]
        time_s = NOW + second
        told = lottery.draw(scene, now) if scene.is_lottery else now
        processes = tuple(
            _process(at, rank, owners[at], one, rng=rng, time_s=time_s)
            for at, (rank, one) in enumerate(zip(scene.ranks, told, strict=True))
            if one.is_alive
        )
        gpus = tuple(_gpu(index, scene, now, rng, time_s) for index in sorted({rank.gpu for rank in scene.ranks}))
        relatives = tuple(child for at, (rank, one) in enumerate(zip(scene.ranks, now, strict=True))
                          for child in _children(at, rank, one))  # fmt: skip
        if any(rank.has_launcher for rank in scene.ranks):
            relatives = (_launcher(), *relatives)
        sample = Sample(
            time_s=time_s, interval_s=1.0, driver=_DRIVER, host=_HOST, gpus=gpus, processes=processes,
            relatives=relatives,
        )  # fmt: skip
        yield sample, finder.find(processes, relatives)


class _Lottery:
    """How the driver's samples of a GPU fall on its processes."""

    def __init__(self, seed: int) -> None:
        self._rng = seeded(f"lottery/{seed}")
        self._drawn: dict[int, deque[tuple[float, float]]] = {}

    def draw(self, scene: Scene, now: list[Second]) -> list[Second]:
        """Return what each is told to have done, where more than one is at work on a GPU."""
        told = list(now)
        for index in {rank.gpu for rank in scene.ranks}:
            there = [at for at, rank in enumerate(scene.ranks) if rank.gpu == index and now[at].is_alive]
            on = [at for at in there if now[at].gu > 0]
            if len(on) > 1:
                self._share(on, now, told)
            for at in on if len(on) == 1 else ():
                self._drawn.pop(at, None)
        return told

    def _share(self, on: list[int], now: list[Second], told: list[Second]) -> None:
        wanted = [now[at].gu for at in on]
        full, all_of_it = min(100.0, sum(wanted)), sum(wanted)
        memory = sum(now[at].mu * now[at].gu for at in on) / all_of_it
        tickets = Counter(self._rng.choices(on, wanted, k=7))
        for at in on:
            drawn = self._drawn.setdefault(at, deque(maxlen=10))
            drawn.append((full * tickets[at] / 7, memory * tickets[at] / 7))
            gu, mu = (sum(values) / len(drawn) for values in zip(*drawn, strict=True))
            told[at] = replace(now[at], gu=gu, mu=mu)


def pid_of(at: int) -> int:
    """Return the pid of the process with this number."""
    return 1000 + 50 * at


def _owner(rank: Rank) -> Owner:
    master = "node7:29500" if rank.world and rank.world > 1 else None
    return Owner(
        framework=rank.framework, terminal=rank.terminal, rank=rank.rank, world_size=rank.world, master=master
    )  # fmt: skip


def _process(at: int, rank: Rank, owner: Owner, one: Second, *, rng: Random, time_s: float) -> HostProcess:
    thread = max(0.0, one.thread + rng.uniform(-1.5, 1.5)) if one.thread > 3 else one.thread
    use = GpuProcess(
        gpu=f"GPU-{rank.gpu:08d}", gpu_index=rank.gpu, type="C", memory_bytes=rank.memory,
        sm_percent=_clipped(one.gu + rng.uniform(-1, 1)) if 1 < one.gu < 100 else one.gu, window_s=1.0,
        memory_utilization_percent=one.mu,
    )  # fmt: skip
    return HostProcess(
        pid=pid_of(at), start_ticks=7, started_s=NOW - 60, user="ann", command=rank.command,
        parent_pid=LAUNCHER if rank.has_launcher else 1, state=one.state, threads=8, cpu_percent=thread * 1.1,
        busiest_thread_percent=min(100.0, thread), owner=owner, gpus=(use,),
        progress=None if one.step is None else Progress(time_s=time_s, step=one.step, total=10**6),
    )  # fmt: skip


def _children(at: int, rank: Rank, one: Second) -> Iterator[HostProcess]:
    if one.is_alive:
        for n, (cpu, state) in enumerate(one.workers):
            yield HostProcess(
                pid=pid_of(at) + 1 + n, start_ticks=8, user="ann", command=rank.command, parent_pid=pid_of(at),
                state=state, threads=1, cpu_percent=cpu, busiest_thread_percent=cpu,
                owner=Owner(framework="data loader"),
            )  # fmt: skip


def _launcher() -> HostProcess:
    return HostProcess(
        pid=LAUNCHER, start_ticks=5, user="ann", command="/v/bin/python /v/bin/torchrun --standalone train.py",
        parent_pid=1, state="S", threads=4, cpu_percent=0.5, busiest_thread_percent=0.5,
        owner=Owner(framework="torchrun launcher"),
    )  # fmt: skip


def _gpu(index: int, scene: Scene, now: list[Second], rng: Random, time_s: float) -> Gpu:
    """Return a GPU that does what all of its processes do together."""
    on = [one for rank, one in zip(scene.ranks, now, strict=True) if rank.gpu == index and one.is_alive]
    board, base_w = scene.board, scene.board.context_w if on else scene.board.empty_w
    effort = min(1.02, sum(one.effort for one in on))
    watts = base_w + effort * (board.limit_w - base_w) + rng.gauss(0, 0.012 * board.limit_w)
    pcie = sum(one.pcie for one in on) * rng.uniform(0.9, 1.1) * 1e6
    nvlink = sum(one.nvlink for one in on) * rng.uniform(0.8, 1.2) * 1e6
    reasons = tuple(sorted({reason for one in on for reason in one.reasons}))
    metrics: dict[str, MetricValue] = {
        GPU_UTILIZATION.key: round(_clipped(sum(one.gu for one in on))) if scene.has_utilization else None,
        MEMORY_UTILIZATION.key: round(_clipped(sum(one.mu for one in on))),
        MEMORY_TOTAL.key: 80 * GIB,
        MEMORY_USED.key: sum(rank.memory for rank in scene.ranks if rank.gpu == index),
        POWER_AVERAGE.key: max(board.empty_w * 0.9, min(board.limit_w * 1.03, watts)),
        POWER_LIMIT.key: board.limit_w,
        POWER_LIMIT_DEFAULT.key: board.default_w or board.limit_w,
        PCIE_RX.key: pcie * 0.6,
        PCIE_TX.key: pcie * 0.4,
        NVLINK_RX.key: nvlink / 2,
        NVLINK_TX.key: nvlink / 2,
        CLOCK_SM.key: (min(one.clock for one in on) if on else 0.2) * 1.98e9,
        CLOCK_SM_MAX.key: 1.98e9,
        EVENT_REASONS.key: reasons,
    }
    if board.has_gpm:
        metrics |= {
            SM_ACTIVE.key: _clipped(sum(one.sm for one in on) + rng.uniform(-1, 1)),
            SM_OCCUPANCY.key: _clipped(sum(one.occupancy for one in on) + rng.uniform(-0.5, 0.5)),
            TENSOR_ACTIVE.key: _clipped(sum(one.tensor for one in on)),
            DRAM_ACTIVE.key: _clipped(sum(one.dram for one in on)),
        }
    return Gpu(
        index=index, uuid=f"GPU-{index:08d}", name=board.name, bus_id=f"00000000:{index + 1:02X}:00.0", read_s=time_s,
        metrics=metrics,
    )  # fmt: skip


def _clipped(percent: float) -> float:
    return max(0.0, min(100.0, percent))
