"""Bounded series per GPU and metric: an hour and more at 1 Hz in 4 bytes a value; a gap is NaN, never 0."""

from __future__ import annotations  # array[float] is not subscriptable before 3.12

from array import array
from collections.abc import Sequence
from math import nan
from typing import Any, Final

from gputop.core.model.metric import Metric
from gputop.core.model.plausible import MOST_GPUS
from gputop.core.model.sample import Sample
from gputop.core.recording.window import Times

HOUR = 3600
_HOST: Final = "host"


class Series:
    """A bounded series of values, in single precision."""

    __slots__ = ("_count", "_length", "_values")

    def __init__(self, length: int = HOUR) -> None:
        self._length = length
        self._values = array("f")
        self._count = 0

    @property
    def count(self) -> int:
        """Return the number of values ever added."""
        return self._count

    def add(self, value: float | None) -> None:
        """Add a value; None is a gap."""
        number = nan if value is None else float(value)
        if len(self._values) < self._length:
            self._values.append(number)
        else:
            self._values[self._count % self._length] = number
        self._count += 1

    def last(self, length: int) -> array[float]:
        """Return the last ``length`` values, oldest first; fewer while the series is young."""
        held = len(self._values)
        length = min(length, held)
        if held < self._length:
            return self._values[held - length :]
        end = self._count % self._length
        return self._values[end - length : end] if length <= end else self._values[end - length :] + self._values[:end]


class History:
    """The history of every GPU's metrics, and of some host values under the name ``host``.

    ``times``: of the samples; every series ends with the last one.
    """

    def __init__(self, metrics: Sequence[Metric[Any]], length: int = HOUR) -> None:
        self._metrics = metrics
        self._length = length
        self._series: dict[tuple[str, str], Series] = {}
        self._none = Series(length)
        self.times = Times(length)

    def remember(self, sample: Sample) -> None:
        """Add a sample. A GPU that is missing in it gets a gap, so that all series end at the same time.

        If a source makes up ever new GPUs, those that are missing are forgotten.
        """
        self.times.add(sample.time_s, sample.interval_s)
        present = {gpu.uuid: gpu for gpu in sample.gpus}
        known = self.names() | present.keys()
        if len(known) > MOST_GPUS:
            known = set(present)
            self._series = {key: held for key, held in self._series.items() if key[0] in known or key[0] == _HOST}
        for uuid in known:
            gpu = present.get(uuid)
            for metric in self._metrics:
                self._add((uuid, metric.key), gpu[metric] if gpu else None)
        host = sample.host
        self._add((_HOST, "cpu_percent"), host.cpu_percent)
        self._add((_HOST, "memory_used_bytes"), host.memory_used_bytes)

    def forget(self) -> None:
        """Clear the history before a jump in time."""
        self._series.clear()
        self.times.clear()

    def window(self, uuid: str, metric: Metric[Any], length: int) -> array[float]:
        """Return the last ``length`` values, oldest first; NaN marks a gap.

        Shape: at most ``length`` items, fewer while history is young. Unit: ``metric.unit``.
        Never raises; an unknown GPU has an empty window.
        """
        return self.series(uuid, metric.key).last(length)

    def series(self, name: str, key: str) -> Series:
        """Return the series of a GPU's metric by its key, empty if nothing was remembered."""
        return self._series.get((name, key), self._none)

    def span_s(self, length: int, interval_s: float) -> float:
        """Return the seconds that the last ``length`` samples span; samples not in the history count ``interval_s``."""
        window = self.times.window(length)
        return (window.span_s if window else 0.0) + max(0, length - len(self.times)) * interval_s

    def names(self) -> set[str]:
        """Return the uuids of the GPUs in the history."""
        return {name for name, _ in self._series if name != _HOST}

    def _add(self, key: tuple[str, str], value: float | None) -> None:
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = Series(self._length)
        series.add(value)
