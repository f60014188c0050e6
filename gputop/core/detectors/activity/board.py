"""The activity of a GPU or GPU instance, by power, memory controller, traffic and GPM."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array

from gputop.core.detection.detector import Context
from gputop.core.detectors.activity.thresholds import ActivityLimits
from gputop.core.model.catalogue import (
    CLOCK_SM,
    CLOCK_SM_MAX,
    DRAM_ACTIVE,
    GPU_UTILIZATION,
    GRAPHICS_ACTIVE,
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
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, GpuState, Readings

BoardKey = tuple[str, int | None]  # uuid, GPU instance


class Board:
    """One GPU, or one instance of a GPU in MIG mode, over time.

    ``effort``: 0 at the power of an idle context, 1 at the power limit; without a power reading of its own, the busier
    of tensor cores and memory by GPM, or the memory controller; None without all of them. ``utilization``: for an
    instance, the share of time in which its engine was active. ``is_quiet``: there is no traffic on the board, so
    kernels can only work in registers; PCIe and NVLink do not count, because kernels that wait may poll over them.
    ``is_at_work``: power and traffic agree, at this instant, that kernels do real work.
    """

    __slots__ = (
        "_active", "_active_s", "_context_s", "_empty_s", "_idle_s", "_lowest_w", "_odd_s", "_other_s", "_smooth_w",
        "_wobble",
        "clock", "context_w", "dram", "effort", "empty_w", "gpu", "holders", "index", "is_at_work", "is_known",
        "is_quiet", "is_shared", "is_static", "key", "limit_w", "limits", "memory", "nvlink", "occupancy", "pcie",
        "sm", "tensor", "unknown_s", "utilization", "watts",
    )  # fmt: skip

    def __init__(self, key: BoardKey, index: int, limits: ActivityLimits) -> None:
        self.key, self.index, self.limits = key, index, limits
        self.gpu: Gpu | None = None
        self.is_known = False
        self.unknown_s = 0.0
        self.utilization: float | None = None
        self.memory: float | None = None
        self.watts: float | None = None
        self.limit_w: float | None = None
        self.pcie: float | None = None
        self.nvlink: float | None = None
        self.clock: float | None = None  # share of its maximum
        self.sm: float | None = None
        self.occupancy: float | None = None
        self.tensor: float | None = None
        self.dram: float | None = None
        self.effort: float | None = None
        self.is_quiet = self.is_at_work = False
        self.is_static = False
        self.is_shared = False
        self.context_w: float | None = None  # the lowest power while a process had a context and no kernel ran
        self.empty_w: float | None = None  # the lowest power without any process
        self.holders = 0  # number of followed processes on it
        self._active: object = None  # the track that computed last
        self._active_s = self._other_s = -limits.neighbour_s  # when it computed, and when another track did
        self._lowest_w: float | None = None
        self._smooth_w: float | None = None
        self._wobble: float | None = None
        self._odd_s = 0.0
        self._idle_s = self._context_s = self._empty_s = 0.0

    def update(self, context: Context, *, has_context: bool | None) -> None:
        """Take the readings of the GPU. ``has_context``: whether a process has a context on it; None if unknown."""
        gpu, step_s, time_s = context.gpus.get(self.key[0]), context.step_s, context.sample.time_s
        if has_context is not None:
            self._context_s = self._context_s + step_s if has_context else 0.0
            self._empty_s = 0.0 if has_context else self._empty_s + step_s
        readings = gpu.part(self.key[1]) if gpu else None
        is_old = gpu is None or gpu.read_s is None or time_s - gpu.read_s > self.limits.stale_s
        self.gpu = gpu or self.gpu
        self.is_known = readings is not None and not is_old and gpu is not None and gpu.state is GpuState.OK
        self.unknown_s = 0.0 if self.is_known else self.unknown_s + step_s
        if gpu is None or readings is None or not self.is_known:
            self.effort, self.utilization, self.is_quiet, self.is_at_work = None, None, False, False
            return
        self.is_shared = context.now_s - self._other_s <= self.limits.neighbour_s and self._other_s >= 0
        self._read(gpu, readings, step_s)

    def touch(self, track: object, now_s: float) -> None:
        """Note that a track computes: power and traffic of two that compute cannot be separated."""
        if track is not self._active:
            self._active, self._other_s = track, self._active_s
        self._active_s = now_s

    def values(self) -> tuple[float | None, ...]:
        """Return watts, memory, PCIe, NVLink, SMs, occupancy, tensor cores, DRAM, effort, and whether that is much."""
        gpm = (self.sm, self.occupancy, self.tensor, self.dram)
        effort = self.effort if self.effort is None else self.present_effort
        heavy = None if effort is None else float(effort > self.limits.heavy)
        return (self.watts, self.memory, self.pcie, self.nvlink, *gpm, effort, heavy)

    def lacking(self) -> tuple[str, ...]:
        """Return the signals that a judgement needs and that this board does not report."""
        known = (
            (self.watts, "power draw of the instance" if self.key[1] is not None else "power draw"),
            (self.memory if self.dram is None else self.dram, "memory utilization"),
            (self.pcie, "PCIe traffic"),
        )
        return tuple(name for value, name in known if value is None)

    def idle_w(self) -> float | None:
        """Return the power of an idle context, as measured or estimated so far."""
        return self._context(self.limit_w) if self.limit_w else None

    def _read(self, gpu: Gpu, readings: Readings, step_s: float) -> None:
        is_whole = self.key[1] is None
        self.utilization = readings[GPU_UTILIZATION] if is_whole else readings[GRAPHICS_ACTIVE]
        self.memory = readings[MEMORY_UTILIZATION] if is_whole else None
        self.pcie = _sum(readings, PCIE_RX, PCIE_TX) if is_whole else None
        self.nvlink = _sum(readings, NVLINK_RX, NVLINK_TX) if is_whole else None
        self.sm, self.occupancy = readings[SM_ACTIVE], readings[SM_OCCUPANCY]
        self.tensor, self.dram = readings[TENSOR_ACTIVE], readings[DRAM_ACTIVE]
        clock, most = gpu[CLOCK_SM], gpu[CLOCK_SM_MAX]
        self.clock = clock / most if clock is not None and most else None
        self.watts, self.limit_w = (gpu[POWER_AVERAGE], gpu[POWER_LIMIT]) if is_whole else (None, None)
        self._weigh(step_s)
        now = (self.memory, self.tensor, self.dram)
        self.is_quiet = not any(
            value is not None and value > most for value, most in zip(now, self.limits.quiet, strict=True)
        )
        is_busy = self.utilization is None or self.utilization > self.limits.own_percent
        is_moving = not self.is_quiet or (self.nvlink or 0.0) > self.limits.quiet_nvlink
        self.is_at_work = is_busy and is_moving and (self.present_effort or 0.0) > self.limits.working

    def _weigh(self, step_s: float) -> None:
        """Work out the effort: power above that of an idle context."""
        watts, limit_w = self.watts, self.limit_w
        if watts is None or not limit_w:
            self.effort = _busier(self.tensor, self.dram, self.memory)
            self.is_static = self.effort is not None and self.effort < self.limits.steady
            return
        smooth = self._smooth_w
        if smooth is None:
            smooth = watts
        elif not self._is_odd(watts - smooth, limit_w, step_s):
            smooth += (watts - smooth) * step_s / (step_s + self.limits.smooth_s)
        self._smooth_w = smooth
        self._learn(smooth, step_s)
        context_w = self._context(limit_w)
        self.effort = (smooth - context_w) / max(1.0, limit_w - context_w)
        off = 0.0 if self._odd_s == 0.0 else abs(watts - smooth) / max(1.0, limit_w - context_w)
        before = off if self._wobble is None else self._wobble
        self._wobble = before + (off - before) * step_s / (step_s + self.limits.steady_s)
        self.is_static = self._wobble < self.limits.steady

    def _is_odd(self, off_w: float, limit_w: float, step_s: float) -> bool:
        """Return whether a power far from the usual one is a single one, which may be a wrong reading."""
        self._odd_s += step_s
        if abs(off_w) <= self.limits.working * limit_w:
            return False
        is_single, self._odd_s = self._odd_s > self.limits.odd_s, 0.0
        return is_single

    @property
    def present_effort(self) -> float | None:
        """The effort of this instant; the usual one follows within seconds."""
        if self.watts is None or not self.limit_w:
            return self.effort
        context_w = self._context(self.limit_w)
        return (self.watts - context_w) / max(1.0, self.limit_w - context_w)

    def _learn(self, smooth_w: float, step_s: float) -> None:
        """Remember the lowest power, separately for a GPU without processes and for one with idle processes."""
        settled_s = self.limits.settled_s
        if self._empty_s >= settled_s:
            self.empty_w = min(self.empty_w or smooth_w, smooth_w)
        is_idle = self.utilization is not None and self.utilization <= self.limits.idle_percent
        self._idle_s = self._idle_s + step_s if is_idle else 0.0
        if self._context_s < settled_s:
            return
        self._lowest_w = min(self._lowest_w or smooth_w, smooth_w)
        if self._idle_s >= settled_s:
            self.context_w = min(self.context_w or smooth_w, smooth_w)

    def _context(self, limit_w: float) -> float:
        default_w = self.gpu[POWER_LIMIT_DEFAULT] if self.gpu else None
        limits = self.limits
        seen_w = limits.context_seen * limit_w
        most_w = max(limits.context * limit_w, min(limits.context_of_default * (default_w or 0.0), seen_w))
        if self.context_w is not None:
            most_w = max(most_w, min(self.context_w, seen_w))
        return most_w if self._lowest_w is None else min(most_w, self._lowest_w)


def _sum(readings: Readings, one: Metric[float], other: Metric[float]) -> float | None:
    first, second = readings[one], readings[other]
    return None if first is None or second is None else first + second


def _busier(tensor: float | None, dram: float | None, memory: float | None) -> float | None:
    if tensor is None or dram is None:
        return None if memory is None else memory / 100
    return max(tensor, dram) / 100


class Window:
    """Means of values over time, weighted by the duration of each value.

    ``width``: number of values per sample. ``block_s``: means cover once to twice this time.

    One array holds the sums, then the seconds for which each value was known: separate floats take three times the
    memory.
    """

    __slots__ = ("_before", "_before_s", "_block_s", "_now", "_now_s", "_width")

    def __init__(self, width: int, block_s: float) -> None:
        self._width, self._block_s = width, block_s
        self._now: array[float] = array("d", bytes(16 * width))
        self._before: array[float] | None = None
        self._now_s = self._before_s = 0.0

    def add(self, step_s: float, values: tuple[float | None, ...]) -> None:
        """Add values that lasted ``step_s`` seconds; None does not count."""
        width = self._width
        if self._now_s >= self._block_s:
            self._before, self._before_s = self._now, self._now_s
            self._now, self._now_s = array("d", bytes(16 * width)), 0.0
        self._now_s += step_s
        sums = self._now
        for at, value in enumerate(values):
            if value is not None:
                sums[at] += value * step_s
                sums[width + at] += step_s

    @property
    def passed_s(self) -> float:
        """Return the number of seconds that the means cover."""
        return self._now_s + self._before_s

    def mean(self, at: int) -> float | None:
        """Return the mean of one of the values; None if it was never known."""
        total, seconds = self._now[at], self._now[self._width + at]
        if self._before is not None:
            total, seconds = total + self._before[at], seconds + self._before[self._width + at]
        return total / seconds if seconds else None
