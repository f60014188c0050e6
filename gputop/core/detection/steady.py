"""Readings without single bad values: the one place where a wrong reading ends, so that no detector has to expect it.

Drivers sometimes answer with 255 %, with a zero or with nothing for a sample. The last good value then continues for
a moment. A reading that stays away or stays zero is believed.
"""

from collections.abc import Mapping, Sequence
from math import inf
from operator import is_
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from gputop.core.detection.detector import FORGET_S
from gputop.core.model.catalogue import (
    CLOCK_SM,
    DRAM_ACTIVE,
    GPU_UTILIZATION,
    GRAPHICS_ACTIVE,
    MEMORY_TOTAL,
    MEMORY_USED,
    MEMORY_UTILIZATION,
    POWER_AVERAGE,
    POWER_LIMIT,
    SM_ACTIVE,
    SM_OCCUPANCY,
    TENSOR_ACTIVE,
)
from gputop.core.model.sample import Gpu, GpuInstance, GpuProcess, GpuState, HostProcess, MetricValue, Sample

_HOLD_S: Final = 5.0
_FULL: Final = 100.0
_MOST_OF_LIMIT: Final = 1.5  # a power draw
_BUSY: Final = 50.0  # a process does not rest for one sample while its GPU is this busy
_RESTS: Final = 1.0
_BOUNDS: Final[tuple[tuple[str, float, str, float], ...]] = (  # key, least, key of the bound (or none), times
    *((metric.key, 0.0, "", _FULL) for metric in (
        GPU_UTILIZATION, MEMORY_UTILIZATION, SM_ACTIVE, SM_OCCUPANCY, TENSOR_ACTIVE, DRAM_ACTIVE, GRAPHICS_ACTIVE,
    )),
    (POWER_LIMIT.key, 1.0, "", 1e5), (POWER_AVERAGE.key, 1.0, POWER_LIMIT.key, _MOST_OF_LIMIT),
    (MEMORY_TOTAL.key, 1.0, "", 2.0**60), (MEMORY_USED.key, 1.0, MEMORY_TOTAL.key, 1.0),
    (CLOCK_SM.key, 1.0, "", 1e11),
)  # fmt: skip

_Where = tuple[object, ...]
_Board = tuple[int | None, int | None]  # memory in all, GPU utilization
_NO_BOARD: Final[_Board] = (None, None)


class _Reading(Struct):
    """A reading over time: its last good value, and the number of bad ones since."""

    value: float | None = None
    seen_s: float = 0.0
    bad: int = 0

    def take(self, value: float | None, now_s: float, *, is_good: bool) -> float | None:
        """Return the value, or the last good one instead of a bad one: for one sample, or for a few seconds."""
        if is_good:
            self.value, self.seen_s, self.bad = value, now_s, 0
            return value
        self.bad += 1
        if self.value is not None and (self.bad == 1 or now_s - self.seen_s <= _HOLD_S):
            return self.value
        return value if value == 0 else None


class _Use(Struct):
    """The readings of a process on a GPU."""

    memory: _Reading = field(default_factory=_Reading)
    sm: _Reading = field(default_factory=_Reading)
    seen_s: float = 0.0


class Steady:
    """Remembers the last good value of each reading of GPUs and processes; forgets what is absent for a minute."""

    def __init__(self) -> None:
        self._boards: dict[_Where, dict[str, _Reading]] = {}
        self._uses: dict[_Where, _Use] = {}
        self._sweep_s = FORGET_S

    def take(self, sample: Sample, due: Sequence[HostProcess], now_s: float) -> tuple[Sample, tuple[HostProcess, ...]]:
        """Return the sample and its due processes without single bad values."""
        gpus = tuple([self._gpu(gpu, now_s) for gpu in sample.gpus])
        boards = {gpu.uuid: (gpu[MEMORY_TOTAL], gpu[GPU_UTILIZATION]) for gpu in gpus}
        steady = tuple([self._process(process, boards, now_s) for process in due])
        if now_s >= self._sweep_s:
            self._sweep_s = now_s + FORGET_S
            self._uses = {key: held for key, held in self._uses.items() if now_s - held.seen_s <= FORGET_S}
            self._boards = {key: held for key, held in self._boards.items() if key[0] in boards}
        is_all = len(steady) == len(sample.processes)
        return replace(sample, gpus=gpus, processes=steady if is_all else sample.processes), steady

    def _gpu(self, gpu: Gpu, now_s: float) -> Gpu:
        if gpu.state is not GpuState.OK:
            return gpu
        metrics = self._metrics((gpu.uuid,), gpu.metrics, now_s)
        instances = tuple([self._instance(gpu, one, now_s) for one in gpu.instances])
        if metrics is gpu.metrics and _are_same(instances, gpu.instances):
            return gpu
        return replace(gpu, metrics=metrics, instances=instances)

    def _instance(self, gpu: Gpu, one: GpuInstance, now_s: float) -> GpuInstance:
        metrics = self._metrics((gpu.uuid, one.id), one.metrics, now_s)
        return one if metrics is one.metrics else replace(one, metrics=metrics)

    def _metrics(self, where: _Where, metrics: dict[str, MetricValue], now_s: float) -> dict[str, MetricValue]:
        """Return the metrics, the same object if all are good."""
        held = self._boards.setdefault(where, {})
        steady = metrics
        for key, least, bound, times in _BOUNDS:
            given = metrics.get(key)
            value = given if isinstance(given, (int, float)) else None
            if value is None and key not in held:
                continue
            reading = held.get(key)
            if reading is None:
                reading = held[key] = _Reading()
            of = steady.get(bound) if bound else 1.0
            most = times * of if isinstance(of, (int, float)) else inf
            taken = reading.take(value, now_s, is_good=value is not None and least <= value <= most)
            if taken != value:
                steady = {**steady, key: taken}
        return steady

    def _process(self, process: HostProcess, boards: Mapping[str, _Board], now_s: float) -> HostProcess:
        uses = [self._use(process, use, boards.get(use.gpu, _NO_BOARD), now_s) for use in process.gpus]
        return process if _are_same(uses, process.gpus) else replace(process, gpus=tuple(uses))

    def _use(self, process: HostProcess, use: GpuProcess, board: _Board, now_s: float) -> GpuProcess:
        key = (process.pid, process.start_ticks, use.gpu, use.gpu_instance)
        held = self._uses.get(key)
        if held is None:
            held = self._uses[key] = _Use()
        held.seen_s = now_s
        if use.memory_bytes and use.memory_bytes == held.memory.value and use.sm_percent == held.sm.value:
            held.memory.seen_s = held.sm.seen_s = now_s
            held.memory.bad = held.sm.bad = 0
            return use  # as most are
        total, busy = board
        memory, sm = use.memory_bytes, use.sm_percent
        is_good = memory is not None and memory > 0 and (not total or memory <= total)
        steady_memory = held.memory.take(memory, now_s, is_good=is_good)
        contradicts = sm is not None and sm <= _RESTS and min(busy or 0.0, held.sm.value or 0.0) >= _BUSY
        is_good = sm is not None and 0 <= sm <= _FULL and not (contradicts and not held.sm.bad)
        steady_sm = held.sm.take(sm, now_s, is_good=is_good)
        if steady_sm == sm and steady_memory == memory:
            return use
        return replace(use, sm_percent=steady_sm, memory_bytes=None if steady_memory is None else int(steady_memory))


def _are_same(new: Sequence[object], old: Sequence[object]) -> bool:
    return all(map(is_, new, old))
