"""The client of one Prometheus server, or of one that speaks its API: at most four questions at a time."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as LateError
from typing import Any, Final, TypeVar

from msgspec import DecodeError, Struct

from gputop.core.fleet.answer import (
    ALERTS,
    CURVES,
    LABELS,
    OK,
    VALUES,
    Alert,
    AlertAnswer,
    Answers,
    CurveAnswer,
    LabelAnswer,
    Sample,
    Series,
    ValueAnswer,
)
from gputop.core.fleet.history import FleetCurve, Stretch, curve_of
from gputop.core.fleet.plan import OF_LABELS, Query
from gputop.core.text.text import excerpt
from gputop.wire.prometheus.http import Access, Connection, Endpoint, HttpError

AT_A_TIME: Final = 4  # a server answers 20 in all, for all clients
_GRACE_S: Final = 1.0  # for a server that trickles its headers
_WARNINGS: Final = 3
_REFUSED: Final = (401, 403)
_NOT_FOUND: Final = 404
_BUSY: Final = {
    429: "it gets too many questions", 500: "it failed inside", 502: "the proxy before it gets no answer from it",
    503: "it is starting or overloaded", 504: "the proxy before it waited too long for it",
}  # fmt: skip
A = TypeVar("A")
T = TypeVar("T", ValueAnswer, LabelAnswer, AlertAnswer, CurveAnswer)


class Round(Struct, frozen=True):
    """The answers to several questions. ``alerts``: None if the server has no rules to ask for.

    ``problems``: of the questions without an answer, and the server's warnings.
    """

    answers: Answers
    alerts: list[Alert] | None
    problems: tuple[str, ...]


class PrometheusClient:
    """Asks one server, in threads. A thread that hangs costs its question, and ends with the program."""

    def __init__(self, place: Endpoint, access: Access, timeout_s: float) -> None:
        self.name = place.name
        self._place = place
        self._access = access
        self._timeout_s = timeout_s
        self._held = threading.local()
        self._connections: list[Connection] = []
        self._pool = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="prometheus")

    def ask(self, queries: Sequence[Query]) -> Round:
        """Ask all queries, and for alerts. An error costs its query alone, that of the first one all."""
        waiting = [(query.key, self._pool.submit(self._query, query)) for query in queries]
        alerts = self._pool.submit(self._alerts)
        values: dict[str, list[Sample]] = {}
        labels: dict[str, list[Series]] = {}
        failed: dict[str, list[str]] = {}
        warned: dict[str, None] = {}
        for key, future in waiting:
            try:
                answer = self._result(future)
            except HttpError as error:  # noqa: PERF203 - ten rounds
                if key == queries[0].key:
                    return self._none(str(error), [future for _, future in waiting] + [alerts])
                failed.setdefault(str(error), []).append(key)
            else:
                if isinstance(answer, LabelAnswer):
                    labels[key] = answer.data.result
                else:
                    values[key] = answer.data.result
                warned.update(dict.fromkeys(excerpt(text) for text in answer.warnings[:_WARNINGS]))
        missing = _missing(failed, len(queries))
        return Round(Answers(values, labels), self._alerts_of(alerts), (*missing, *warned))

    @staticmethod
    def _none(reason: str, waiting: "Sequence[Future[Any]]") -> Round:
        """Return no answers. A server that fails is not asked the rest."""
        wait([future for future in waiting if not future.cancel()], _GRACE_S)
        return Round(Answers(), None, (reason,))

    def curves(self, queries: Sequence[Query], stretch: Stretch) -> tuple[tuple[FleetCurve, ...], tuple[str, ...]]:
        """Ask for values over time; return the curves, and why those that are missing are."""
        waiting = [(query.key, self._pool.submit(self._range, query, stretch)) for query in queries]
        found: list[FleetCurve] = []
        failed: dict[str, list[str]] = {}
        for key, future in waiting:
            try:
                curves = self._result(future).data.result
            except HttpError as error:  # noqa: PERF203 - a few rounds
                failed.setdefault(str(error), []).append(key)
            else:
                found.append(curve_of(key, stretch, curves[0].values if curves else ()))
        return tuple(found), _missing(failed, len(queries))

    def use(self, access: Access) -> None:
        """Use other credentials from now on."""
        self._access = access
        for connection in self._connections:
            connection.access = access

    def close(self) -> None:
        """Close the connections; a question that hangs stays in its thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for connection in self._connections:
            connection.end()

    def _result(self, future: "Future[A]") -> A:
        try:
            return future.result(self._timeout_s * AT_A_TIME + _GRACE_S)
        except LateError:
            raise HttpError(f"no answer within {self._timeout_s:g} s") from None

    def _alerts_of(self, future: "Future[AlertAnswer]") -> list[Alert] | None:
        try:
            return self._result(future).data.alerts
        except HttpError:
            return None  # a server without rules, such as VictoriaMetrics without vmalert

    def _query(self, query: Query) -> ValueAnswer | LabelAnswer:
        form = {"query": query.text, "timeout": f"{self._timeout_s:g}s"}
        answer = self._connection().ask("/api/v1/query", form, timeout_s=self._timeout_s)
        return _decoded(answer, _labels) if query.key in OF_LABELS else _decoded(answer, _values)

    def _range(self, query: Query, stretch: Stretch) -> CurveAnswer:
        form = {
            "query": query.text, "start": f"{stretch.start_s:.3f}", "end": f"{stretch.end_s:.3f}",
            "step": f"{stretch.step_s:.3f}", "timeout": f"{self._timeout_s:g}s",
        }  # fmt: skip
        return _decoded(self._connection().ask("/api/v1/query_range", form, timeout_s=self._timeout_s), _curves)

    def _alerts(self) -> AlertAnswer:
        return _decoded(self._connection().ask("/api/v1/alerts", timeout_s=self._timeout_s), ALERTS.decode)

    def _connection(self) -> Connection:
        """Return the connection of this thread."""
        found: Connection | None = getattr(self._held, "connection", None)
        if found is None:
            found = self._held.connection = Connection(self._place, self._access)
            self._connections.append(found)
        return found


def _values(body: bytes) -> ValueAnswer:
    return VALUES.decode(_plain(body))


def _labels(body: bytes) -> LabelAnswer:
    return LABELS.decode(_plain(body))


def _curves(body: bytes) -> CurveAnswer:
    return CURVES.decode(_plain(body))


def _missing(failed: Mapping[str, Sequence[str]], asked: int) -> tuple[str, ...]:
    """Return a line for each reason, with the queries that failed for it unless those are all."""
    return tuple(reason if len(keys) == asked else f"{', '.join(keys)}: {reason}" for reason, keys in failed.items())


def _plain(body: bytes) -> bytes:
    """Replace the only number of Prometheus that msgspec refuses."""
    return body.replace(b'"+Inf"', b'"Inf"')


def _decoded(answer: tuple[int, bytes], decode: Callable[[bytes], T]) -> T:
    """Return an answer. Raises HttpError, with the server's own words if it has some."""
    status, body = answer
    if status in _REFUSED:
        raise HttpError(f"it refuses access (HTTP {status}): give credentials with --http-config")
    try:
        found = decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        if status in _BUSY:
            raise HttpError(f"{_BUSY[status]} (HTTP {status})") from None
        what = "there is no Prometheus API at this URL" if status == _NOT_FOUND else "it is no Prometheus API"
        raise HttpError(f"{what} (HTTP {status})") from None
    if found.status != OK:
        raise HttpError(excerpt(f"{found.error_type or 'error'}: {found.error}"))
    return found
