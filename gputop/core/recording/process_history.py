"""Bounded series per process: GPU memory, SM, CPU; 4 bytes per value.

An hour on a usual machine. With many processes series are shorter, so that they never take more than 4 MB.
"""

from collections.abc import Iterator
from typing import Final

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.recording.gpu_history import Series
from gputop.core.recording.window import Times

STEP_S: Final = 2.0
LENGTH: Final = 1800
CROWDED: Final = 500  # processes; with more of them steps are longer and fewer: 2,000 take 3 MB, and still see 15 min
_CROWDED_STEP_S: Final = 10.0
_LENGTHS: Final = ((100, LENGTH), (CROWDED, 300))  # by the number of processes
_CROWDED_LENGTH: Final = 90
_JITTER_S: Final = 0.2
_GRACE: Final = 15  # values for which a process may be absent: the driver's lists flicker
_MOST: Final = 4096


class Track:
    """The series of one process. ``memory``: bytes on all of its GPUs; ``sm`` (mean of its GPUs), ``cpu``: percent.

    A track outlives the history's entry: it stops growing when the history drops the process.
    """

    __slots__ = ("_length", "absent", "cpu", "memory", "sm")

    def __init__(self, length: int = LENGTH) -> None:
        self._length = length
        self.absent = 0
        self.forget()

    def forget(self) -> None:
        """Clear the series."""
        self.memory, self.sm, self.cpu = (Series(self._length) for _ in range(3))

    def add(self, process: HostProcess | None) -> None:
        """Add the current values of a process; None is a gap."""
        if process is None:
            self.absent += 1
            self._put(None, None, None)
            return
        self.absent = 0
        uses = process.gpus
        if len(uses) == 1:
            self._put(uses[0].memory_bytes, uses[0].sm_percent, process.cpu_percent)
            return
        held = [use.memory_bytes for use in uses if use.memory_bytes is not None]
        busy = [use.sm_percent for use in uses if use.sm_percent is not None]
        self._put(sum(held) if held else None, sum(busy) / len(busy) if busy else None, process.cpu_percent)

    def _put(self, memory: float | None, sm: float | None, cpu: float | None) -> None:
        self.memory.add(memory)
        self.sm.add(sm)
        self.cpu.add(cpu)


class Tracks:
    """The tracks of all GPU processes, and of the one that the user watches. ``times``: of their values."""

    def __init__(self) -> None:
        self._tracks: dict[ProcessId, Track] = {}
        self.times = Times(LENGTH)
        self._watched: ProcessId | None = None

    def remember(self, frame: Frame) -> None:
        """Add a frame, unless it follows the previous one by less than a step."""
        is_crowd = len(frame.processes) > CROWDED
        step_s = _CROWDED_STEP_S if is_crowd else STEP_S
        last = self.times.window(1)
        if last is not None and 0 <= frame.time_s - last.end_s < step_s - _JITTER_S:
            return
        self.times.add(frame.time_s, max(step_s, frame.interval_s))
        present = {process.id: process for process in self._followed(frame)}
        for name in present.keys() - self._tracks.keys():
            if len(self._tracks) < _MOST:
                self._tracks[name] = Track(_length(len(frame.processes)))
        for name, track in tuple(self._tracks.items()):
            track.add(present.get(name))
            if track.absent > _GRACE:
                del self._tracks[name]

    def forget(self) -> None:
        """Clear all series before a jump in time. Existing tracks stay in use."""
        self.times.clear()
        for track in self._tracks.values():
            track.forget()

    def track(self, process: ProcessId) -> Track:
        """Return the track of a process, and record the process even if it uses no GPU."""
        self._watched = process
        return self._tracks.setdefault(process, Track())

    def _followed(self, frame: Frame) -> Iterator[HostProcess]:
        yield from frame.processes
        yield from (process for process in frame.relatives if process.id == self._watched)


def _length(processes: int) -> int:
    return next((length for most, length in _LENGTHS if processes <= most), _CROWDED_LENGTH)
