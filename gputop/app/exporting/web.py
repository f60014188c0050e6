"""The web server of the exporter."""

from gputop.app.exporting.listening import is_local, opened, url
from gputop.app.exporting.publication import Publication
from gputop.app.exporting.site import answer
from gputop.app.exporting.web_config import access_of
from gputop.wire.http_server import HttpServer, Request, Response


class Web:
    """The pages on an address. ``config``: the path of a web configuration. Raises BadRequestError."""

    def __init__(self, address: str, config: str | None) -> None:
        self._access = access_of(config)
        self._listener = opened(address)
        self._server: HttpServer | None = None

    def follow(self, publication: Publication, _: float) -> None:
        """Serve the publication."""
        if self._server is None:
            self._server = self._started(publication)

    def close(self) -> None:
        """End."""
        if self._server:
            self._server.close()

    @property
    def greeting(self) -> str:
        """Return where the series are."""
        where = url(self._listener, "https" if self._access.tls else "http")
        is_open = self._access.is_open and not is_local(self._listener)
        warning = ". Anyone on the network can read names of users and jobs there: see --web-config" if is_open else ""
        return f"exporting to {where}; press Ctrl-C to stop{warning}"

    def _started(self, publication: Publication) -> HttpServer:
        access = self._access

        async def respond(request: Request) -> Response:
            return await access.refusal(request) or access.with_headers(answer(request, publication))

        server = HttpServer(self._listener, respond, access.tls)
        server.start()
        return server
