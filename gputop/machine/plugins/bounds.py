"""Time limits for the functions of plugins: a row whose function hangs is switched off, and costs only itself."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context, Detector
from gputop.core.model.metric import Field, FieldRate, Metric, NvmlCall, Origin
from gputop.core.model.units import duration_text
from gputop.core.plugins.api import Plugin
from gputop.machine.timed_calls import TimedCalls

T = TypeVar("T")
Failed = Callable[[str, str, str], object]  # table, key, reason

DETECTOR_S: Final = 5.0
METRIC_S: Final = 1.0  # a conversion reads nothing


class Limit:
    """A time limit for the calls of one row, also from several threads. ``failed`` gets why the row is off."""

    def __init__(self, patience_s: float, failed: Callable[[str], object]) -> None:
        self._patience_s = patience_s
        self._failed = failed
        self._calls = TimedCalls()
        self._problem = ""

    def make(self, work: Callable[[], T]) -> T:
        """Return the result of ``work``. Raises its errors, and TimeoutError for a late call and all after it."""
        if self._problem:
            raise TimeoutError(self._problem)
        call = object()
        try:
            result, error = self._calls.make(call, lambda: _outcome(work), self._patience_s)
        except OSError:
            self._problem = f"it did not return within {duration_text(self._patience_s)}, and is off"
            self._failed(self._problem)
            raise TimeoutError(self._problem) from None
        if error is not None:
            raise error
        return result[0]


def bounded(plugin: Plugin, failed: Failed, patience_s: float | None = None) -> Plugin:
    """Return the plugin with time limits for metrics and detectors. ``failed`` gets table, key and reason of a row."""

    def limit(table: str, key: str, usual_s: float) -> Limit:
        return Limit(usual_s if patience_s is None else patience_s, partial(failed, table, key))

    return replace(
        plugin,
        metrics=tuple(_metric(each, limit("metrics", each.key, METRIC_S)) for each in plugin.metrics),
        detectors=tuple(
            (kind, partial(_Detector, make, limit("detectors", kind.name, DETECTOR_S)))
            for kind, make in plugin.detectors
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
        except TimeoutError as error:
            raise ValueError(str(error)) from None

    return replace(origin, to=convert)


def _outcome(work: Callable[[], T]) -> tuple[tuple[T, ...], Exception | None]:
    """Return the result or the error: an error must not end the thread."""
    try:
        return (work(),), None
    except Exception as error:  # noqa: BLE001 - this is the border to plugins
        return (), error
