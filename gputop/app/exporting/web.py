"""The web server of the exporter."""

from gputop.app.exporting.publication import Publication
from gputop.app.exporting.site import answer
from gputop.app.listening.access import CurrentAccess
from gputop.app.listening.address import is_local, opened, url
from gputop.wire.http_server import HttpServer, Request, Response


class Web:
    """The pages on an address. ``config``: the path of a web configuration. Raises BadRequestError."""

    def __init__(self, address: str, config: str | None) -> None:
        self._access = CurrentAccess(config)
        self._listener = opened(address)
        self._server: HttpServer | None = None

    def follow(self, publication: Publication, _: float) -> None:
        """Serve the publication."""
        if self._server is None:
            self._server = self._started(publication)
        publication.note_unread("web_config", "malformed" if self._access.problem else "")

    def close(self) -> None:
        """End."""
        if self._server:
            self._server.close()

    @property
    def greeting(self) -> str:
        """Return where the series are."""
        access = self._access.latest()
        where = url(self._listener, "https" if access.tls else "http")
        is_open = access.is_open and not is_local(self._listener)
        warning = ". Anyone on the network can read names of users and jobs there: see --web-config" if is_open else ""
        return f"exporting to {where}/metrics; press Ctrl-C to stop{warning}"

    def _started(self, publication: Publication) -> HttpServer:
        async def respond(request: Request) -> Response:
            access = self._access.latest()
            return await access.refusal(request) or access.with_headers(answer(request, publication))

        server = HttpServer(self._listener, respond, lambda: self._access.latest().tls)
        server.start()
        return server
