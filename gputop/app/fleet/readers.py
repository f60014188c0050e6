"""Readers of a fleet: from Prometheus servers, or from the exporters themselves."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Protocol

from gputop.app.errors import BadRequestError
from gputop.app.fleet.host_names import host_names
from gputop.app.fleet.http_config import access_of
from gputop.app.fleet.known_server import KnownServer
from gputop.app.fleet.request import FleetRequest
from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.exposition import answers_of
from gputop.core.fleet.history import FleetHistory, Stretch, Subject
from gputop.core.fleet.model import Fleet, FleetHost, FleetServer, totals
from gputop.core.fleet.plan import Query, details, is_label, queries
from gputop.core.text.text import excerpt
from gputop.wire.prometheus.client import PrometheusClient
from gputop.wire.prometheus.http import Connection, HttpError, endpoint

_AT_A_TIME: Final = 32
_MOST_PAGE: Final = 10 << 20
_OK: Final = 200
_EXPORTERS: Final = "exporters"


class FleetReader(Protocol):
    """A way to read a fleet."""

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:
        """Return all hosts. Servers that do not answer are named in it; this never raises.

        ``is_urgent``: also ask those that failed a moment ago. ``detailed``: instances whose GPUs the user looks at.
        """
        ...

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Return the curves of a part of the fleet. Failures are named in it; this never raises."""
        ...

    def close(self) -> None:
        """Close the connections. A question that hangs is left to its thread."""
        ...


def reader_of(request: FleetRequest, *, over_s: int = 0, is_detailed: bool = False) -> FleetReader:
    """Return the reader that a request wants. Raises BadRequestError. ``is_detailed``: read all GPUs in detail."""
    for label in request.asked_labels:
        if not is_label(label):
            raise BadRequestError(f"{excerpt(label)!r} is not the name of a label, such as rack")
    if request.is_demo:
        from gputop.simulator.fleet import SimulatedFleet

        return SimulatedFleet()
    if bool(request.prometheus) == bool(request.hosts):
        raise BadRequestError(
            "name either a server with --prometheus URL, or hosts with --hosts, or try --demo."
            " [fleet] in the configuration file names them for good: docs/fleet.md"
        )
    if request.prometheus:
        asked = queries(request.asked_labels, over_s=over_s)
        return PrometheusReader(request, (*asked, *details()) if is_detailed else asked)
    return ExporterReader(request)


class PrometheusReader:
    """Reads a fleet from one or several servers."""

    def __init__(self, request: FleetRequest, asked: Sequence[Query]) -> None:
        try:
            places = [endpoint(url) for url in request.prometheus]
        except ValueError as error:
            raise BadRequestError(str(error)) from None
        access = partial(access_of, request.http_config)
        clients = [PrometheusClient(place, access(), request.timeout_s) for place in places]
        self._servers = [KnownServer(client, access, asked, request.asked_labels) for client in clients]
        self._pool = ThreadPoolExecutor(len(places), thread_name_prefix="fleet")

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:
        """Ask all servers at once."""
        parts = list(self._pool.map(partial(KnownServer.read, is_urgent=is_urgent, detailed=detailed), self._servers))
        hosts = tuple(host for part in parts for host in part.hosts)
        alerts = [part.alerts for part in parts if part.alerts is not None]
        return Fleet(
            time_s=time.time(),
            totals=totals(hosts),
            servers=tuple(part.server for part in parts),
            hosts=hosts,
            alerts=tuple(alert for some in alerts for alert in some) if alerts else None,
        )

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Ask the server of the subject."""
        server = next((one for one in self._servers if one.name == subject.server), self._servers[0])
        return server.history(subject, stretch)

    def close(self) -> None:
        """Close the connections to all servers."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for server in self._servers:
            server.close()


class ExporterReader:
    """Reads the pages of exporters, without a server: for some hundred hosts."""

    def __init__(self, request: FleetRequest) -> None:
        access = access_of(request.http_config)
        self._labels, self._timeout_s = request.asked_labels, request.timeout_s
        names = host_names(request.hosts)
        try:
            places = {name: endpoint(name if _has_port(name) else f"{name}:{request.port}") for name in names}
        except ValueError as error:
            raise BadRequestError(str(error)) from None
        self._connections = {name: Connection(place, access, most_bytes=_MOST_PAGE) for name, place in places.items()}
        self._pool = ThreadPoolExecutor(min(_AT_A_TIME, len(names) or 1), thread_name_prefix="exporter")

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:  # noqa: ARG002 - always all
        """Ask all exporters, some at a time."""
        began = time.monotonic()
        hosts = tuple(host for some in self._pool.map(self._hosts, self._connections) for host in some)
        return Fleet(
            time_s=time.time(),
            totals=totals(hosts),
            servers=(FleetServer(name=_EXPORTERS, took_s=time.monotonic() - began),),
            hosts=hosts,
        )

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Say that exporters have no history."""
        problems = ("exporters serve present values only: a history needs a server (--prometheus)",)
        return FleetHistory(subject=subject, stretch=stretch, problems=problems)

    def close(self) -> None:
        """Close the connections to all exporters."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for connection in self._connections.values():
            connection.end()

    def _hosts(self, name: str) -> tuple[FleetHost, ...]:
        try:
            status, page = self._connections[name].ask("/metrics", timeout_s=self._timeout_s)
        except HttpError as error:
            return _without(name, str(error))
        if status != _OK:
            return _without(name, f"it answers HTTP {status}")
        hosts = hosts_of(_EXPORTERS, answers_of(page.decode("utf-8", "replace"), name), self._labels)
        return hosts or _without(name, "its page has no GPUs")


def _without(name: str, problem: str) -> tuple[FleetHost, ...]:
    return (FleetHost(name=name, server=_EXPORTERS, instances=(name,), problem=problem),)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdecimal() and (name.count(":") == 1 or name.startswith("["))
