"""GPU memory that no process explains: used memory, minus that of the listed processes, minus the usual difference.

It can be known only if every process of the machine is listed with its memory: outside of containers, without MIG and
MPS, and on GPUs with memory of their own.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.catalogue import MEMORY_TOTAL, MEMORY_USED, MIG_MODE, MINOR_NUMBER
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.model.units import bytes_text, duration_text

_EVERY_S: Final = 5.0  # how often it is worked out, and how often learned
_LEARN_EVERY_S: Final = 10.0
_LEARNED: Final = 60  # ten minutes
_HOLD_S: Final = 15.0
_MANAGED: Final = "Managed (unified) memory of a running process looks the same."
_OF_THE_HOST: Final = ("GH200", "GB200", "GB300", "GB10", "Orin", "Thor", "Tegra")  # pages stay after a process exits


class _Held:
    """The memory of the listed processes on a GPU. ``is_known``: whether it is known of all of them."""

    __slots__ = ("bytes", "is_known", "pids")

    def __init__(self) -> None:
        self.bytes = 0
        self.is_known = True
        self.pids: set[int] = set()


class _Gap:
    """The usual unexplained memory of a GPU, and since when there is more."""

    def __init__(self) -> None:
        self.learned: deque[tuple[int, int]] = deque(maxlen=_LEARNED)  # gap, and the number of processes
        self.learned_s = -_LEARN_EVERY_S
        self.since_s: float | None = None
        self.pids: set[int] = set()
        self.left_s: float | None = None

    def usual(self, count: int, context_bytes: float) -> float:
        """Return the usual gap in bytes with this number of processes; at first, their contexts."""
        if not self.learned:
            return count * context_bytes
        gap, before = median(gap for gap, _ in self.learned), median(count for _, count in self.learned)
        return gap + max(0.0, count - before) * context_bytes

    def learn(self, gap: int, count: int, now_s: float) -> None:
        """Learn from a normal gap."""
        self.since_s = None
        if now_s - self.learned_s >= _LEARN_EVERY_S:
            self.learned_s = now_s
            self.learned.append((gap, count))

    def follow(self, pids: set[int], now_s: float) -> None:
        """Note the present processes, and the time of an exit."""
        if self.pids - pids:
            self.left_s = now_s
        self.pids = pids


class MemoryGaps:
    """Compares used with explained memory every 5 s."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._gaps = EachGpu(_Gap)
        self._due_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU with unexplained memory."""
        if context.now_s < self._due_s or context.sample.host.is_initial_pid_namespace is not True:
            return
        self._due_s = context.now_s + _EVERY_S
        held = _held(context)
        for gpu in context.sample.gpus:
            gap, holders = self._gaps.of(gpu.uuid, context.now_s), held[gpu.uuid]
            used, total = gpu[MEMORY_USED], gpu[MEMORY_TOTAL]
            if used is None or total is None or not holders.is_known or not can_be_known(gpu):
                gap.since_s = None
                if gpu.state is GpuState.LOST:
                    gap.learned.clear()
                continue
            yield from self._judge(gpu, gap, holders, context)
        self._gaps.forget(context.now_s)

    def _judge(self, gpu: Gpu, gap: _Gap, holders: _Held, context: Context) -> Iterator[Claim]:
        used, total = gpu[MEMORY_USED] or 0, gpu[MEMORY_TOTAL] or 0
        gap.follow(holders.pids, context.now_s)
        open_bytes, count = used - holders.bytes, len(holders.pids)
        usual = gap.usual(count, self._dials["context_bytes"])
        least = max(self._dials["unexplained_bytes"], total * self._dials["unexplained_percent"] / 100)
        if open_bytes - usual <= least:
            gap.learn(open_bytes, count, context.now_s)
            return
        gap.since_s = context.now_s if gap.since_s is None else gap.since_s
        lasts_s = context.now_s - gap.since_s
        if lasts_s >= self._dials["unexplained_s"]:
            yield self._claim(gpu, gap, (open_bytes, usual, holders), lasts_s)

    def _claim(self, gpu: Gpu, gap: _Gap, found: tuple[int, float, _Held], lasts_s: float) -> Claim:
        open_bytes, usual, holders = found
        since_s = gap.since_s or 0.0
        has_left = gap.left_s is not None and abs(since_s - gap.left_s) <= self._dials["left_s"]
        stage = Stage.SUSPECT if has_left or not holders.pids else Stage.OBSERVATION
        if not holders.pids and lasts_s >= self._dials["unexplained_alarm_s"]:
            stage = Stage.ALARM
        amount = bytes_text(open_bytes - max(0.0, usual))
        count = len(holders.pids)
        listed = _listed_text(count, holders.bytes)
        since = f"for {duration_text(lasts_s)}" + (", since a process exited" if has_left else "")
        device = "*" if gpu[MINOR_NUMBER] is None else gpu[MINOR_NUMBER]
        return Claim(
            code="memory.unexplained",
            stage=stage,
            subject=gpu_subject(gpu),
            summary=f"{amount} not owned by any process {since}: {bytes_text(gpu[MEMORY_USED])} used, {listed}",
            evidence=(
                Evidence("unexplained_bytes", round(open_bytes - usual), f"{amount} not owned by any process"),
                Evidence(
                    "memory_used_bytes",
                    gpu[MEMORY_USED],
                    f"{bytes_text(gpu[MEMORY_USED])} used",
                    holders.bytes + max(0, round(usual)),
                ),
                Evidence("processes_bytes", holders.bytes, listed),
            ),
            remedy=f"Find the processes that have the device open: sudo fuser -v /dev/nvidia{device}. If there are "
            f"none, reset the GPU: sudo nvidia-smi --gpu-reset -i {gpu.index}."
            + (f" {_MANAGED}" if stage is Stage.OBSERVATION else ""),
            confidence=0.9 if not holders.pids else 0.7 if has_left else 0.4,
            began_s=since_s,
            hold_s=_HOLD_S,
        )


def _listed_text(count: int, held: int) -> str:
    if not count:
        return "no process is listed"
    return f"{'1 process holds' if count == 1 else f'{count} processes hold'} {bytes_text(held)}"


def _held(context: Context) -> dict[str, _Held]:
    found = {gpu.uuid: _Held() for gpu in context.sample.gpus}
    for process in context.sample.processes:
        for use in process.gpus:
            held = found.get(use.gpu)
            if held is None:
                continue
            held.pids.add(process.pid)
            if use.memory_bytes is None or use.type == "M" or use.gpu_instance is not None:
                held.is_known = False
            else:
                held.bytes += use.memory_bytes
    return found


def can_be_known(gpu: Gpu) -> bool:
    """Return whether all processes of a GPU are listed, and it has memory of its own."""
    is_listed = "processes" not in gpu.missing and "other_processes" not in gpu.missing
    is_whole = gpu[MIG_MODE] is not True and not gpu.instances
    return gpu.state is GpuState.OK and is_listed and is_whole and not any(word in gpu.name for word in _OF_THE_HOST)
