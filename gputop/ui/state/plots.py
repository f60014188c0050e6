"""The plots of the screen: each remembers its picture, so that one more sample costs one more cell."""

from math import isnan
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.recording.gpu_history import History, Series
from gputop.core.text.plot import area, area_end, samples_shown

_MOST: Final = 4096  # a source may make up ever new GPUs


class Picture(Struct, frozen=True):
    """A drawn plot: of how many samples, on which scale, in which size; whether a sample takes half a cell."""

    count: int
    top: float
    size: tuple[int, int]
    rows: list[str]
    is_fine: bool


class Plots:
    """Draws what history holds. Pictures are kept by GPU and metric."""

    def __init__(self, history: History, *, is_ascii: bool = False) -> None:
        self._history = history
        self.is_ascii = is_ascii
        self._pictures: dict[tuple[str, str], Picture] = {}

    def forget(self) -> None:
        """Draw everything anew."""
        self._pictures.clear()

    def draw(self, name: str, key: str, top: float, size: tuple[int, int]) -> list[str]:
        """Return the rows of the plot of a series of history, as `area` does."""
        series = self._history.series(name, key)
        held = self._pictures.get((name, key))
        if held is not None and (held.top, held.size) == (top, size):
            if series.count == held.count:
                return held.rows
            if held.is_fine and series.count == held.count + 1:
                return self._keep(name, key, replace(held, count=series.count, rows=self._advanced(held, series)))
        window = series.last(2 * size[0])
        rows = area(window, top, size, count=series.count, is_ascii=self.is_ascii)
        is_fine = samples_shown(size[0], len(window)) == 2 * size[0]
        return self._keep(name, key, Picture(series.count, top, size, rows, is_fine))

    def samples_shown(self, name: str, key: str, width: int) -> int:
        """Return the number of samples for which the plot of a series has room."""
        return samples_shown(width, len(self._history.series(name, key).last(2 * width)))

    def _keep(self, name: str, key: str, picture: Picture) -> list[str]:
        if len(self._pictures) >= _MOST:
            self._pictures.clear()
        self._pictures[name, key] = picture
        return picture.rows

    def mean(self, name: str, key: str, cells: int) -> float | None:
        """Return the mean of the samples that a plot of a width shows; None without a sample."""
        known = [value for value in self._history.series(name, key).last(2 * cells) if not isnan(value)]
        return sum(known) / len(known) if known else None

    def _advanced(self, held: Picture, series: Series) -> list[str]:
        """Return the picture with one more sample: in the half-filled last cell, or in a new one."""
        width, height = held.size
        cell = area_end(series.last(2), held.top, height, count=series.count, is_ascii=self.is_ascii)
        at = (series.count - 1) // 2  # where the sample is as long as there is room
        if at < width:
            return [row[:at] + end + row[at + 1 :] for row, end in zip(held.rows, cell, strict=True)]
        start = series.count % 2  # a new cell moves the others
        return [row[start : start + width - 1] + end for row, end in zip(held.rows, cell, strict=True)]
