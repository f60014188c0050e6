"""The plugin API: a package adds a manifest of rows to gputop.

``docs/plugins.md`` explains it. The names in ``__all__`` are version `API_VERSION` of the public API. A name that is
removed or changes its meaning starts a new version; a name that is added does not.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context, Detector, Dial, Kind
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Check, Severity, Verdict, Verdicts, fail, info, nothing, ok, unknown, warn
from gputop.core.insight.explanation import ClaimKind, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource
from gputop.core.model.finding import Evidence, Stage, Subject
from gputop.core.model.foreign import harmless, possible
from gputop.core.model.metric import ONCE, Field, FieldRate, Gpm, Metric, Missing, NvmlCall, Origin, Unit
from gputop.core.model.sample import (
    DriverInfo,
    Frame,
    Gpu,
    GpuInstance,
    GpuProcess,
    GpuState,
    Host,
    HostProcess,
    Job,
    Presence,
    Sample,
)
from gputop.core.model.units import NOTHING, bytes_text, duration_text
from gputop.core.monitor import Source
from gputop.core.plugins.named_source import NamedSource
from gputop.core.plugins.panel import Cell, Panel, PanelLine, Shown
from gputop.core.probing.probe import PROTOCOL, Level, Measure, Probe, ProbeTest, Purpose
from gputop.core.processes.column import Column, Row
from gputop.core.text.text import excerpt
from gputop.core.text.tone import Tone

__all__ = [
    "API_VERSION",
    "NOTHING",
    "ONCE",
    "PROTOCOL",
    "Cell",
    "Check",
    "Claim",
    "ClaimKind",
    "Column",
    "Context",
    "Detector",
    "Dial",
    "DriverInfo",
    "Evidence",
    "Facts",
    "Field",
    "FieldRate",
    "Frame",
    "Gpm",
    "Gpu",
    "GpuInstance",
    "GpuProcess",
    "GpuState",
    "Host",
    "HostProcess",
    "InsightClaim",
    "InsightSource",
    "Job",
    "Kind",
    "Level",
    "Measure",
    "Member",
    "Metric",
    "Missing",
    "NamedSource",
    "NvmlCall",
    "Panel",
    "PanelLine",
    "Plugin",
    "Presence",
    "Probe",
    "ProbeTest",
    "Purpose",
    "Row",
    "Sample",
    "Severity",
    "Shown",
    "Source",
    "SourceReport",
    "SourceState",
    "Stage",
    "Subject",
    "Tone",
    "Unit",
    "Verdict",
    "Verdicts",
    "bytes_text",
    "duration_text",
    "fail",
    "info",
    "nothing",
    "ok",
    "sample_of",
    "unknown",
    "warn",
]  # fmt: skip

API_VERSION: Final = 1
GROUP: Final = "gputop.plugins"
_MOST_TITLE: Final = 40
_MOST_TEXTS: Final = 100
_MOST_VERDICTS: Final = 100
_MOST_CLAIMS: Final = 1000  # of a detector in a sample; its answer may be endless

MadeDetector: TypeAlias = tuple[Kind, Callable[[Mapping[str, float]], Detector]]
"""A kind of detector, and the function that makes one from its thresholds."""


class Plugin(Struct, frozen=True, kw_only=True):
    """A manifest. ``name``: name of the plugin, for people. ``api``: the `API_VERSION` for which it was written.

    Rows are like gputop's own. A function in a row may fail: its value is then missing, and all else continues.
    """

    name: str
    api: int
    metrics: tuple[Metric[Any], ...] = ()
    columns: tuple[Column, ...] = ()
    detectors: tuple[MadeDetector, ...] = ()
    checks: tuple[Check, ...] = ()
    probes: tuple[Probe, ...] = ()
    panels: tuple[Panel, ...] = ()
    sources: tuple[NamedSource, ...] = ()
    insight: tuple[InsightSource, ...] = ()

    @property
    def tables(self) -> dict[str, tuple[Any, ...]]:
        """Return the rows by table, without empty tables."""
        every: dict[str, tuple[Any, ...]] = {
            "metrics": self.metrics, "columns": self.columns, "detectors": self.detectors, "checks": self.checks,
            "probes": self.probes, "panels": self.panels, "sources": self.sources,
            "insight": self.insight,
        }  # fmt: skip
        return {table: rows for table, rows in every.items() if rows}

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the rows by table."""
        return {table: tuple(_key(row) for row in rows) for table, rows in self.tables.items()}


def sample_of(line: bytes | str) -> Sample:
    """Return the sample of a printed frame: a line of `gputop stream`, or the output of `gputop snapshot --json`.

    Raises ValueError if it is not a frame.
    """
    from msgspec.json import decode  # noqa: PLC0415 - few plugins read frames

    return decode(line, type=Sample)


def wrong_with(value: object) -> str:
    """Return why a value is not a valid plugin; empty if it is valid."""
    if not isinstance(value, Plugin):
        return f"it is a {type(value).__name__}, not a Plugin"
    if value.api != API_VERSION:
        return f"it was written for version {value.api} of the plugin API; this gputop has version {API_VERSION}"
    return next(_faults(value), "")


def guarded(plugin: Plugin) -> Plugin:
    """Return the plugin with functions whose failures do no harm."""
    return replace(
        plugin,
        metrics=tuple(_safe_metric(metric) for metric in plugin.metrics),
        columns=tuple(_safe_column(column) for column in plugin.columns),
        detectors=tuple((kind, _SafeFactory(make)) for kind, make in plugin.detectors),
        checks=tuple(replace(check, judge=_safe_judge(check.judge)) for check in plugin.checks),
    )


def _faults(plugin: Plugin) -> Iterator[str]:
    """Yield the invalid rows. Structs of msgspec do not check their arguments."""
    if not isinstance(plugin.name, str) or not plugin.name:
        yield "it has no name"
    for table, kind in _KINDS.items():
        for row in _as_tuple(getattr(plugin, table)):
            if not isinstance(row, kind):
                yield f"{table}: {row!r} is not a {kind.__name__}"
    for row in _as_tuple(plugin.detectors):
        if not (isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], Kind) and callable(row[1])):
            yield f"detectors: {row!r} is not a pair of a Kind and a function that makes a detector"
    for metric in (metric for metric in plugin.metrics if isinstance(metric, Metric)):
        if not metric.origins or not all(isinstance(origin, _ORIGINS) for origin in metric.origins):
            yield f"metrics: {metric.key} needs origins: NvmlCall, Field, FieldRate or Gpm"
    yield from _faults_of_probes(plugin)
    yield from _faults_of_calls(plugin)


def _faults_of_probes(plugin: Plugin) -> Iterator[str]:
    for probe in (probe for probe in _as_tuple(plugin.probes) if isinstance(probe, Probe)):
        if not probe.tests or not all(isinstance(test, ProbeTest) for test in probe.tests):
            yield f"probes: {probe.key} needs tests, each a ProbeTest"


def _faults_of_calls(plugin: Plugin) -> Iterator[str]:
    """Yield the panels and sources without a callable function."""
    for table, name in (("panels", "lines"), ("sources", "open"), ("insight", "ask"), ("insight", "applies_to")):
        for row in _as_tuple(getattr(plugin, table)):
            if not callable(getattr(row, name, None)):
                yield f"{table}: {_key(row)} needs a function {name}"
    for row in _as_tuple(plugin.insight):
        if isinstance(row, InsightSource) and not isinstance(getattr(row, "limit_s", None), (int, float)):
            yield f"insight: {row.name} needs limit_s in seconds"


_KINDS: Final[dict[str, type]] = {
    "metrics": Metric, "columns": Column, "checks": Check, "probes": Probe, "panels": Panel, "sources": NamedSource,
    "insight": InsightSource,
}  # fmt: skip
_ORIGINS: Final = (NvmlCall, Field, FieldRate, Gpm)


def _as_tuple(rows: object) -> tuple[object, ...]:
    """Return the rows; any other value counts as one row."""
    return rows if isinstance(rows, tuple) else (rows,)


def _key(row: object) -> str:
    if isinstance(row, tuple):
        return str(row[0].name)
    return str(next((name for word in ("key", "code", "name") if (name := getattr(row, word, None))), row))


def _safe_metric(metric: Metric[Any]) -> Metric[Any]:
    return replace(metric, origins=tuple(_safe_origin(origin, metric.unit) for origin in metric.origins))


def _safe_origin(origin: Origin, unit: Unit) -> Origin:
    if isinstance(origin, (NvmlCall, Field, FieldRate)):
        return replace(origin, to=_checked(origin.to, unit))
    return origin


def _checked(to: Callable[[Any], Any], unit: Unit) -> Callable[[Any], Any]:
    """Return a conversion that raises ValueError only, as the reader expects."""

    def convert(answer: Any) -> Any:  # noqa: ANN401 - any answer of a driver
        try:
            return _reading(to(answer), unit)
        except Exception as error:  # noqa: BLE001 - this is the border
            raise ValueError(str(error)) from None

    return convert


def _safe_column(column: Column) -> Column:
    return replace(
        column,
        title=excerpt(column.title, _MOST_TITLE),
        text=_or(lambda row: excerpt(column.text(row)), NOTHING),
        sort=_or(lambda row: _sortable(column, column.sort(row)), None),
        is_used=column.is_used and _or(column.is_used, None),
        value=column.value and _or(column.value, None),
    )


def _sortable(column: Column, value: Any) -> Any:  # noqa: ANN401 - any answer of a plugin
    """Return a value that can be compared with others of its column. Raises ValueError."""
    if value is None or isinstance(value, str if column.is_text else (int, float)):
        return value
    raise ValueError("it cannot be sorted")


def _reading(value: Any, unit: Unit) -> Any:  # noqa: ANN401 - any answer of a plugin
    """Return a value that a metric may have. Raises ValueError."""
    if isinstance(value, str) and unit is Unit.NONE:
        return excerpt(value)
    if isinstance(value, tuple) and unit is Unit.NONE and all(isinstance(each, str) for each in value):
        return tuple(excerpt(each) for each in value[:_MOST_TEXTS])
    if value is None or isinstance(value, (Missing, bool)):
        return value
    if isinstance(value, (int, float)):
        return possible(value)
    raise ValueError("it is no value of a metric")


def _or(function: Callable[[Row], Any], otherwise: Any) -> Callable[[Row], Any]:  # noqa: ANN401 - any cell
    def safe(row: Row) -> Any:  # noqa: ANN401
        try:
            return function(row)
        except Exception:  # noqa: BLE001 - this is the border
            return otherwise

    return safe


def _safe_judge(judge: Callable[[Facts], Verdicts]) -> Callable[[Facts], Verdicts]:
    """Return a check whose verdicts are checked, cleaned and counted. It raises ValidationError for other values."""

    def safe(facts: Facts) -> Verdicts:
        answer = judge(facts)
        verdicts = (answer,) if isinstance(answer, Verdict) else islice(answer, _MOST_VERDICTS)
        checked = tuple(convert(harmless(to_builtins(verdict)), Verdict) for verdict in verdicts)
        return checked or nothing("the check returned no verdict")

    return safe


class _SafeFactory(Struct, frozen=True):
    """Makes a detector; on failure, one that raises the error when it runs, which the judge reports."""

    make: Callable[[Mapping[str, float]], Detector]

    def __call__(self, dials: Mapping[str, float]) -> Detector:
        """Make the detector."""
        try:
            return _SafeDetector(self.make(dials))
        except Exception as error:  # noqa: BLE001 - this is the border
            return _Broken(error)


class _SafeDetector(Struct, frozen=True):
    """A detector whose claims are checked, cleaned and counted."""

    detector: Detector

    def detect(self, context: Context) -> tuple[Claim, ...]:
        """Return the first claims. Raises the detector's errors, and ValidationError for what is no claim."""
        claims = islice(self.detector.detect(context), _MOST_CLAIMS)
        return tuple(convert(harmless(to_builtins(claim)), Claim) for claim in claims)


class _Broken(Struct, frozen=True):
    """A detector whose construction failed."""

    error: Exception

    def detect(self, _: Context) -> tuple[Claim, ...]:
        """Raise the error."""
        raise self.error
