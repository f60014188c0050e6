"""Export: the series of this host for Prometheus, until a signal ends it."""

import time

from msgspec import Struct

from gputop.app.alerting.takers import takers_of
from gputop.app.backend.backend import BackendRequest
from gputop.app.exporting.listening import USUAL, is_local, opened, url
from gputop.app.exporting.publication import Publication
from gputop.app.exporting.site import answer
from gputop.app.exporting.web_config import Access, access_of
from gputop.app.interrupts import StopRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import warn
from gputop.lazy_imports import collect_seldom
from gputop.report.prometheus.scene import Shape
from gputop.wire.http_server import Answer, HttpServer, Request, Response
from gputop.wire.server import Rhythm


class ExportRequest(Struct, frozen=True, kw_only=True):
    """An export. ``listen``: ADDRESS:PORT. ``web_config``: the path of a file of the exporter toolkit.

    ``receivers``: of the findings, by name or as KIND:WHERE.
    """

    backend: BackendRequest
    shape: Shape = Shape()
    listen: str = USUAL
    web_config: str | None = None
    receivers: tuple[str, ...] = ()


def export(request: ExportRequest) -> None:
    """Serve the series until a signal ends it. Raises UseCaseError."""
    access = access_of(request.web_config)
    take, end_taking = takers_of(request.receivers)
    listener = opened(request.listen)
    source = open_source(request.backend, is_once=False)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    step = frames(source, request.backend, notify=warn)
    publication = Publication(request.shape)
    server = HttpServer(listener, _answering(publication, access), access.tls)
    collect_seldom()
    server.start()
    warn(_greeting(url(listener, "https" if access.tls else "http"), is_open=not is_local(listener) and access.is_open))
    while not stop.is_wanted:
        began = time.monotonic()
        frame = step()
        publication.publish(frame, time.monotonic() - began)
        take(frame)
        if not stop.is_wanted:
            rhythm.wait()
    server.close()
    end_taking()


def _answering(publication: Publication, access: Access) -> Answer:
    async def respond(request: Request) -> Response:
        return await access.refusal(request) or access.with_headers(answer(request, publication))

    return respond


def _greeting(where: str, *, is_open: bool) -> str:
    warning = ". Anyone on the network can read the names of users and jobs there: see --web-config" if is_open else ""
    return f"exporting to {where}; press Ctrl-C to stop{warning}"
