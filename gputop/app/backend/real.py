"""Backend of this host."""

import os
from typing import Protocol

from gputop.app.backend.backend import Backend, BackendRequest, OpenSource, Viewer, own_user
from gputop.app.errors import BadRequestError


class RealBackend(Backend):
    """This host: its driver, /proc and kernel."""

    def __init__(self, request: BackendRequest) -> None:
        self._request = request

    def source(self, *, is_once: bool) -> OpenSource:
        """Return the source of samples."""
        from gputop.machine.build import build

        return opened(
            build(self._request.selection, self._request.every_s, is_once=is_once, reveal=self._request.reveal)
        )

    def viewer(self) -> Viewer:
        """Return the user who runs gputop, and its pid."""
        return Viewer(own_user(), os.getpid())


class _Closed(OpenSource, Protocol):
    """A source before it has found its GPUs."""

    def open(self) -> None: ...


def opened(source: _Closed) -> OpenSource:
    """Return the source after it has found its GPUs. Raises NoDriverError."""
    try:
        source.open()
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    return source
