"""Time limits for the functions of plugins: a row whose function hangs is switched off, and costs only itself."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context, Detector
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Check, Verdicts, unknown
from gputop.core.insight.explanation import SourceReport
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource
from gputop.core.model.metric import Field, FieldRate, Metric, NvmlCall, Origin
from gputop.core.model.units import NOTHING, duration_text
from gputop.core.monitor import Source
from gputop.core.plugins.api import Plugin
from gputop.core.plugins.errors import ordinary
from gputop.core.plugins.named_source import NamedSource
from gputop.core.processes.column import Column, Row
from gputop.core.table_rows import turn_off
from gputop.core.text.text import clean
from gputop.machine.timed_calls import TimedCalls

T = TypeVar("T")

METRIC_S: Final = 1.0  # a conversion reads nothing
COLUMN_S: Final = 2.0  # nor does a cell
DETECTOR_S: Final = 5.0
CHECK_S: Final = 10.0
OPEN_S: Final = 15.0  # a source may connect to another host
INSIGHT_S: Final = 60.0  # or less, if the row says so
_SCREEN_S: Final = 0.008  # for a cell on the screen, which repaints within 20 ms of a key
_LEAST_S: Final = 0.001


class Reports(Protocol):
    """Receives which rows work and which were switched off."""

    def failed(self, table: str, key: str, reason: str) -> None:
        """Store why a row was switched off."""
        ...

    def worked(self, table: str, key: str) -> None:
        """Store that a row works."""
        ...


class LateError(Exception):
    """A function of a plugin did not return in time; the text says so."""


def within(patience_s: float, work: Callable[[], T]) -> T:
    """Return the result of ``work``, which runs in a thread. Raises its errors, and `LateError`."""
    try:
        result, error = TimedCalls().make(None, lambda: _outcome(work), patience_s)
    except TimeoutError:
        raise LateError(f"it did not return within {duration_text(patience_s)}") from None
    except BlockingIOError:
        raise LateError("no thread could be started for it") from None
    if error is not None:
        raise error
    return result[0]


class Limit:
    """A time limit for the calls of one row, also from several threads.

    ``reports`` receives its first success and its failure.
    """

    def __init__(self, plugin: str, row: tuple[str, str], patience_s: float, reports: Reports) -> None:
        self._plugin = plugin
        self._row = row
        self._patience_s = patience_s
        self._reports = reports
        self._problem = ""
        self._has_worked = False
        self._calls = TimedCalls()
        self._wait_s = _SCREEN_S
        self._late_since: float | None = None

    def make(self, work: Callable[[], T]) -> T:
        """Return the result of ``work``. Raises its errors, and TimeoutError for a late call and all after it."""
        if self._problem:
            raise TimeoutError(self._problem)
        try:
            result = self._within(work)
        except LateError as late:
            self._problem = f"{late}, and is off"
            turn_off(self._plugin, *self._row, self._problem)
            self._reports.failed(*self._row, self._problem)
            raise TimeoutError(self._problem) from None
        if not self._has_worked:
            self._has_worked = True
            self._reports.worked(*self._row)
        return result

    def _within(self, work: Callable[[], T]) -> T:
        return within(self._patience_s, work)


class _CellLimit(Limit):
    """A time limit for the cells of a column. The screen waits for milliseconds only, a report for the whole limit.

    A cell that is late on the screen is absent, and so are all others until its call returns. The column is off if
    none returns in time until the limit has passed.
    """

    def __init__(self, plugin: str, row: tuple[str, str], patience_s: float, reports: Reports) -> None:
        super().__init__(plugin, row, patience_s, reports)
        self._calls = TimedCalls()
        self._wait_s = _SCREEN_S
        self._late_since: float | None = None

    def _within(self, work: Callable[[], T]) -> T:
        if not _runs_a_loop():
            return super()._within(work)
        if self._calls.is_late(None):
            raise self._late()
        try:
            result, error = self._calls.make(None, lambda: _outcome(work), self._wait_s)
        except (TimeoutError, BlockingIOError):
            self._wait_s = max(_LEAST_S, self._wait_s / 2)  # late ones in a row do not add up to much
            raise self._late() from None
        self._late_since, self._wait_s = None, _SCREEN_S
        if error is not None:
            raise error
        return result[0]

    def _late(self) -> Exception:
        """Return the error of a late call."""
        now = time.monotonic()
        self._late_since = now if self._late_since is None else self._late_since
        if now - self._late_since > self._patience_s:
            return LateError(f"it did not return within {duration_text(self._patience_s)}")
        return TimeoutError("it has not returned yet")


def _runs_a_loop() -> bool:
    """Say whether this thread runs an event loop, as that of the screen does."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def bounded(plugin: Plugin, reports: Reports, patience_s: float | None = None) -> Plugin:
    """Return the plugin with time limits for all functions that gputop calls itself; panels have a thread each."""

    def limit(table: str, key: str, usual_s: float, kind: type[Limit] = Limit) -> Limit:
        return kind(clean(plugin.name), (table, clean(key)), usual_s if patience_s is None else patience_s, reports)

    return replace(
        plugin,
        metrics=tuple(_metric(each, limit("metrics", each.key, METRIC_S)) for each in plugin.metrics),
        columns=tuple(_column(each, limit("columns", each.key, COLUMN_S, _CellLimit)) for each in plugin.columns),
        detectors=tuple(
            (kind, partial(_Detector, make, limit("detectors", kind.name, DETECTOR_S)))
            for kind, make in plugin.detectors
        ),
        checks=tuple(_check(each, limit("checks", each.code, CHECK_S), plugin.name) for each in plugin.checks),
        sources=tuple(_source(each, limit("sources", each.key, OPEN_S)) for each in plugin.sources),
        insight=tuple(
            _insight(each, limit("insight", each.name, min(each.limit_s, INSIGHT_S))) for each in plugin.insight
        ),
    )


class _Detector:
    """A detector with a limit. It is made with its first sample, because that may hang too."""

    def __init__(
        self, make: Callable[[Mapping[str, float]], Detector], limit: Limit, dials: Mapping[str, float]
    ) -> None:
        self._make = partial(make, dials)
        self._limit = limit
        self._made: Detector | None = None

    def detect(self, context: Context) -> tuple[Claim, ...]:
        """Return the claims. Raises the detector's errors, and TimeoutError."""
        return self._limit.make(partial(self._detect, context))

    def _detect(self, context: Context) -> tuple[Claim, ...]:
        if self._made is None:
            self._made = self._make()
        return tuple(self._made.detect(context))


def _metric(metric: Metric[Any], limit: Limit) -> Metric[Any]:
    return replace(metric, origins=tuple(_origin(origin, limit) for origin in metric.origins))


def _origin(origin: Origin, limit: Limit) -> Origin:
    if not isinstance(origin, (NvmlCall, Field, FieldRate)):
        return origin
    to = origin.to

    def convert(answer: Any) -> Any:
        try:
            return limit.make(lambda: to(answer))
        except (TimeoutError, RuntimeError) as error:
            raise ValueError(str(error)) from None

    return replace(origin, to=convert)


def _column(column: Column, limit: Limit) -> Column:
    """Return the column; once a cell was late, it has no values."""

    def cell(function: Callable[[Row], T], otherwise: T) -> Callable[[Row], T]:
        def bounded_cell(row: Row) -> T:
            try:
                return limit.make(lambda: function(row))
            except (TimeoutError, RuntimeError):  # late, or it tried to end gputop
                return otherwise

        return bounded_cell

    return replace(
        column,
        text=cell(column.text, NOTHING),
        sort=cell(column.sort, None),
        is_used=column.is_used and cell(column.is_used, None),
        value=column.value and cell(column.value, None),
    )


def _check(check: Check, limit: Limit, name: str) -> Check:
    def judge(facts: Facts) -> Verdicts:
        try:
            return limit.make(lambda: check.judge(facts))
        except TimeoutError as error:
            return unknown(f"plugin {name}: {error}")

    return replace(check, judge=judge)


def _source(source: NamedSource, limit: Limit) -> NamedSource:
    def opened(argument: str) -> Source:
        return limit.make(lambda: source.open(argument))

    return replace(source, open=opened)


def _insight(source: InsightSource, limit: Limit) -> InsightSource:
    def ask(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
        return limit.make(lambda: source.ask(members, native))

    def applies_to(members: Sequence[Member]) -> bool:
        return limit.make(lambda: source.applies_to(members))

    # a second more than its limit, so that the limit names it
    return replace(source, ask=ask, applies_to=applies_to, limit_s=min(source.limit_s, INSIGHT_S) + 1.0)


def _outcome(work: Callable[[], T]) -> tuple[tuple[T, ...], Exception | None]:
    """Return the result or the error, which must end neither the thread nor gputop."""
    try:
        return (work(),), None
    except BaseException as error:  # noqa: BLE001 - this is the border to plugins
        return (), ordinary(error)
