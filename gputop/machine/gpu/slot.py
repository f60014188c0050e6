"""A GPU with the worker that reads it; what is shown of it while it does not answer."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import USE_READINGS, Gpu, GpuProcess, GpuState
from gputop.machine.gpu.device import DeviceReader, DeviceReading
from gputop.machine.worker import Worker

_HEAD_START_S: Final = 0.003
_LIVE: Final = tuple(name for name in USE_READINGS if name not in {"gpu_seconds", "energy_j"})  # sums stay true


class Slot:
    """A GPU with the worker that reads it, and what it said last."""

    def __init__(self, reader: DeviceReader, wall: Callable[[], float]) -> None:
        self.reader = reader
        self.worker = Worker(lambda now: reader.read(now, wall()))
        self._fresh: DeviceReading | None = None
        self._last: DeviceReading | None = None

    def start(self, now: float) -> None:
        """Ask for a reading, unless one is under way.

        The GPU gets a head start before the next is asked: drivers mostly answer at once, and threads that fight for
        Python's lock cost more than they win. A slow driver is waited for without the lock, so that is parallel.
        """
        self.worker.ask(now)
        self._fresh = self.worker.take(_HEAD_START_S) if self.worker.busy_since == now else None

    def finish(self, timeout_s: float, now: float, hung_s: float) -> DeviceReading:
        """Return the reading that was asked for, or what is known without it."""
        reading = self._fresh or self.worker.take(timeout_s)
        if reading is not None and reading.gpu.state is GpuState.OK:
            self._last = reading
            return reading
        last = self._last or DeviceReading(unread(self.reader.identified(), Missing.NOT_YET), {})
        if reading is not None:
            return _out_of_reach(reading.gpu, last, Missing.LOST)
        busy_since = self.worker.busy_since
        if busy_since is None:  # the reading failed, which is a mistake of ours: what was before is not what is now
            return _out_of_reach(last.gpu, last, Missing.FAULT)
        if now - busy_since >= hung_s:
            return _out_of_reach(replace(last.gpu, state=GpuState.HUNG), last, Missing.HUNG)
        return last


def unread(gpu: Gpu, why: Missing) -> Gpu:
    """Return a GPU that has told none of its metrics yet, with the reason for each."""
    keys = [metric.key for metric in CATALOGUE]
    return replace(gpu, metrics=dict.fromkeys(keys), missing=gpu.missing | dict.fromkeys(keys, why))


def _out_of_reach(gpu: Gpu, last: DeviceReading, why: Missing) -> DeviceReading:
    """Return a reading without values: all that was known before is missing for this reason."""
    held = last.gpu
    gpu = replace(
        gpu,
        read_s=held.read_s,
        metrics=dict.fromkeys(held.metrics),
        missing=dict.fromkeys(held.metrics, why),
        instances=tuple(
            replace(i, metrics=dict.fromkeys(i.metrics), missing=dict.fromkeys(i.metrics, why)) for i in held.instances
        ),
    )
    return DeviceReading(gpu, {pid: tuple(_voided(use, why) for use in uses) for pid, uses in last.uses.items()})


def _voided(use: GpuProcess, why: Missing) -> GpuProcess:
    absent: dict[str, Any] = dict.fromkeys(_LIVE)
    return replace(use, **absent, missing=use.missing | dict.fromkeys(_LIVE, why))
