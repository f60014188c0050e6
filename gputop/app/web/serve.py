"""Serve the screen or the wall to browsers until a signal ends it."""

from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import BadRequestError
from gputop.app.listening.access import CurrentAccess
from gputop.app.listening.address import is_local, opened
from gputop.app.web.gate import gate
from gputop.app.web.site import Site

USUAL: Final = "127.0.0.1:8010"  # for this host alone
_SCREENS: Final = 8
_WALLS: Final = 64


class ServeRequest(Struct, frozen=True, kw_only=True):
    """Pages for browsers. ``listen``: ADDRESS:PORT. ``web_config``: the path of a file of the exporter toolkit.

    ``visitors``: how many at once; None: the usual. ``commands``: the wall shows command lines.
    ``allow_changes``: visitors of the screen may do what the user of this command may.
    """

    backend: BackendRequest
    wall: bool = False
    listen: str = USUAL
    web_config: str | None = None
    visitors: int | None = None
    host_names: tuple[str, ...] = ()
    secret_file: str | None = None
    allow_changes: bool = False
    commands: bool = False


def serve(request: ServeRequest) -> None:
    """Serve until a signal ends it. Raises UseCaseError."""
    _check(request)
    if request.wall:
        from gputop.app.web.wall import show_wall

        show_wall(_site(request, _WALLS), request.backend, has_commands=request.commands)
    else:
        from gputop.app.web.screens import show_screens

        show_screens(_site(request, _SCREENS), request.backend, may_change=request.allow_changes)


def _check(request: ServeRequest) -> None:
    if request.wall and request.allow_changes:
        raise BadRequestError("the wall only shows. Leave out --allow-changes, or leave out --wall for the screen")
    if request.commands and not request.wall:
        raise BadRequestError("--commands belongs to --wall: the screen always shows command lines")


def _site(request: ServeRequest, most: int) -> Site:
    access = CurrentAccess(request.web_config)
    listener = opened(request.listen)
    if access.latest().tls is None and not request.wall and not is_local(listener):
        raise BadRequestError(
            "without TLS anyone on the network could read along. Name a certificate with --web-config, or serve on"
            f" {USUAL} and forward the port: ssh -L 8010:localhost:8010 HOST"
        )
    entry = gate(listener, request.host_names, request.secret_file)
    return Site(listener, access, entry, request.visitors or most)
