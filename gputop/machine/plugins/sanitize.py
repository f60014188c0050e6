"""Samples of a plugin's source: checked, cleaned, narrowed to what is asked for, and there whatever the source does."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo, Gpu, Host, Sample
from gputop.core.model.units import duration_text
from gputop.core.monitor import Source
from gputop.core.plugins.named_source import NamedSource
from gputop.core.query.selection import Selection
from gputop.core.text.text import clean

_MOST_WORDS: Final = 200
_OLD_S: Final = 5.0  # then a sample that stays the same is told to be old
_OLD: Final = 5  # or after so many intervals


class SourceError(Exception):
    """A source could not be opened; the text says why."""


class ForeignSource:
    """A `Source` around that of a plugin. What goes wrong is a problem of the sample, and it is asked again.

    While a source fails there are no values, with that reason, and processes are shown as they were. ``told``: is told
    of the first failure.
    """

    def __init__(
        self,
        row: NamedSource,
        source: Source,
        *,
        selection: Selection = Selection(),  # noqa: B008 - immutable
        told: Callable[[str], None] = lambda _: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._row = row
        self._source = source
        self._selection = selection
        self._told = told
        self._wall = wall
        self._last: Sample | None = None
        self._problem = ""
        self._interval_s = 1.0
        self._renewed_s = 0.0

    @property
    def interval_s(self) -> float:
        """Return the time between two samples that is asked for."""
        return self._interval_s

    @interval_s.setter
    def interval_s(self, value: float) -> None:
        self._interval_s = value
        with suppress(Exception):  # this is the border; it may have a rhythm of its own
            self._source.interval_s = value

    @property
    def problem(self) -> str:
        """Why it failed for the first time; nothing where it never did."""
        return self._problem

    def open(self) -> None:
        """Read once. Raises ValueError where a GPU is selected that is not there."""
        gpus = self._asked().gpus
        unknown = self._selection.unknown(gpus)
        if unknown and self._last is not None:
            raise ValueError(f"no such GPU: {clean(', '.join(unknown))}. There are: {_names(gpus)}")

    def look_again(self, uuid: str) -> None:
        """Do nothing: nothing is split anew here."""

    def want_details(self, for_s: float) -> None:
        """Do nothing: the source alone decides what a sample has."""

    def read(self) -> Sample:
        """Take a sample."""
        return self._narrowed(self._asked())

    def _asked(self) -> Sample:
        """Return all that the source says, or what it said before."""
        try:
            sample = self._raw()
        except Exception as error:  # noqa: BLE001 - this is the border
            return self._stale(why(error))
        now = self._wall()
        if self._last is None or sample.time_s != self._last.time_s:
            self._renewed_s = now
        self._last = sample
        age_s = now - self._renewed_s
        if age_s < max(_OLD_S, _OLD * self._interval_s):
            return sample
        problem = f"source {self._row.key}: the same sample for {duration_text(round(age_s))}"
        return replace(sample, problems=(problem, *sample.problems))

    def _raw(self) -> Sample:
        """Return a sample of the source. Raises what that raises, and TypeError for what is no sample."""
        sample = self._source.read()
        if not isinstance(sample, Sample):
            raise TypeError(f"it gave a {type(sample).__name__}, not a Sample")
        held = convert(_cleaned(to_builtins(sample)), Sample)
        return replace(held, interval_s=self._interval_s, driver=replace(held.driver, source=self._row.key))

    def _narrowed(self, sample: Sample) -> Sample:
        wanted = self._selection
        gpus = tuple(gpu for gpu in sample.gpus if wanted.wants_gpu(gpu.index, gpu.uuid, gpu.bus_id))
        uuids = {gpu.uuid for gpu in gpus}
        kept = (process for process in sample.processes if uuids & {use.gpu for use in process.gpus})
        return replace(sample, gpus=gpus, processes=wanted.processes(kept))

    def _stale(self, reason: str) -> Sample:
        """Return what was, said to be old."""
        if not self._problem:
            self._problem = reason
            self._told(reason)
        problem = f"source {self._row.key}: {reason}"
        driver, host = DriverInfo(source=self._row.key), Host(name=self._row.key)
        last = self._last or Sample(time_s=0.0, interval_s=0.0, driver=driver, host=host)
        return replace(
            last, time_s=self._wall(), interval_s=self._interval_s, gpus=tuple(map(_unknown, last.gpus)),
            problems=(problem,),
        )  # fmt: skip


def opened(row: NamedSource, argument: str) -> Source:
    """Return the source. Raises ValueError for an argument that it cannot use, `SourceError` for all else."""
    try:
        source = row.open(argument)
    except ValueError as error:
        raise ValueError(f"--source {row.key}: {why(error)}. It takes: {clean(row.help)}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - this is the border
        raise SourceError(f"the source {row.key} cannot be opened: {why(error)}") from None
    if not callable(getattr(source, "read", None)):
        raise SourceError(f"the source {row.key} cannot be opened: a {type(source).__name__} has no read()")
    return source


def why(error: BaseException) -> str:
    """Return what went wrong, in a line."""
    text = clean(str(error))[:_MOST_WORDS]
    if isinstance(error, ValueError) and not isinstance(error, ValidationError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _unknown(gpu: Gpu) -> Gpu:
    """Return a GPU of which nothing is known now."""
    return replace(gpu, metrics=dict.fromkeys(gpu.metrics), missing=dict.fromkeys(gpu.metrics, Missing.FAULT))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list | tuple) else value


def _names(gpus: tuple[Gpu, ...]) -> str:
    return ", ".join(f"{gpu.index} ({gpu.uuid}, {gpu.bus_id})" for gpu in gpus) or "none"
