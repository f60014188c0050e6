"""What each process used of each GPU since gputop saw it: time, and its share of the energy.

Energy is an estimate: what the GPU used above idle, split by the shares of time in which the processes' kernels ran.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.metric import Missing
from gputop.core.metrics import ENERGY, GPU_UTILIZATION, POWER_AVERAGE, POWER_LIMIT
from gputop.core.sample import Gpu, GpuProcess, GpuState, HostProcess, Sample

_LONGEST_S: Final = 10.0  # between two readings: what happened in a longer gap is not known
_IDLE_SHARE: Final = 0.30  # of the limit: a GPU that was never seen idle does not idle at more than that

Key: TypeAlias = tuple[int, int | None, str, int | None, int | None]
Total: TypeAlias = tuple[float | None, float | None]  # seconds, joules

_NOTHING: Final[Total] = (None, None)


class _Spent(Struct, frozen=True):
    """What a GPU did since the reading before. ``joules``: above idle; a reason where it does not tell."""

    seconds: float
    joules: float | Missing
    sm_percent: float


class _Meter:
    """Remembers the reading before of a GPU, and how little power it takes."""

    def __init__(self) -> None:
        self._read_s: float | None = None
        self._energy_j: float | None = None
        self._idle_w: float | None = None

    def spent(self, gpu: Gpu, sm_percent: float) -> _Spent:
        """Return what the GPU spent since the call before; ``sm_percent``: of its processes together."""
        power, energy, before = gpu[POWER_AVERAGE], gpu[ENERGY], self._energy_j
        seconds = self._since(gpu)
        self._energy_j = energy
        used = sm_percent if (busy := gpu[GPU_UTILIZATION]) is None else max(sm_percent, busy)
        if power is None:
            return _Spent(seconds, gpu.why(POWER_AVERAGE) or Missing.NOT_YET, used)
        self._idle_w = min(self._idle_w or power, power, _IDLE_SHARE * (gpu[POWER_LIMIT] or power / _IDLE_SHARE))
        joules = energy - before if energy is not None and before is not None and energy >= before else power * seconds
        return _Spent(seconds, max(0.0, joules - self._idle_w * seconds) if seconds else 0.0, used)

    def _since(self, gpu: Gpu) -> float:
        """Return the seconds since the reading before, 0 where that is not known or too long ago."""
        before, self._read_s = self._read_s, gpu.read_s
        seconds = 0.0 if before is None or gpu.read_s is None else gpu.read_s - before
        return seconds if 0 < seconds <= _LONGEST_S else 0.0


class Totals:
    """Adds up. A process that is no longer listed is forgotten."""

    def __init__(self) -> None:
        self._meters: dict[str, _Meter] = {}
        self._totals: dict[Key, Total] = {}
        self._made: dict[int, tuple[HostProcess, HostProcess]] = {}  # by pid: of the sample before, and with totals

    def add(self, sample: Sample) -> tuple[HostProcess, ...]:
        """Return the processes of a sample with their totals up to it."""
        spent = self._spent(sample)
        before, self._totals = self._totals, {}
        made: dict[int, tuple[HostProcess, HostProcess]] = {}
        for process in sample.processes:
            pid, start_ticks = process.pid, process.start_ticks
            held, is_changed, grown = self._made.get(pid), False, []
            for use in process.gpus:
                key = (pid, start_ticks, use.gpu, use.gpu_instance, use.compute_instance)
                old, of_gpu = before.get(key), spent.get(use.gpu)
                self._totals[key] = new = _grown(old or _NOTHING, use, of_gpu)
                is_changed = is_changed or new != old
                grown.append((use, new, of_gpu))
            if held is not None and held[0] is process and not is_changed:
                made[pid] = held
            else:
                made[pid] = (process, replace(process, gpus=tuple([_with_total(*one) for one in grown])))
        self._made = made
        return tuple([row for _, row in made.values()])

    def _spent(self, sample: Sample) -> dict[str, _Spent]:
        busy: dict[str, float] = {}
        for use in _uses(sample.processes):
            busy[use.gpu] = busy.get(use.gpu, 0.0) + (use.sm_percent or 0.0)
        self._meters = {gpu.uuid: self._meters.get(gpu.uuid) or _Meter() for gpu in sample.gpus}
        return {
            gpu.uuid: self._meters[gpu.uuid].spent(gpu, busy.get(gpu.uuid, 0.0))
            for gpu in sample.gpus
            if gpu.state is GpuState.OK
        }


def _with_total(use: GpuProcess, total: Total, spent: _Spent | None) -> GpuProcess:
    """Return a use with its total, and the reason of what is not known."""
    seconds, joules = total
    if seconds is not None and joules is not None:
        return replace(use, gpu_seconds=seconds, energy_j=joules)
    missing = use.missing
    if seconds is None:
        missing = missing | {"gpu_seconds": missing.get("sm_percent", Missing.NOT_YET)}
    if joules is None:
        why = spent.joules if spent and isinstance(spent.joules, Missing) else Missing.NOT_YET
        missing = missing | {"energy_j": missing.get("sm_percent", why)}
    return replace(use, gpu_seconds=seconds, energy_j=joules, missing=missing)


def _uses(processes: Iterable[HostProcess]) -> Iterable[GpuProcess]:
    return (use for process in processes for use in process.gpus)


def _grown(total: Total, use: GpuProcess, spent: _Spent | None) -> Total:
    """Return a total with what came since; unknown as long as it was never told how busy the process is."""
    sm, (seconds, joules) = use.sm_percent, total
    if sm is None or spent is None or (sm == 0.0 and seconds is not None and joules is not None):
        return total
    share = sm / spent.sm_percent if spent.sm_percent else 0.0
    if not isinstance(spent.joules, Missing):
        joules = round((joules or 0.0) + share * spent.joules, 3)
    return round((seconds or 0.0) + sm / 100 * spent.seconds, 3), joules
