"""Samples of a plugin's source: checked, cleaned, limited to the selected GPUs, also while the source fails."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Final, TypeVar

from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from gputop.core.model.foreign import harmless
from gputop.core.model.metric import Missing
from gputop.core.model.plausible import fault_of
from gputop.core.model.sample import DriverInfo, Gpu, Host, HostProcess, Readings, Sample
from gputop.core.model.units import duration_text
from gputop.core.monitor import Source
from gputop.core.plugins.errors import ordinary
from gputop.core.plugins.named_source import NamedSource
from gputop.core.query.selection import Selection
from gputop.core.secrets.mask import masked
from gputop.core.text.text import clean, excerpt
from gputop.machine.plugins.bounds import within
from gputop.machine.worker import Worker

R = TypeVar("R", bound=Readings)

_MOST_WORDS: Final = 200
_MOST_COMMANDS: Final = 4096
_PATIENCE_S: Final = 5.0  # or one interval
_OLD_S: Final = 5.0  # then an unchanged sample counts as stale
_OLD: Final = 5  # or after this many intervals


class SourceError(Exception):
    """A source could not be opened; the text gives the reason."""


class ForeignSource:
    """A `Source` around that of a plugin. A failure is a problem of the sample, and the source is read again.

    While a source fails, values are missing with that reason, and processes keep their last state. While it hangs, no
    processes are shown. ``notify``: receives the first failure. ``reveal``: show secrets in command lines.
    """

    def __init__(
        self,
        row: NamedSource,
        source: Source,
        *,
        selection: Selection = Selection(),  # noqa: B008 - immutable
        notify: Callable[[str], None] = lambda _: None,
        reveal: bool = False,
        wall: Callable[[], float] = time.time,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._row = row
        self._source = source
        self._selection = selection
        self._notify = notify
        self._reveal = reveal
        self._wall = wall
        self._patience_s = patience_s
        self._reader = Worker(self._answer)
        self._last: Sample | None = None
        self.problem = ""
        self._interval_s = 1.0
        self._renewed_s = 0.0

    @property
    def interval_s(self) -> float:
        """Return the requested time between two samples."""
        return self._interval_s

    @interval_s.setter
    def interval_s(self, value: float) -> None:
        self._interval_s = value
        with suppress(Exception):  # the border; the source may have its own rhythm
            within(self._patience_s, lambda: setattr(self._source, "interval_s", value))

    def open(self) -> None:
        """Read once. Raises ValueError if a selected GPU does not exist."""
        gpus = self._asked().gpus
        unknown = self._selection.unknown(gpus)
        if unknown and self._last is not None:
            raise ValueError(f"no such GPU: {excerpt(', '.join(unknown))}. Available: {_names(gpus)}")

    def refresh_layout(self, uuid: str) -> None:
        """Do nothing: a plugin's GPUs have no MIG layout."""

    def want_details(self, for_s: float) -> None:
        """Do nothing: only the source decides on the content of a sample."""

    def read(self) -> Sample:
        """Take a sample."""
        return self._narrowed(self._asked())

    def _asked(self) -> Sample:
        """Return the new sample of the source, or the previous one."""
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
        problem = f"source {self._row.key}: no new sample for {duration_text(round(age_s))}"
        return replace(sample, problems=(problem, *sample.problems))

    def _raw(self) -> Sample:
        """Return a sample of the source. Raises the source's own errors, and TypeError for another type."""
        self._reader.ask(time.monotonic())
        sample = self._reader.take(max(self._patience_s, self._interval_s))
        if sample is None and self._reader.busy_since is not None:
            late_s = time.monotonic() - self._reader.busy_since
            self._last = _without_processes(self._last)
            raise ValueError(f"it has not returned from read() for {duration_text(round(late_s))}")
        if isinstance(sample, Exception):
            raise sample
        if not isinstance(sample, Sample):
            raise TypeError(f"it returned a {type(sample).__name__}, not a Sample")
        held = convert(harmless(to_builtins(sample)), Sample)
        if fault := fault_of(held):
            raise ValueError(f"it returned a sample with {fault}")
        if not self._reveal:
            held = replace(held, processes=_without_secrets(held.processes), relatives=_without_secrets(held.relatives))
        return replace(held, interval_s=self._interval_s, driver=replace(held.driver, source=self._row.key))

    def _answer(self, _: float) -> object:
        """Read the source, in a thread, because it may hang."""
        try:
            return self._source.read()
        except BaseException as error:  # noqa: BLE001 - this is the border
            return ordinary(error)

    def _narrowed(self, sample: Sample) -> Sample:
        wanted = self._selection
        gpus = tuple(gpu for gpu in sample.gpus if wanted.wants_gpu(gpu.index, gpu.uuid, gpu.bus_id))
        uuids = {gpu.uuid for gpu in gpus}
        kept = [process for process in sample.processes if uuids & {use.gpu for use in process.gpus}]
        left_out = (*sample.left_out, *wanted.undecided(kept))
        return replace(sample, gpus=gpus, processes=wanted.processes(kept), left_out=left_out)

    def _stale(self, reason: str) -> Sample:
        """Return the previous sample, marked as stale."""
        if not self.problem:
            self.problem = reason
            self._notify(reason)
        problem = f"source {self._row.key}: {reason}"
        driver, host = DriverInfo(source=self._row.key), Host(name=self._row.key)
        last = self._last or Sample(time_s=0.0, interval_s=0.0, driver=driver, host=host)
        return replace(
            last, time_s=self._wall(), interval_s=self._interval_s, gpus=tuple(map(_unknown, last.gpus)),
            problems=(problem,),
        )  # fmt: skip


def opened(row: NamedSource, argument: str) -> Source:
    """Return the source. Raises ValueError for an invalid argument, `SourceError` for any other failure."""
    try:
        source = row.open(argument)
    except ValueError as error:
        raise ValueError(f"--source {row.key}: {why(error)}. Its argument: {clean(row.help)}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - this is the border
        raise SourceError(f"cannot open the source {row.key}: {why(error)}") from None
    if not callable(getattr(source, "read", None)):
        raise SourceError(f"cannot open the source {row.key}: a {type(source).__name__} has no read()")
    return source


def why(error: BaseException) -> str:
    """Return an error in one line."""
    text = clean(str(error))[:_MOST_WORDS]
    if isinstance(error, ValueError) and not isinstance(error, ValidationError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _unknown(gpu: Gpu) -> Gpu:
    """Return a GPU without current values."""
    parts = tuple(map(_without_values, gpu.instances))
    return replace(_without_values(gpu), instances=parts)


def _without_values(held: R) -> R:
    return replace(held, metrics=dict.fromkeys(held.metrics), missing=dict.fromkeys(held.metrics, Missing.FAULT))


def _without_secrets(processes: tuple[HostProcess, ...]) -> tuple[HostProcess, ...]:
    return tuple(replace(process, command=_masked(process.command)) for process in processes)


_masked: Final = lru_cache(_MOST_COMMANDS)(masked)


def _without_processes(sample: Sample | None) -> Sample | None:
    """Return what remains of a sample while its source hangs: the names of its parts."""
    return sample and replace(sample, host=Host(name=sample.host.name), processes=(), relatives=(), left_out=())


def _names(gpus: tuple[Gpu, ...]) -> str:
    return ", ".join(f"{gpu.index} ({gpu.uuid}, {gpu.bus_id})" for gpu in gpus) or "none"
