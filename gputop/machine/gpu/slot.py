"""A GPU with its worker thread, and its values while it does not answer."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import USE_READINGS, Gpu, GpuProcess, GpuState
from gputop.machine.gpu.device import DeviceReader, DeviceReading
from gputop.machine.worker import Worker

_HEAD_START_S: Final = 0.003
_LIVE: Final = tuple(name for name in USE_READINGS if name not in {"gpu_seconds", "energy_j"})  # sums stay correct


class Slot:
    """A GPU with its worker thread and its last reading."""

    def __init__(self, reader: DeviceReader, wall: Callable[[], float]) -> None:
        self.reader = reader
        self.worker = Worker(lambda now: reader.read(now, wall()))
        self._fresh: DeviceReading | None = None
        self._last: DeviceReading | None = None

    def start(self, now: float) -> None:
        """Start a reading, unless one is running.

        Wait a moment before the next GPU is started: drivers mostly answer at once, and threads that compete for the
        GIL cost more than they gain. A slow driver call releases the GIL, so slow GPUs are still read in parallel.
        """
        self.worker.ask(now)
        self._fresh = self.worker.take(_HEAD_START_S) if self.worker.busy_since == now else None

    def finish(self, timeout_s: float, now: float, hung_s: float) -> DeviceReading:
        """Return the reading that was started, or the known values without it."""
        reading = self._fresh or self.worker.take(timeout_s)
        if reading is not None and reading.gpu.state is GpuState.OK:
            self._last = reading
            return reading
        last = self._last or DeviceReading(unread(self.reader.identified(), Missing.NOT_YET), {})
        if reading is not None:
            return _out_of_reach(reading.gpu, last, Missing.LOST)
        busy_since = self.worker.busy_since
        if busy_since is None:  # a bug in gputop: the previous values are not current
            return _out_of_reach(last.gpu, last, Missing.FAULT)
        if now - busy_since >= hung_s:
            return _out_of_reach(replace(last.gpu, state=GpuState.HUNG), last, Missing.HUNG)
        return last


def unread(gpu: Gpu, why: Missing) -> Gpu:
    """Return a GPU that has not reported any metric yet, with the reason for each."""
    keys = [metric.key for metric in CATALOGUE]
    return replace(gpu, metrics=dict.fromkeys(keys), missing=gpu.missing | dict.fromkeys(keys, why))


def _out_of_reach(gpu: Gpu, last: DeviceReading, why: Missing) -> DeviceReading:
    """Return a reading without values: all values are missing for this reason."""
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
